"""The kept set: runs whose results at one revision are written down, and a command that repeats them."""
