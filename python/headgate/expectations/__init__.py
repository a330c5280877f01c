"""Expectations: the `expect` lines of a scenario, judged by `headgate check`."""
