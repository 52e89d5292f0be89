"""Adapters: Pointillist behind the verbs of other libraries, so that what is built on those runs on us.

What other libraries call metadata names columns and their kinds; bounds and categories they read from the rows. Here
nothing is: an adapter asks for a schema, or for a budget to buy one with.
"""
