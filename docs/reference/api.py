"""The pages of the Python API, from the docstrings of what `twinplane` makes public.

python docs/reference/api.py           write docs/reference/api/*.md
python docs/reference/api.py --check   write nothing; fail if a page has another text, or one is too many
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import twinplane as tp
from pydantic import BaseModel
from twinplane import core, diffserv, failing
from twinplane.model.generate_docs import value_of
from twinplane.model.generate_python import attribute, meaning_of
from twinplane.model.written import Written

LINK = re.compile(r"\[(\w+)\]\(#\w+\)")
"""To a type, on the page of network files."""

FOLDER = Path(__file__).with_name("api")
PAGES: dict[str, tuple[str, str, list[Any]]] = {
    "network": (
        "Networks",
        "Describe a network, run it, disturb it, and ask what happened.",
        [tp.Network],
    ),
    "failures": (
        "Failures",
        "Let everything fail in turn, and read who loses what.",
        [tp.fail_everything, tp.Failures, failing.Outcome, failing.Hurt, failing.OfClass],
    ),
    "nodes": (
        "Nodes",
        "Make LSPs at routers, ask for their tables, ping and trace routes.",
        [tp.Router, tp.Edge, tp.Host, tp.Bridge, tp.Switch, tp.AtmLsr, tp.AtmSwitch, tp.Peer, tp.External],
    ),
    "protocols": (
        "Protocols",
        "Say what a router speaks beside RSVP-TE.",
        [tp.Ospf, tp.Ldp, tp.Tdp, tp.Bgp, tp.Bfd, tp.LspPing, tp.Igmp, tp.Mld, tp.Cbt, tp.Pim, tp.Probing],
    ),
    "handles": (
        "Links, LSPs, flows, captures, recordings",
        "Command and ask what the methods of a network return.",
        [tp.Link, tp.Lsp, tp.P2mp, tp.Flow, tp.TcpFlow, tp.Capture, tp.Recording],
    ),
    "traffic": (
        "Traffic",
        "Say when the packets of a flow are due and how long they are: `twinplane.traffic`.",
        [getattr(tp.traffic, name) for name in tp.traffic.__all__],
    ),
    "queues": (
        "Queues and conditioners",
        "Put queues, meters and markers at the ends of links: `twinplane.queues`.",
        [getattr(tp.queues, name) for name in tp.queues.__all__ if inspect.isclass(getattr(tp.queues, name))],
    ),
    "diffserv": (
        "DiffServ over MPLS",
        "Give routers and LSPs the classes of RFC 3270: `twinplane.diffserv`.",
        [diffserv.DiffServ, diffserv.ELsp, diffserv.LLsp],
    ),
    "labs": (
        "Labs and interfaces",
        "Bring up a lab from Python, and capture what passes an interface of this machine.",
        [tp.Lab, tp.capture_interface],
    ),
    "results": (
        "Results, reports, frames, errors",
        "Read a finished run, write a page about a network, take a frame apart.",
        [
            *(tp.load_results, tp.report, tp.wire.decode, tp.wire.encode, tp.wire.summary),
            *(tp.TwinplaneError, tp.TwinplaneWarning),
        ],
    ),
}


def plain(thing: Any) -> str:
    """A docstring as Markdown."""
    text = inspect.getdoc(thing) or ""
    text = re.sub(r"``([^`]+)``", r"`\1`", text)
    return re.sub(r"(?m)^    ", "", text) if "::\n" in text else text


def signature(name: str, thing: Any) -> str:
    """How it is called, over several lines if one is too long."""
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return name
    given = [str(one) for one in found.parameters.values() if one.name not in ("self", "cls")]
    kinds = [one.kind for one in found.parameters.values() if one.name not in ("self", "cls")]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        given.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    back = (
        "" if found.return_annotation in (inspect.Signature.empty, None) else f" -> {found.return_annotation}"
    )
    back = "" if inspect.isclass(thing) else back
    text = f"{name}({', '.join(given)}){back}".replace("'", "").replace('"', "'")
    if len(text) <= 110:
        return text
    lines = "".join(f"    {one},\n" for one in given).replace("'", "").replace('"', "'")
    return f"{name}(\n{lines}){back}"


def members(kind: type) -> list[tuple[str, Any]]:
    """Methods and properties that a class, or one that it is made from, makes public."""
    found = []
    for name in sorted({name for one in kind.__mro__ for name in vars(one)}):
        if name.startswith("_") or name in getattr(BaseModel, "__dict__", {}) or hasattr(BaseModel, name):
            continue
        if any(name in getattr(one, "_internal", ()) for one in kind.__mro__):
            continue
        value = inspect.getattr_static(kind, name)
        if isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value):
            home = next(one for one in kind.__mro__ if name in vars(one))
            if home.__module__.startswith("twinplane"):
                found.append((name, value))
    return found


def fields(kind: type) -> str:
    """The fields of a record or a model, with what they mean."""
    rows, head = [], []
    if issubclass(kind, Written):
        for one in core.schema()[kind.__name__]["fields"]:
            default = "needed" if one["required"] else f"`{one.get('default')!r}`"
            value = LINK.sub(r"`\1`", value_of(one["schema"])).replace("|", "\\|")
            rows.append(f"| `{attribute(one['key'])}` | {value} | {default} | {meaning_of(one)} |")
        head = ["| field | value | default | meaning |", "| --- | --- | --- | --- |"]
    elif issubclass(kind, BaseModel):
        rows = of_model(kind)
        head = ["| field | default | meaning |", "| --- | --- | --- |"]
    return "\n".join([*head, *rows]) + "\n\n" if rows else ""


def of_model(kind: type[BaseModel]) -> list[str]:
    """Rows for the fields of a model."""
    rows = []
    for name, info in kind.model_fields.items():
        default = "needed" if info.is_required() else f"`{info.get_default(call_default_factory=True)!r}`"
        rows.append(f"| `{name}` | {default} | {info.description or ''} |")
    return rows


def public_name(thing: Any) -> str:
    """What users call it: at the top of the package it may have another name than where it is made."""
    return next((name for name in tp.__all__ if getattr(tp, name) is thing), thing.__name__)


def of(thing: Any) -> str:
    """A public name with all that belongs to it."""
    name = public_name(thing)
    if not inspect.isclass(thing):
        return f"## {name}\n\n```text\n{signature(name, thing)}\n```\n\n{plain(thing)}\n\n"
    model = issubclass(thing, BaseModel | Written)
    head = f"## {name}\n\n{plain(thing)}\n\n"
    made = thing.__init__
    if not model and inspect.isfunction(made) and issubclass(thing, tp.Network | tp.Lab):
        head += f"```text\n{signature(name, thing)}\n```\n\n" + (f"{plain(made)}\n\n" if made.__doc__ else "")
    parts = [head, fields(thing)]
    if model:
        return "".join(parts)
    for key, value in members(thing):
        if isinstance(value, property):
            back = inspect.signature(value.fget).return_annotation if value.fget else ""
            shown, text = f"{name}.{key}: {back}", plain(value)
        else:
            shown, text = signature(f"{name}.{key}", getattr(thing, key)), plain(getattr(thing, key))
        parts.append(f"### {name}.{key}\n\n```text\n{shown}\n```\n\n{text}\n\n")
    return "".join(parts)


def pages() -> dict[str, str]:
    """Every page by the name of its file."""
    found = {}
    index = [
        "# Python API",
        "",
        "Look up what a public name of `twinplane` does. Quantities are numbers in seconds, bits per second",
        'and bytes, or texts such as `"50 us"`. What cannot be done as asked is a `TwinplaneError`, which',
        "says why in one sentence.",
        "",
    ]
    for key, (title, lead, things) in PAGES.items():
        text = f"# {title}\n\n{lead}\n\n" + "".join(map(of, things))
        found[f"{key}.md"] = text.rstrip() + "\n"
        index.append(f"- [{title}]({key}.md): {', '.join(f'`{public_name(thing)}`' for thing in things)}")
    found["index.md"] = "\n".join(index) + "\n"
    return found


def main() -> int:
    """See the module."""
    made = pages()
    there = {path.name: path.read_text() for path in FOLDER.glob("*.md")} if FOLDER.is_dir() else {}
    if "--check" in sys.argv:
        wrong = sorted(name for name in {*made, *there} if made.get(name) != there.get(name))
        if wrong:
            print(
                f"docs/reference/api: {', '.join(wrong)}: out of date: make generated",
                file=sys.stderr,
            )
        return 1 if wrong else 0
    FOLDER.mkdir(exist_ok=True)
    for name in there.keys() - made.keys():
        (FOLDER / name).unlink()
    for name, text in made.items():
        (FOLDER / name).write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
