"""What each figure of merit means, and where its definition comes from."""

from headgate.analysis.metrics.catalogue import FLOWS, LINK

_GENERAL = (
    (
        "TCP Mbit/s, UDP Mbit/s: goodput",
        "Useful bytes that reached the receiver per second after the warm-up; headers and bytes received twice do not "
        "count. RFC 7928, section 2.5.",
    ),
    (
        "Fair share",
        "The max-min fair division of the links, as goodput: nobody can get more without taking from someone who has "
        "less, and a flow that asks for less than an equal part, in the long run, keeps what it asks for. RFC 5166, "
        "section 2.3.",
    ),
    (
        "% of fair, times fair",
        "Goodput of all flows of one kind divided by their fair shares: 100 %, or 1 time, is exactly fair.",
    ),
    (
        "Best, fairest",
        "The discipline with the least goodput out of its place: the sum of |goodput - fair share| over the flows that "
        "slow down and those that do not, or over the groups if all are of one kind, or over the flows of the only "
        "group. Flows that ask for no more than their fair share are left out, unless all are such. Disciplines whose "
        "95 % intervals reach that of the first share its place.",
    ),
    (
        "Jain's index",
        "(Σx)² / (n Σx²) over all n flows, with x a flow's goodput divided by its fair share: 1 if all are treated "
        "alike, 1/n if one has everything. R. Jain, D. Chiu, W. Hawe, “A quantitative measure of fairness and "
        "discrimination for resource allocation in shared computer systems”, DEC-TR-301, 1984. Over a "
        "time scale: of the goodput in slots of that length, averaged over slots. RFC 5166, section 2.3.1. Flows that "
        "end and ask for no more than their share are not counted.",
    ),
    ("Link use", "Utilization: the share of the time in which the bottleneck was sending. RFC 5166, section 2.1."),
    (
        "Loss and marks",
        "Packets dropped, or marked by ECN instead, at the bottleneck's queue divided by packets that arrived there. "
        "RFC 7928, section 2.3; RFC 3168.",
    ),
    (
        "Delay",
        "Time that sent packets spent in the bottleneck's queue; p95 is what 95 % of them did not exceed. Values are "
        "exact to 0.8 %. RFC 7928, section 2.6.",
    ),
    (
        "One standard deviation",
        "In the figure of goodput and delay: the contour of the normal distribution in two dimensions that fits the "
        "seeds best. RFC 7928, section 2.7.",
    ),
    (
        "±",
        "Half the 95 % interval of the mean over seeds, from Student's t. Seeds are independent runs of the same "
        "scenario; with one seed there is no interval.",
    ),
    ("UDP", "Flows that send at their own rate whatever happens to their packets, unless TFRC (RFC 5348) controls it."),
)

#: Each term with its meaning; of a measure in the tables as the catalogue has it.
DEFINITIONS = (*_GENERAL, *((each.title, each.meaning) for each in (*LINK[:-1], *FLOWS) if each.title))
