"""Coverage: how often error bars hold the private figure, on simulated tables where it is known."""
