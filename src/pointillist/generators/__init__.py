"""Generators: one folder each, with its fit."""
