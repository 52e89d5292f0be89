"""The papers' tables and figures, each a command: what was published, the papers' methods as we do them, and `mosaic`."""
