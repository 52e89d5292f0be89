"""Curator: the only room that publishes. Cap, clip, embed, noise, release; drafting and choosing."""
