"""Figures of a result: functions that take a `headgate.Result` and draw with matplotlib."""

from headgate.plot.completion import completion
from headgate.plot.delay import delay_cdf
from headgate.plot.goodput import goodput
from headgate.plot.overtime import gauges, queue
from headgate.plot.overview import overview
from headgate.plot.pair import pair
from headgate.plot.picture import Picture, picture
from headgate.plot.save import figures, pictures, save_all
from headgate.plot.timescales import fairness
from headgate.plot.tradeoff import tradeoff

__all__ = [
    "Picture",
    "completion",
    "delay_cdf",
    "fairness",
    "figures",
    "gauges",
    "goodput",
    "overview",
    "pair",
    "picture",
    "pictures",
    "queue",
    "save_all",
    "tradeoff",
]
