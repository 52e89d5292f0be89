"""Histories: persons with many rows, by our methods and by rows that know of no persons."""
