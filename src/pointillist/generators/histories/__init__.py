"""Histories: persons with their rows, one row after the other."""
