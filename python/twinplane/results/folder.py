"""Results folders: where they are, what is in them, and reading them back.

```text
manifest.json   summary.json   report.html   tables/*.parquet   figures/*.png, *.svg
points/*.json   (finished points, for a run that is taken up again)   captures/*.pcapng
```
"""

from __future__ import annotations

import errno
import io
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TwinplaneError
from ..files import read_json, refused, write_bytes, write_json
from ..frames import Columns
from ..results.points import Point
from .manifest import FORMAT

if TYPE_CHECKING:
    import polars as pl

NEEDED = (
    *("experiment", "seed", "repeat", "campaign", "clock", "settings", "parameters", "points"),
    *("versions", "revision", "machine", "command", "wall_s"),
)
"""What a manifest has for certain."""


@dataclass
class Results:
    """A finished run, read from its folder."""

    folder: Path
    manifest: dict[str, Any]
    summary: dict[str, Any]
    points: list[Point] = field(default_factory=list)

    @property
    def experiment(self) -> str:
        """The experiment's name."""
        return str(self.manifest["experiment"])

    @property
    def warnings(self) -> list[str]:
        """What was surprising about the networks that ran: a sentence each."""
        return [str(text) for text in self.summary.get("warnings") or ()]

    def tables(self) -> list[str]:
        """Names of the tables."""
        return sorted(path.stem for path in (self.folder / "tables").glob("*.parquet"))

    def table(self, name: str) -> pl.DataFrame:
        """A table; its column `point` says which point a row belongs to."""
        import polars as pl

        path = self.folder / "tables" / f"{name}.parquet"
        try:
            return pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise TwinplaneError(f"{path}: table cannot be read: {error}".splitlines()[0]) from None


def new_folder(experiment: str, root: Path = Path("runs")) -> Path:
    """Make the next free ``runs/NAME-NNNN``."""
    pattern = re.compile(re.escape(experiment) + r"-(\d+)")
    try:
        root.mkdir(parents=True, exist_ok=True)
        taken = [int(found[1]) for path in root.iterdir() if (found := pattern.fullmatch(path.name))]
        number = max(taken, default=0) + 1
        while True:
            folder = root / f"{experiment}-{number:04d}"
            try:
                folder.mkdir()
                return folder
            except FileExistsError:
                number += 1
    except OSError as error:
        raise refused(root, error) from None


def open_folder(folder: Path) -> Path:
    """Make a folder if need be, and see that it can be written to and is not something else's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise refused(folder, error) from None
    return folder


def check_taken(
    folder: Path,
    experiment: str,
    seed: int,
    repeat: int,
    parameters: Sequence[Mapping[str, Any]],
    real: Mapping[str, Any] | None = None,
) -> None:
    """Refuse to write over results of another experiment, format or seed, or of points that would be lost."""
    path = folder / "manifest.json"
    if not path.exists():
        _check_foreign(folder)
        return
    found = load(folder)
    if found.experiment != experiment:
        raise TwinplaneError(
            f"{folder}: it holds results of '{found.experiment}': choose another folder for '{experiment}'"
        )
    kept = found.manifest["seed"] == seed and found.manifest["repeat"] <= repeat
    kept = kept and found.manifest.get("real") == real
    if not kept or not all(point.parameters in parameters for point in found.points):
        raise TwinplaneError(
            f"{folder}: it holds results of another run, which would be lost: choose another folder"
            f" ({found.manifest['command']})"
        )


OWN = {"points", "captures", "tables", "figures", "summary.json", "report.html"}
"""What stands in a results folder that is not finished yet, or whose manifest was not written."""


def _check_foreign(folder: Path) -> None:
    """Refuse a folder that holds anything else than results: reports and tables would lie among it."""
    try:
        foreign = sorted(path.name for path in folder.iterdir() if path.name not in OWN)
    except OSError:
        return  # it is not there, or cannot be read: whoever makes or opens it says so
    if foreign:
        others = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
        raise TwinplaneError(
            f"{folder}: it holds other files than results ({foreign[0]}{others}): choose another folder"
        )


def save_tables(
    folder: Path, outcomes: Sequence[Mapping[str, Columns]], names: Sequence[Mapping[str, Any]]
) -> None:
    """Write one Parquet file for each table, the rows of all points in it."""
    import polars as pl

    from ..declared import find, metadata
    from ..frames import frame

    kinds = list(dict.fromkeys(kind for tables in outcomes for kind in tables))
    for kind in kinds:
        parts = []
        for tables, name in zip(outcomes, names, strict=True):
            if kind not in tables:
                continue
            made = frame(tables[kind], find(kind))
            labels = [pl.lit(value).alias(key) for key, value in name.items()]
            parts.append(made.with_columns(labels).select([*name, *made.columns]))
        whole = pl.concat(parts, how="diagonal_relaxed")

        # Through memory: what goes wrong with the disk is then the system's error, not the library's.
        buffer = io.BytesIO()
        whole.write_parquet(buffer, metadata=metadata(kind, whole.schema))
        write_bytes(folder / "tables" / f"{kind}.parquet", buffer.getvalue())


def save(folder: Path, manifest: Mapping[str, Any], summary: Mapping[str, Any]) -> None:
    """Write the summary, then the manifest: a folder with a manifest is complete."""
    write_json(folder / "summary.json", summary)
    write_json(folder / "manifest.json", manifest)


def point_of(entry: Mapping[str, Any]) -> Point:
    """A point from its entry in the summary."""
    return Point(
        entry["parameters"],
        entry["metrics"],
        entry.get("bounds") or {},
        entry.get("refused") or {},
        (entry.get("twin") or {}).get("metrics") or {},
        entry.get("intervals") or {},
    )


def load(folder: str | Path) -> Results:
    """Read a results folder of this version."""
    folder = Path(folder)
    path = folder / "manifest.json"
    if not folder.is_dir():
        raise TwinplaneError(f"{folder}: no such results folder")
    if not path.exists():
        more = (
            ": the run was not finished (run it again with --out to go on)"
            if (folder / "points").exists()
            else ""
        )
        raise TwinplaneError(f"{folder}: it has no manifest.json{more}")
    manifest = read_json(path, "manifest")
    found = manifest.get("format") if isinstance(manifest, dict) else None
    if found != FORMAT:
        said = manifest.get("versions", {}).get("twinplane") if isinstance(manifest, dict) else None
        by = f", written by twinplane {said}" if said else ""
        raise TwinplaneError(
            f"{folder}: results of another version (format {found}{by}); this one reads format {FORMAT}"
        )
    missing = [key for key in NEEDED if key not in manifest]
    if missing:
        raise TwinplaneError(f"{path}: manifest is damaged: {missing[0]} is missing")
    summary = read_json(folder / "summary.json", "summary")
    try:
        if "points" in summary:
            points = [point_of(item) for item in summary["points"]]
        else:
            points = [point_of(summary)]
    except (KeyError, TypeError):
        raise TwinplaneError(
            f"{folder}: summary.json is damaged: parameters or metrics are missing"
        ) from None
    return Results(folder, manifest, summary, points)
