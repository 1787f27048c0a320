"""Makes every file of the repository that is made from code, or checks that each is what would be made.

    python docs/generated.py            make them: `make generated`
    python docs/generated.py --check    write nothing; fail if one is out of date: `make check-generated`

The tests check each by itself (`tests/test_docs.py`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

GENERATORS = {
    "model": ["-m", "twinplane.model.generate"],
    "tables": ["docs/reference/tables.py"],
    "states": ["docs/reference/states.py"],
    "api": ["docs/reference/api.py"],
    "house": ["docs/images/house.py"],
    "flap": ["docs/images/flap.py"],
    "diffserv": ["docs/images/diffserv.py"],
    "sessions": ["docs/images/sessions.py"],
}
"""Arguments of Python at the top of the repository. Each writes files, or with `--check` compares them."""


def run(name: str, *arguments: str) -> int:
    """Its exit code."""
    return subprocess.run([sys.executable, *GENERATORS[name], *arguments], cwd=ROOT, check=False).returncode


def main(arguments: list[str]) -> int:
    """See the module."""
    failed = [name for name in GENERATORS if run(name, *arguments)]
    if failed and "--check" in arguments:
        print(f"out of date: {', '.join(failed)}; `make generated` makes them again", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
