"""Compares two results of one scenario: simulated and live, or two simulations with different settings.

`gaps.compare` compares two results; `sources` loads or runs them. This module imports none that starts threads, because
live runs need a process without threads.
"""
