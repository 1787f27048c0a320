"""What flows send: when packets are due (`OnOff`, `Trace`), how long they are (`Uniform`, `Imix` ...)."""

from .model.arrivals import Empirical, Exponential, Imix, OnOff, Period, Trace, Uniform

__all__ = ["Empirical", "Exponential", "Imix", "OnOff", "Period", "Trace", "Uniform"]
