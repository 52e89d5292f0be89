"""Tables: our method and its rivals on the same rows, public facts and privacy budget."""
