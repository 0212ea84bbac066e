"""Inspectors: what is in a result file, and what is wrong with it. One file per kind; `registry.py` is the door."""
