"""Networks: described by calls or files, run under either clock, and asked afterwards."""

from .network import Network

__all__ = ["Network"]
