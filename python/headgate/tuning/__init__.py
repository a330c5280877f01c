"""Tuning: a search over a discipline's parameters, for a stated objective, checked on seeds that it did not see.

The search itself is Optuna's (the extra `tune`): nothing here imports it before it is needed.
"""
