//! Instruments: sources, sinks, emulated edge routers, test programmes and metrics.
