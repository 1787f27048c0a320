"""The countries of the study, links between them, and what their nodes are called."""

from __future__ import annotations

from .parameters import CUT, DIVERTED

COUNTRIES = {"france": 1, "germany": 2, "austria": 3, "italy": 4, "switzerland": 5, "spain": 6}
"""The digit of each country in its addresses."""

CORE = (
    ("austria", "italy"),
    ("italy", "switzerland"),
    ("austria", "switzerland"),
    ("germany", "switzerland"),
    ("france", "germany"),
    ("france", "spain"),
)
"""Links between switches: the triangle, those that the study names, and germany - switzerland, which it does
not name: something has to join the triangle to the others."""

PATHS = {"switzerland": ("italy", "switzerland"), "france": ("italy", "switzerland", "germany", "france")}
"""Countries whose switches a path crosses: links of the core lie between them."""

OUTSIDE = ("france", "austria", "italy", "spain")
"""Countries whose networks outside of the core are there."""

LINKS = {DIVERTED: ("italy", "austria"), CUT: ("france", "spain")}


def switch(country: str) -> str:
    """The tag switch of a country: the name of a node."""
    return f"{country}-switch"


def edge(country: str) -> str:
    """Its tag edge router."""
    return f"{country}-edge"


def exterior(country: str) -> str:
    """The router of its network outside."""
    return f"{country}-exterior"


def host(country: str) -> str:
    """A host behind that."""
    return f"{country}-host"
