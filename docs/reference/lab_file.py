"""The tables of fields on the page of lab files, from the models that read them.

python docs/reference/lab_file.py           write them into the page
python docs/reference/lab_file.py --check   fail if the page has others
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic_core import PydanticUndefined
from twinplane import diffserv, queues
from twinplane.model import flows
from twinplane.model import lab_file as model

PAGE = Path(__file__).with_name("lab-file.md")
HEADING = "## Every field"
DISCIPLINES: dict[str, type[BaseModel]] = {
    "pfifo": queues.Pfifo,
    "bfifo": queues.Bfifo,
    "tbf": queues.Tbf,
    "prio": queues.Prio,
    "prio`, classes": queues.PrioClass,
    "red": queues.Red,
    "gred": queues.Gred,
    "gred`, virtual queues": queues.GredQueue,
    "cbq": queues.Cbq,
    "cbq`, classes": queues.CbqClass,
    "htb": queues.Htb,
    "htb`, classes": queues.HtbClass,
    "drr": queues.Drr,
    "drr`, classes": queues.DrrClass,
    "fq_codel": queues.FqCodel,
}
MODELS: dict[str, type[BaseModel]] = {
    "The lab": model.LabFile,
    "Nodes of kind router": model.RouterNode,
    "Signalling (`rsvp`)": model.Rsvp,
    "Nodes of kind host": model.HostNode,
    "Nodes of kind external": model.ExternalNode,
    "Nodes of kind tester": model.TesterNode,
    "Nodes of kind station": model.StationNode,
    "Links": model.Link,
    "LSPs": model.LspSpec,
    "Filters of LSPs": model.Filter,
    "Flows": flows.FlowSpec,
    "Arrivals of kind `on-off`": flows.OnOffSpec,
    "Periods (`on`, `off`)": flows.PeriodSpec,
    "Arrivals of kind `trace`": flows.TraceSpec,
    "Sizes of kind `uniform`": flows.UniformSpec,
    "Sizes of kind `empirical`": flows.EmpiricalSpec,
    "Sizes of kind `exponential`": flows.ExponentialSpec,
    "DiffServ of routers (`diffserv`)": diffserv.DiffServ,
    "DiffServ of LSPs (`diffserv`), E-LSPs": diffserv.ELsp,
    "DiffServ of LSPs (`diffserv`), L-LSPs": diffserv.LLsp,
    "Trees under `queues`": queues.Tree,
    "What packets count for (`accounting`)": queues.Accounting,
    "Filters of a discipline": queues.Filter,
    **{f"Discipline `{name}" + ("" if "`" in name else "`"): one for name, one in DISCIPLINES.items()},
    "Conditioners": queues.Conditioner,
    "Rules of a conditioner": queues.Rule,
    "Meter `token-bucket`": queues.TokenBucket,
    "Meter `single-rate`": queues.SingleRate,
    "Meter `two-rate`": queues.TwoRate,
}


def default(value: Any) -> str:
    """A default as a file would have it."""
    if value is PydanticUndefined or value is None:
        return ""
    if isinstance(value, tuple):
        return ""
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def tables() -> str:
    """All of them."""
    parts = []
    for title, one in MODELS.items():
        lines = [f"### {title}", "", "| field | default | meaning |", "| --- | --- | --- |"]
        for name, info in one.model_fields.items():
            shown = "needed" if info.is_required() else default(info.default)
            lines.append(f"| `{info.alias or name}` | {shown} | {info.description} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def main() -> int:
    """See the module."""
    head, heading, rest = PAGE.read_text().partition(HEADING)
    lead = rest.partition("### ")[0]
    text = f"{head}{heading}{lead.rstrip()}\n\n{tables()}"
    if "--check" in sys.argv:
        if text != PAGE.read_text():
            print(f"{PAGE.name}: out of date: python docs/reference/lab_file.py", file=sys.stderr)
            return 1
        return 0
    PAGE.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
