"""What the page says of real packets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from headgate.live import proof
from headgate.report.markup import NONE, Html, join, table, tag, text

if TYPE_CHECKING:
    from headgate.results import Result


def section(result: Result) -> Html:
    """How true the run was, and what was otherwise than the scenario says; nothing of a simulation."""
    live = result.live
    if live is None:
        return NONE
    found = proof.warnings(live)
    said = [tag("strong", text(f"{warning}.")) for warning in found] or [text(_FINE)]
    urgent = all(point["urgent"] for point in live["points"])
    first = "came before all ordinary threads (SCHED_FIFO)" if urgent else "was a thread as others are: run it as root"
    about = f"Kernel {live['kernel']}, with {', '.join(live['controllers'])}. The loop that is the link {first}."
    rows = [[text(cell) for cell in row] for row in proof.rows(live)]
    parts = [
        tag("h2", text("On real packets")),
        *(tag("p", sentence) for sentence in said),
        tag("p", text(about)),
        table("The worst of each discipline's runs; handshakes count as packets.", list(proof.HEADS), rows),
        tag("p", text("Otherwise than the scenario says:")) if live["notes"] else NONE,
        tag("ul", join(tag("li", text(note)) for note in live["notes"])) if live["notes"] else NONE,
    ]
    return join([tag("section", join(parts)), Html("\n")])


_FINE = (
    "The bottleneck was ours: no packet vanished elsewhere, none was longer than the link takes, the link never stood "
    "still, and the loop kept its time."
)


def again(result: Result) -> Html:
    """How to run it again."""
    folder = text(f"{result.scenario.name}-{result.manifest['config_hash'][:8]}")
    if result.scenario.live:
        command = tag("pre", tag("code", text("headgate run --live scenario.toml")), tabindex="0")
        said = (
            "in this folder runs it again, and finds other numbers, if not far from these: nothing repeats the kernel."
        )
        return join([command, tag("p", text(said))])
    return Html(
        f'<pre tabindex="0"><code>headgate rerun results/{folder}</code></pre>\n'
        "<p>gives the same tables, byte for byte, with the same version of Headgate.</p>"
    )
