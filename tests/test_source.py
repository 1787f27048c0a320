"""YAML with places: what libyaml reads, and what PyYAML reads alone, is the same to a user."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from twinplane.model import source

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(
    path for folder in ("examples", "tests", "docs", "python") for path in (ROOT / folder).rglob("*.yaml")
)
ODD = [
    "a:\nb: 1\n",
    "a:\n  -\n  - x\n",
    "a: &x {b: 1}\nc: *x\nd: {<<: *x, e: 2}\n",
    "- |\n  x\n- >\n y\n",
    "a: 'x\n  y'\n",
    "? a\n: b\n",
    "---\na: 1\n...\n",
    "é: ü\nx: 1\n",
    "a: 1\r\nb: no\r\n",
    'a: "\\u00e9"\n',
    "a: 12:30\nb: 0x1f\nc: 1e3\nd: ~\n",
]


def read(text: str, monkeypatch: pytest.MonkeyPatch, slowly: bool) -> source.Source:
    with monkeypatch.context() as patch:
        if slowly:
            patch.setattr(source, "_FastLoader", source._Loader)
        return source.parse(text, Path("x.yaml"))


@pytest.mark.parametrize(
    "text",
    [*(path.read_text() for path in FILES), *ODD],
    ids=[*(path.name for path in FILES), *map(repr, ODD)],
)
def test_both_readers_find_the_same_values_at_the_same_places(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast, slow = read(text, monkeypatch, False), read(text, monkeypatch, True)
    assert (fast.data, fast.marks, fast.keys) == (slow.data, slow.marks, slow.keys)


@pytest.mark.parametrize("text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000])
def test_depth_ends_in_a_sentence(text: str) -> None:
    with pytest.raises(source.NetworkFileError, match=r"x\.yaml: it is nested too deeply"):
        source.parse(text, Path("x.yaml"))


def test_libyaml_is_there() -> None:
    assert yaml.__with_libyaml__ and source._FastLoader is not source._Loader


def test_a_tab_between_key_and_value_separates_them() -> None:
    """YAML 1.2.2, 6.2: tabs separate tokens within a line; they may not indent."""
    assert source.parse("a:\t1\n", Path("x.yaml")).data == {"a": 1}
    with pytest.raises(source.NetworkFileError, match=r"indent with spaces, not with tabs"):
        source.parse("a:\n\tb: 1\n", Path("x.yaml"))
