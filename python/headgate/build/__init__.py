"""Scenarios in code: the keys of a scenario file as keywords (docs/guide/python.md)."""
