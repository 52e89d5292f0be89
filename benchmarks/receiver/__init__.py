"""Receiver: how often the receiver's intervals hold, and how often its tests are wrong, where the truth is known."""
