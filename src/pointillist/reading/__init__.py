"""Reading: files, frames, databases and images as Records. Neutral: it publishes nothing and keeps nothing."""
