"""Writes what is made from the description as the core declares it.

python -m twinplane.model.generate            write the files
python -m twinplane.model.generate --check    write nothing; fail if a file is not what would be written

- `python/twinplane/model/generated.py`: the description as typed Python
- `schemas/network.schema.json`: the schema of network files for editors (JSON schema, draft 7)
- `docs/reference/network-file.md`: the tables of fields under the heading "Every field"
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .. import core
from . import generate_docs, generate_python, generate_schema

ROOT = Path(__file__).resolve().parents[3]
PYTHON = ROOT / "python/twinplane/model/generated.py"
SCHEMA = ROOT / "schemas/network.schema.json"
PAGE = ROOT / "docs/reference/network-file.md"


def files() -> dict[Path, str]:
    """What each file should hold."""
    types = core.schema()
    return {
        PYTHON: _formatted(generate_python.text(types)),
        SCHEMA: generate_schema.text(types),
        PAGE: generate_docs.page(PAGE.read_text(encoding="utf-8"), types),
    }


def _formatted(text: str) -> str:
    """As `ruff format` lays it out."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(PYTHON), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def main(arguments: list[str]) -> int:
    """See the module."""
    stale = [path for path, text in files().items() if not path.exists() or path.read_text("utf-8") != text]
    if "--check" in arguments:
        for path in stale:
            print(f"{path.relative_to(ROOT)}: out of date: make generated", file=sys.stderr)
        return 1 if stale else 0
    made = files()
    for path in stale:
        path.write_text(made[path], encoding="utf-8")
        print(path.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
