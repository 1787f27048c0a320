"""Which model stands where in a description, so that an error can say what would have been known there."""

from __future__ import annotations

from pydantic import BaseModel

from . import conditioners, disciplines, early, matching, waiting

TAGGED: dict[str, type[BaseModel]] = {
    tag: model
    for model, tags in (
        *((one, (str(one.model_fields["discipline"].default),)) for one in disciplines.DISCIPLINES),
        (waiting.FqCodel, ("fq_codel",)),
        (conditioners.TokenBucket, ("token-bucket",)),
        (conditioners.SingleRate, ("single-rate",)),
        (conditioners.TwoRate, ("two-rate",)),
    )
    for tag in tags
}
"""Models by what the models put into places for them."""

INNER: dict[tuple[type[BaseModel] | None, str], type[BaseModel]] = {
    (disciplines.Prio, "classes"): disciplines.PrioClass,
    (disciplines.Drr, "classes"): disciplines.DrrClass,
    (disciplines.Htb, "classes"): disciplines.HtbClass,
    (disciplines.Cbq, "classes"): disciplines.CbqClass,
    (early.Gred, "queues"): early.GredQueue,
    (None, "filters"): matching.Filter,
    (None, "accounting"): conditioners.Accounting,
    (None, "conditioner"): conditioners.Conditioner,
    (conditioners.Conditioner, "rules"): conditioners.Rule,
}
"""Models by the field that holds them, in a model or in any."""
