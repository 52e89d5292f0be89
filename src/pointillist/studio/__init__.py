"""Studio: the whole way on a page of this machine. It does what the commands do, with the same code beneath."""
