"""Fitting: what the fits of several generators share. Evidence, marginals, denoising, likelihood, descent."""
