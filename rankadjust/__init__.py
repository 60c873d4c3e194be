"""Chance-adjusted link-prediction metrics."""
