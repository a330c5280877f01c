"""Sweeps: one scenario for many values of its keys, on this machine or a cluster, into a dataset that can be queried.

`spec` reads what is to be swept, `plan` makes points of it, `work` runs one point anywhere, `dataset` keeps them.
"""
