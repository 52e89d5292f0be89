"""Mixture: K products of per-column distributions, and how it is fitted."""
