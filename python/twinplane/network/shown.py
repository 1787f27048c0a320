"""What tab completion shows of objects: what is documented for users."""

from __future__ import annotations

from typing import ClassVar


class Shown:
    """Keeps internals out of ``dir()``: names with an underscore, and those that a class calls internal."""

    _internal: ClassVar[frozenset[str]] = frozenset()

    def __dir__(self) -> list[str]:
        """Public names."""
        hidden = {name for kind in type(self).__mro__ for name in getattr(kind, "_internal", ())}
        return sorted(name for name in super().__dir__() if not name.startswith("_") and name not in hidden)
