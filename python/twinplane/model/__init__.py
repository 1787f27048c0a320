"""The description of a network: its parts as values, and the files that it is read from."""
