"""Judging synthetic tables beside real ones."""
