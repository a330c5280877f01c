"""Tuning: a search over a discipline's parameters for given objectives, checked on held-out seeds.

The search is Optuna's (the extra `tune`), which is imported only when needed.
"""
