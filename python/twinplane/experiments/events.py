"""Events of a run: those of a file beside a network or an experiment, and what became of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import core
from ..errors import TwinplaneError
from ..frames import readable, rows
from ..model import source
from ..model.places import in_file

if TYPE_CHECKING:
    from ..network import Network
    from .base import Experiment, Outcome
    from .parameters import Parameters


def read(path: str | Path) -> source.Source:
    """A file with a list of events, as a network file has them: ``events: [...]``."""
    found = source.read(Path(path))
    data = found.data
    if not isinstance(data, dict) or set(data) != {"events"} or not isinstance(data["events"], list):
        raise found.error((), "events are a list: 'events: [{at: 5 s, fail: [a, b]}]', and nothing beside it")
    return found


def add(network: Network, path: str | Path | None, end_s: float | None = None) -> None:
    """Add the events of a file to a network that has not run; none may be after the end of the run."""
    if path is None:
        return
    found = read(path)
    own = network.draft.core.event_count
    try:
        for event in found.data["events"]:
            network.schedule.add(event if isinstance(event, dict) else {"event": event})
        with core.translated():
            network.draft.core.check_events(round((end_s or 1e6) * 1e12))
    except TwinplaneError as error:
        if error.path[:1] != ("events",) or int(error.path[1]) < own:
            raise network.explain(error) from None
        error.path = ("events", int(error.path[1]) - own, *error.path[2:])
        raise in_file(error, found) from None


def check(experiment: Experiment[Any], parameters: Parameters, path: str | Path) -> None:
    """See, before anything runs, that the events fit every network of a point."""
    for part in experiment.parts(parameters).values():
        network = experiment.build(part, 1)
        add(network, path, end_of(part))
        network.running()


def end_of(parameters: Any) -> float | None:
    """When a run of a point is over, in seconds, if its parameters say it."""
    found = getattr(parameters, "duration_s", None) if hasattr(parameters, "file") else None
    found = getattr(parameters, "end_s", None) if found is None else found
    return None if found is None else float(found)


def with_actions(outcome: Outcome, network: Network) -> Outcome:
    """The outcome of a run with table ``actions``, if anything was done to the network while it ran."""
    done = network.columns("actions")
    if rows(done):
        outcome.tables["actions"] = readable(done)
    return outcome
