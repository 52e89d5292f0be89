"""Demo: the whole way on simulated people."""
