"""What researchers measure: the papers' protocol beside an honest one, known mixtures, learning curves."""
