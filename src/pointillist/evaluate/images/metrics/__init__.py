"""Metrics of images, a file each: what it computes, how it is graded, how it is drawn. A new one is a new file."""
