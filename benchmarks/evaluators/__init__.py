"""What other libraries' own evaluators say of our synthetic tables."""
