"""Images: our methods beside what the papers published, scored by classifiers on real test images."""
