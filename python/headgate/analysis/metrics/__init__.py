"""Measures: the catalogue of all measures, and metrics of a scenario by name."""

from headgate.analysis.metrics.catalogue import MEASURES, Measure
from headgate.analysis.metrics.grammar import Bound, Metric, bound, metric

__all__ = ["MEASURES", "Bound", "Measure", "Metric", "bound", "metric"]
