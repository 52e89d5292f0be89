"""First contact: real tables that nobody prepared, a draft that nobody touched, and what comes out of it."""
