"""Settings of all tests: property tests draw the same examples every time, and never judge by time."""

from hypothesis import settings

settings.register_profile("twinplane", deadline=None, derandomize=True)
settings.load_profile("twinplane")
