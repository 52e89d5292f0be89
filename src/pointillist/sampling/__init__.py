"""Sampling: rows from a generator. Conditions, constraints, quotas, exchanges, decoding."""
