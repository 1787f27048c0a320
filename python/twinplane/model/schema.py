"""The JSON schema of lab files.

python -m twinplane.model.schema PATH            write it
python -m twinplane.model.schema --check PATH    write nothing; fail if the file is not what would be written
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def schema() -> dict[str, Any]:
    """Draft 7, which every editor's YAML plug-in knows."""
    from .lab_file import LabFile

    made = LabFile.model_json_schema(by_alias=True)
    made = _draft_7(made)
    return {"$schema": "http://json-schema.org/draft-07/schema#", "$id": "lab.schema.json", **made}


def _draft_7(value: Any) -> Any:
    """Fixed lists and definitions are written another way in that draft; defaults of null say nothing."""
    if isinstance(value, list):
        return [_draft_7(item) for item in value]
    if not isinstance(value, dict):
        return value.replace("#/$defs/", "#/definitions/") if isinstance(value, str) else value
    if "prefixItems" in value:
        value = {**value, "items": value["prefixItems"], "additionalItems": False}
        del value["prefixItems"]
    value = {key: item for key, item in value.items() if not (key == "default" and item is None)}
    value.pop("discriminator", None)
    return {("definitions" if key == "$defs" else key): _draft_7(item) for key, item in value.items()}


def text() -> str:
    """As it is written to the file."""
    return json.dumps(schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """See the module."""
    check = "--check" in arguments
    paths = [Path(word) for word in arguments if not word.startswith("-")]
    if len(paths) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    if not check:
        paths[0].write_text(text())
        return 0
    if not paths[0].exists() or paths[0].read_text() != text():
        print(f"{paths[0]}: out of date: python -m twinplane.model.schema {paths[0]}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
