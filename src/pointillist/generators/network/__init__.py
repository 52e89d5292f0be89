"""Network: noise and a label in, a row or an image out, and how it is fitted."""
