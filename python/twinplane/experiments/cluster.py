"""Campaigns on a Dask cluster (Slurm and Kubernetes through dask-jobqueue and dask-kubernetes)."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from ..errors import TwinplaneError, one_line


def dask() -> Any:
    """Dask's package, which only clusters need."""
    try:
        return importlib.import_module("distributed")
    except ImportError:
        raise TwinplaneError(
            "--scheduler needs Dask, which is not installed (pip install 'dask[distributed]')"
        ) from None


@contextmanager
def executor(address: str) -> Iterator[Executor]:
    """An executor on the cluster whose scheduler is at an address such as ``tcp://host:8786``."""
    distributed = dask()
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError, TimeoutError) as error:
        raise TwinplaneError(
            f"--scheduler {address}: no Dask scheduler answers there: {one_line(error)}"
        ) from None
    try:
        yield client.get_executor()
    finally:
        client.close()
