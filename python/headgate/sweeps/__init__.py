"""Sweeps: one scenario for many values of its keys, on this machine or a cluster, into a dataset for queries.

`spec` reads the swept values, `plan` makes runs of them, `work` executes one run, `dataset` stores results.
"""
