"""Computes numbers from the tables of a result: means with intervals, fair shares, verdicts."""
