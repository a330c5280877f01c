"""Disciplines on real packets (Linux): `headgate link`, `gateway` and `top`, and runs with `--live`."""
