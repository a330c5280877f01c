"""Experiments: many scenarios run as one pool, kept by their content, and measured, judged and shown."""
