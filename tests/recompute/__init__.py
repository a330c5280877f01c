"""Metrics recomputed from captures by plain Python, without Headgate, and compared with its tables."""
