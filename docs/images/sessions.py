"""Makes `sessions.svg`: sessions of routing protocols over time, as the report draws them.

The network is that of the tutorial `protocols-over-time.md`.

python docs/images/sessions.py            run the network and write the picture
python docs/images/sessions.py --check    write nothing; fail if the picture would change
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from twinplane.charts import DARK, SHADES
from twinplane.charts.plain import drawing
from twinplane.reports import sessions
from twinplane.reports.story import of_network

TARGET = Path(__file__).with_name("sessions.svg")
PAGE = Path(__file__).parents[1] / "tutorials" / "protocols-over-time.md"


def network() -> Any:
    """The network of the tutorial, after its run."""
    found = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    names: dict[str, Any] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        try:
            exec(found[1], names)
        finally:
            os.chdir(here)
    return names["net"]


def picture() -> str:
    """The figure, with the colours that it has on a page."""
    (section,) = sessions.section(of_network(network()))
    shades = [";".join(f"--shade-{place}:{shade}" for place, shade in enumerate(of)) for of in (SHADES, DARK)]
    style = (
        f"<style>svg{{color:#24292f;{shades[0]}}}"
        f"@media (prefers-color-scheme:dark){{svg{{color:#d0d7de;{shades[1]}}}}}</style>"
    )
    head, body = drawing(section.charts[0]).split(">", 1)
    return f"{head}>{style}{body}\n"


def main() -> int:
    """See the module."""
    made = picture()
    if "--check" in sys.argv:
        same = TARGET.exists() and TARGET.read_text() == made
        print(f"{TARGET.name}: {'up to date' if same else 'would change'}")
        return 0 if same else 1
    TARGET.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
