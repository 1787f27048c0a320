"""TCP in virtual time beside the kernel's in a lab over the same links."""

from .beside import Course, Pair, compare
from .settings import SETTINGS, Setting

__all__ = ["SETTINGS", "Course", "Pair", "Setting", "compare"]
