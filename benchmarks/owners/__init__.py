"""Owners: what it costs to make a release together instead of pooling rows."""
