"""Runs the points of scenarios on threads, and keeps each that is finished."""
