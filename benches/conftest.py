"""Lets the tests import the anchors' library, which is found by the scripts beside it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "anchors"))
