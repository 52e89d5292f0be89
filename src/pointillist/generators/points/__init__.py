"""Points: weighted rows, and how they are fitted."""
