"""Executes the runs of scenarios on threads and stores each finished run."""
