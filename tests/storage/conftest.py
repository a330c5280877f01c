"""The dataset of a sweep, which no test may change."""

from tests.sweep.conftest import dataset as dataset
