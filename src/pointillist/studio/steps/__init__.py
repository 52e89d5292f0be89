"""The steps of the way, a file each: what its page shows, what its forms do, and what a worker does for it."""
