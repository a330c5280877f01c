"""Disciplines on real packets: `headgate link` (Linux)."""
