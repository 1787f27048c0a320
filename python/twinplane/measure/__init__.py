"""Figures of measurements: statistics, calibration, error bounds, and runs laid side by side."""
