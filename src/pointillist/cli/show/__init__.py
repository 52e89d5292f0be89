"""Show: what commands have to tell, as tables a person can read; one file a thing that is shown."""
