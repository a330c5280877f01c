"""Experiments: many scenarios, run in one pool, stored by a hash of their content, then measured and judged."""
