"""Rules: what holds in every real row, found without being told. A kind of rule is a file; a new one is a new file."""
