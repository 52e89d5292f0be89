"""Feature maps of images: what is truly about pixels."""
