"""The pages of the Python API lack no public name."""

from pathlib import Path

import twinplane as tp

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/reference/api"


def test_every_public_name_is_on_a_page() -> None:
    pages = "".join(path.read_text() for path in sorted(FOLDER.glob("*.md")))
    packages = {"queues", "wire"}
    missing = [name for name in tp.__all__ if name not in packages and f"## {name}\n" not in pages]
    assert not missing
    assert "`twinplane.queues`" in pages and "## decode" in pages
