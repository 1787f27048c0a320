//! Ports, links, faults, timers, capture, record and replay; the virtual clock.
