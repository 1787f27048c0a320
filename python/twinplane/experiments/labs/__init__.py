"""What every experiment needs in real time: a place to run, calibration, probes, bounds, tables of all nodes.

An experiment gives `Ground` its networks, and a `Place` to run them at: `Here` (this process), `InLab` (a
process for each router) or `Outside` (somebody else's system). `point.run_point` does the rest.
"""

from .ground import Ground
from .places import Here, InLab, Outside, Place, require_namespaces

__all__ = ["Ground", "Here", "InLab", "Outside", "Place", "require_namespaces"]
