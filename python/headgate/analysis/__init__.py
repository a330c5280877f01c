"""From the tables of a result to numbers: means with intervals, fair shares, verdicts."""
