"""The native program that runs a router of ours."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from ..errors import TwinplaneError


def router_program() -> str:
    """The native program that runs a router.

    A wheel has it in the package, and `make setup` puts it beside the command line.
    """
    own = Path(__file__).parents[1] / "bin" / "twinplane-router"
    for found in (own, Path(sys.executable).parent / "twinplane-router"):
        if found.is_file():
            return str(found)
    elsewhere = shutil.which("twinplane-router")
    if elsewhere is None:
        raise TwinplaneError("the program twinplane-router is not beside this command line: run `make setup`")
    return elsewhere
