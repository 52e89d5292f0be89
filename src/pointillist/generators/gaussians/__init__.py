"""Gaussians: images by class-conditional Gaussians, and how they are fitted."""
