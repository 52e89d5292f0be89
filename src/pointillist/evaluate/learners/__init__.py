"""Learners: classifiers that metrics and researchers train, with the settings that they are trained with."""
