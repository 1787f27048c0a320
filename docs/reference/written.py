"""Writing a page that is made from code, or checking that it says what would be written."""

from __future__ import annotations

import sys
from pathlib import Path


def write_or_check(page: Path, text: str) -> int:
    """The exit code: with `--check` among the arguments nothing is written; 1 says that the page differs."""
    if "--check" in sys.argv:
        if not page.exists() or text != page.read_text():
            print(f"{page.name}: out of date: make generated", file=sys.stderr)
            return 1
        return 0
    page.write_text(text)
    return 0
