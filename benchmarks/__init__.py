"""Measurements of cost and quality, run by hand and not by the tests."""
