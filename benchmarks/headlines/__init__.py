"""Headlines: every headline figure of README and docs as a claim with a band, measured at a small size."""
