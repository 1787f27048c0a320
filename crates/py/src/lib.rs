//! The door to Python: a thin extension module.
