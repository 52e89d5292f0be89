"""Owners: what those who make a release together exchange, and how it is merged. Public, but for an owner's own key.

Rows are seen by `curator.contributing` alone. Here are the plan that all follow, keys and masks, parts, and the merge,
which a collector runs who need not be trusted.
"""
