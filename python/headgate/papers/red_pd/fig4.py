"""Few flows send most of the bytes and packets within seconds, too."""

from functools import partial

from headgate.experiment.claims import above, m, near
from headgate.experiment.declare import Basis, Claim, PublishedNumbers, for_each
from headgate.experiment.plots import Plot
from headgate.papers.red_pd import _skew as skew

EXPERIMENT = skew.experiment(
    about="As figure 3, in windows of 1 s to 60 s: the share of a window's largest flows in its bytes and packets.",
    published=(
        PublishedNumbers("bytes", "section 3", {"5 s": (50,)}, axis="flows", at=(0.01,), unit="%", scale=100.0),
    ),
    stated_in="section 3, figure 4",
    claims=(
        Claim(
            "In 5 s, 1 % of the flows send close to 50 % of the bytes (within 10 %; generated traces are made so)",
            near(m("bytes", "5 s", flows=0.01), 0.50, within=0.1),
            basis=Basis.ILLUSTRATION,
        ),
        *for_each(
            skew.WINDOWS_BY_LABEL,
            "Bytes are skewed in windows of {} too: 10 % of the flows send more than half of them",
            lambda label: above(m("bytes", label, flows=0.1), 0.5),
            basis=Basis.ILLUSTRATION,
        ),
    ),
    plot=Plot(
        [skew.windows("bytes", "Bytes"), skew.windows("packets", "Packets")],
        note=partial(
            skew.note, "Means over windows. A window's flows are the flows that sent in it. Cross: the paper's text."
        ),
        height=3.6,
        legend=0,
        legend_place="lower right",
    ),
)
