"""Image network: images by a neural network, and how it is fitted."""
