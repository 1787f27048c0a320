"""Which version of the package this is."""

from __future__ import annotations


def version() -> str:
    """The installed version, or that of the compiled part when run from a source folder."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("twinplane")
    except PackageNotFoundError:
        from .core import version as compiled

        return compiled()
