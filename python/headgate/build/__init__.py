"""Scenarios in code: the keys of a scenario file as keywords, checked where files are (docs/guide/python.md)."""
