"""RFC 7928, section 4: packet sizes."""

from headgate.evaluate.network import dumbbell, tcp
from headgate.evaluate.section import Criterion, GuidelineTest, RfcSection, SectionHeadline
from headgate.evaluate.sections.stability import MILD
from headgate.experiment.measures import drop_percent, percent, ratio

_ADVANTAGE = Criterion(
    "goodput of flows with small packets over that of flows with large ones", "% of theirs", 110, 125,
    "gives small packets no advantage, goodput", "favors flows with small packets, goodput",
)  # fmt: skip

_SIZES = GuidelineTest(
    name="4-4",
    weight="could",
    place="4.4",
    title="Packets of two sizes",
    about=f"Mild congestion: {MILD // 2} NewReno flows with packets of 500 bytes and {MILD // 2} with 1500 bytes.",
    scenario=lambda v: dumbbell(
        v,
        tcp(v, "small", MILD // 2, packet="500B", start="0s..5s"),
        tcp(v, "large", MILD // 2, start="0s..5s"),
    ),
    measures={
        "advantage": ratio("small", "large") * 100,
        "ratio": ratio("large", "small"),
        "loss_cat_1": drop_percent("small"),
        "loss_cat_2": drop_percent("large"),
        "marked_cat_1": percent("marked", "sent", "small"),
        "marked_cat_2": percent("marked", "sent", "large"),
    },
    reported={
        "ratio": "Large over small",
        "loss_cat_1": "Small: dropped %",
        "loss_cat_2": "Large: dropped %",
        "marked_cat_1": "Small: marked %",
        "marked_cat_2": "Large: marked %",
    },
    groups={"small": "500 bytes", "large": "1500 bytes"},
    criteria=(_ADVANTAGE.of("advantage"),),
)

SECTION = RfcSection(
    number=4,
    title="Packet sizes",
    about="Do flows with small packets have an advantage over flows with large ones?",
    tests=(_SIZES,),
    headlines=(
        SectionHeadline("4-4", "advantage", "goodput, 500 over 1500 bytes, %"),
        SectionHeadline("4-4", "loss_cat_1", "packets of 500 bytes lost, %"),
        SectionHeadline("4-4", "loss_cat_2", "packets of 1500 bytes lost, %"),
    ),
    choices=(
        "TCP's window grows by packets. So if a discipline ignores sizes, flows with a third of the packet size get "
        "about a third of the goodput. Only a goodput above that of the flows with large packets is an advantage.",
        "The queue's limit is in packets, as in every section. The test is not run in both directions.",
    ),
)
