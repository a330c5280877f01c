"""The meaning of each metric of the report, and the source of its definition."""

from headgate.analysis.metrics.catalogue import FLOWS, LINK

_GENERAL = (
    (
        "TCP Mbit/s, UDP Mbit/s: goodput",
        "Useful bytes received per second after the warm-up, without headers and duplicates. RFC 7928, section 2.5.",
    ),
    (
        "Fair share",
        "The max-min fair division of the links, as goodput. No flow can get more without taking from a flow that has "
        "less. A flow that demands less than an equal share gets its demand. RFC 5166, section 2.3.",
    ),
    (
        "% of fair, times fair",
        "Goodput of all TCP or UDP flows over their fair shares. 100 %, or 1 time, is exactly fair.",
    ),
    (
        "Misallocated goodput; most fairly",
        "|goodput - fair share|, summed over responsive and unresponsive flows. If all flows are of one kind, the sum "
        "is over groups; with one group, over its flows. Flows that demand at most their fair share are left out if "
        "there are others.",
    ),
    (
        "Shown, least, most fairly",
        "Disciplines are compared in pairs, seed by seed (paired t test). The p-values of all pairs are corrected for "
        "their number (Holm): a report without real differences shows one in at most 5 % of cases. A discipline is "
        "called best only if it is shown to differ from every other one. One seed shows no difference.",
    ),
    (
        "Jain's index",
        "(Σx)² / (n Σx²) over all n flows, where x is a flow's goodput over its fair share: 1 if all flows are served "
        "equally, 1/n if one flow has all goodput. R. Jain, D. Chiu, W. Hawe, “A quantitative measure of fairness and "
        "discrimination for resource allocation in shared computer systems”, DEC-TR-301, 1984. At a time scale: the "
        "index of goodput in slots of that length, averaged over slots. RFC 5166, section 2.3.1. Flows that end and "
        "demand at most their fair share are not counted.",
    ),
    ("Link use", "Utilization: the share of time in which the bottleneck was sending. RFC 5166, section 2.1."),
    (
        "Drop rate and mark rate",
        "Packets dropped, or marked (ECN), at the bottleneck's queue over packets that arrived there. RFC 7928, "
        "section 2.3; RFC 3168.",
    ),
    (
        "Delay",
        "Time from enqueue to dequeue at the bottleneck, of packets that were sent. 95 % of them have at most p95. "
        "Values are exact to 0.8 %. RFC 7928, section 2.6.",
    ),
    (
        "One standard deviation",
        "The ellipse in the figure of goodput and delay: the contour of the two-dimensional normal distribution "
        "fitted to the seeds. RFC 7928, section 2.7.",
    ),
    (
        "±",
        "Margin of error: half the 95 % confidence interval of the mean over seeds, from Student's t. Seeds are "
        "independent runs of the scenario. One seed has no interval.",
    ),
    ("UDP", "Flows that keep their rate when packets are dropped, unless TFRC (RFC 5348) controls it."),
)

#: Each term with its meaning. Metrics of the tables have theirs from the catalogue.
DEFINITIONS = (*_GENERAL, *((each.title, each.meaning) for each in (*LINK[:-1], *FLOWS) if each.title))
