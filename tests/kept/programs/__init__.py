"""The programs, by what they are about; importing this enters all of them."""

from . import diffserv, edges, experiments, faults, labs, outside, queues, signalling, wall

__all__ = ["diffserv", "edges", "experiments", "faults", "labs", "outside", "queues", "signalling", "wall"]
