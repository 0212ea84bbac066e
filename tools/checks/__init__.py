"""Deterministic checks of results against the request. One file per check; `registry.py` is the door."""
