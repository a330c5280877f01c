"""Compares two results of one scenario: simulated and live, or two simulations with different settings.

`gaps.compare` compares two results; `sources` loads or runs them. Imports no module that starts threads: a process with
threads cannot be prepared for real packets.
"""
