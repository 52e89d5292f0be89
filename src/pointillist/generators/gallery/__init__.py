"""Gallery: public images, chosen by a private embedding."""
