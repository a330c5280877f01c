"""The elements of the small pictures on the disciplines' pages: packets, queues, buckets, arrows, curves.

An element is a function that returns SVG. Its first numbers are coordinates on a card of `WIDTH` by `HEIGHT`. A flow is
a letter of `FLOWS`, and a string of letters is a row of packets with a dot for an empty place.
"""

from __future__ import annotations

from html import escape

WIDTH, HEIGHT = 640, 200
PACKET, PITCH = 14, 17
"""Side of a packet, and the distance from one packet to the next."""

FLOWS = {
    "a": ("#2f6fb3", "#6cb2f5"),
    "b": ("#17846b", "#4cc7a5"),
    "c": ("#8256b0", "#bf9be6"),
    "u": ("#d1490c", "#ff8a4c"),
    "n": ("#8b949e", "#8b949e"),
}
"""Color of each flow on a light and on a dark card: a, b and c are responsive, u is unresponsive, n is any flow."""

NEUTRAL = (
    {
        "card": "#ffffff",
        "edge": "#d0d7de",
        "box": "#f3f5f7",
        "line": "#57606a",
        "plot": "#a0307a",
        "ink": "#1f2328",
    },
    {
        "card": "#161b22",
        "edge": "#3d444d",
        "box": "#22282f",
        "line": "#9aa4af",
        "plot": "#f088c8",
        "ink": "#e6edf3",
    },
)
"""The other colors of a light and of a dark card."""

FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"


def card(title: str, elements: str) -> str:
    """The whole picture: a card with its own background, light or dark as the reader's system is."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img">\n<title>{escape(title)}</title>\n<style>\n{_style()}</style>\n'
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{HEIGHT - 1}"/>\n{elements}</svg>\n'
    )


def _style() -> str:
    light, dark = ({**NEUTRAL[side], **{letter: pair[side] for letter, pair in FLOWS.items()}} for side in (0, 1))
    return (
        f"text {{ font: 13px {FONT} }}\n.small {{ font-size: 11.5px }}\n.bold {{ font-weight: 600 }}\n"
        ".thin { stroke-width: 1.3 }\n.wide { stroke-width: 2 }\n.dash { stroke-dasharray: 4 3 }\n"
        f".level {{ opacity: 0.75 }}\n{_rules(light)}@media (prefers-color-scheme: dark) {{\n{_rules(dark)}}}\n"
    )


def _rules(color: dict[str, str]) -> str:
    rules = [
        f"text {{ fill: {color['ink']} }}",
        f".card {{ fill: {color['card']}; stroke: {color['edge']} }}",
        f".box {{ fill: {color['box']}; stroke: {color['line']} }}",
        f".line {{ fill: none; stroke: {color['line']} }}",
        f".plot {{ fill: none; stroke: {color['plot']} }}",
        f".tip {{ fill: {color['line']} }}",
        *(f".{flow} {{ fill: {color[flow]} }}\n.s{flow} {{ fill: none; stroke: {color[flow]} }}" for flow in FLOWS),
    ]
    return "".join(f"{rule}\n" for rule in rules)


def text(x: float, y: float, words: str, anchor: str = "start", style: str = "") -> str:
    """Words; a bar in them begins a new line. Anchor: start, middle or end. Style: small, bold or none."""
    chosen = f' class="{style}"' if style else ""
    return "".join(
        f'<text{chosen} x="{x:g}" y="{y + 16 * row:g}" text-anchor="{anchor}">{escape(line)}</text>\n'
        for row, line in enumerate(words.split("|"))
    )


def packets(x: float, y: float, letters: str) -> str:
    """A row of packets, the first at x; y is the middle."""
    top, size = y - PACKET / 2, f'width="{PACKET}" height="{PACKET}" rx="2"'
    shapes = ((x + PITCH * place, letter) for place, letter in enumerate(letters) if letter != ".")
    return "".join(f'<rect class="{letter}" x="{left:g}" y="{top:g}" {size}/>\n' for left, letter in shapes)


def queue(x: float, y: float, letters: str, label: str = "") -> str:
    """A queue as long as its letters, with its head at the right; y is the middle, the label is above."""
    width = PITCH * len(letters) + 3
    box = f'<rect class="box" x="{x:g}" y="{y - 11:g}" width="{width:g}" height="22" rx="3"/>\n'
    return box + packets(x + 3, y, letters) + (text(x, y - 17, label, "start", "small") if label else "")


def stack(x: float, y: float, letters: str, label: str = "") -> str:
    """An upright bin, filled from its bottom at y; the label is below."""
    height = PITCH * len(letters) + 3
    box = f'<rect class="box" x="{x:g}" y="{y - height:g}" width="20" height="{height:g}" rx="3"/>\n'
    shapes = "".join(packets(x + 3, y - 3 - PACKET / 2 - PITCH * place, letter) for place, letter in enumerate(letters))
    return box + shapes + (text(x + 10, y + 15, label, "middle", "small") if label else "")


def bucket(x: float, y: float, share: float, letter: str, label: str = "", height: float = 60) -> str:
    """An open bucket, filled with tokens to a share of its height; y is its bottom, the label is below."""
    width, level = 40, share * height
    tokens = f'<rect class="{letter} level" x="{x:g}" y="{y - level:g}" width="{width}" height="{level:g}"/>\n'
    sides = f'<path class="line wide" d="M{x:g} {y - height:g}V{y:g}H{x + width:g}V{y - height:g}"/>\n'
    return tokens + sides + (text(x + width / 2, y + 15, label, "middle", "small") if label else "")


def bar(x: float, y: float, height: float, letter: str, label: str = "") -> str:
    """An upright bar with its foot at y; the label is below."""
    shape = f'<rect class="{letter} level" x="{x:g}" y="{y - height:g}" width="26" height="{height:g}"/>\n'
    return shape + (text(x + 13, y + 15, label, "middle", "small") if label else "")


def box(x: float, y: float, width: float, height: float, words: str, style: str = "") -> str:
    """A box with words in its middle; a bar in them begins a new line."""
    shape = f'<rect class="box" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="5"/>\n'
    first = y + height / 2 + 4.5 - 8 * words.count("|")
    return shape + text(x + width / 2, first, words, "middle", style)


def arrow(x: float, y: float, to_x: float, to_y: float, letter: str = "", label: str = "") -> str:
    """An arrow, in the color of a flow if a letter says so; the label is above its middle."""
    words = text((x + to_x) / 2, min(y, to_y) - 6, label, "middle", "small") if label else ""
    return path(f"{x:g},{y:g} {to_x:g},{to_y:g}", letter) + words


def path(points: str, letter: str = "", style: str = "") -> str:
    """An arrow along points `x,y x,y ...`. Style: dash or none."""
    corners = [tuple(map(float, point.split(","))) for point in points.split()]
    if len(corners) < 2:
        raise ValueError(f"a path needs two points or more, in quotes, and has {points!r}")
    (from_x, from_y), (x, y) = corners[-2:]
    length = ((x - from_x) ** 2 + (y - from_y) ** 2) ** 0.5
    along, across = ((x - from_x) / length, (y - from_y) / length), ((from_y - y) / length, (x - from_x) / length)
    back = (x - 8 * along[0], y - 8 * along[1])
    sides = [(back[0] + 4 * side * across[0], back[1] + 4 * side * across[1]) for side in (1, -1)]
    line = "L".join(f"{place[0]:g} {place[1]:g}" for place in [*corners[:-1], back])
    tip = " ".join(f"{round(place[0], 2):g},{round(place[1], 2):g}" for place in [(x, y), *sides])
    stroke = f"s{letter}" if letter else "line"
    return (
        f'<path class="{stroke} {style or "thin"}" stroke-width="1.5" d="M{line}"/>\n'
        f'<polygon class="{letter or "tip"}" points="{tip}"/>\n'
    )


def drop(x: float, y: float, label: str = "", letter: str = "u", length: float = 24) -> str:
    """A packet's way out: an arrow down to a cross, with the label beside it."""
    foot = y + length
    cross = f"M{x - 5:g} {foot:g}l10 10m0 -10l-10 10"
    words = text(x + 11, foot + 9, label, "start", "small") if label else ""
    return path(f"{x:g},{y:g} {x:g},{foot - 3:g}", letter) + f'<path class="s{letter} wide" d="{cross}"/>\n' + words


def level(x: float, y: float, to_x: float, label: str = "") -> str:
    """A dashed line across, with its label at the right."""
    line = f'<path class="line thin dash" d="M{x:g} {y:g}H{to_x:g}"/>\n'
    return line + (text(to_x + 5, y + 4, label, "start", "small") if label else "")


def curve(x: float, y: float, width: float, height: float, points: str, across: str = "", up: str = "") -> str:
    """Axes with their corner at x, y, and a line through points `share,share ...` of them; labels of both axes."""
    corners = [tuple(map(float, point.split(","))) for point in points.split()]
    line = "L".join(f"{x + width * right:g} {y - height * above:g}" for right, above in corners)
    axes = f'<path class="line thin" d="M{x:g} {y - height:g}V{y:g}H{x + width:g}"/>\n'
    words = text(x + width, y + 15, across, "end", "small") + text(x + 6, y - height + 4, up, "start", "small")
    return f'{axes}<path class="plot wide" d="M{line}"/>\n{words}'


def tick(x: float, y: float, height: float, label: str) -> str:
    """A dashed line upwards from an axis, with its label below."""
    line = f'<path class="line thin dash" d="M{x:g} {y:g}V{y - height:g}"/>\n'
    return line + text(x, y + 15, label, "middle", "small")


def turn(x: float, y: float, label: str = "round robin") -> str:
    """A circular arrow for queues that are served in turn; the label is above."""
    circle = f'<path class="line thin" stroke-width="1.5" d="M{x + 12:g} {y - 9:g}A15 15 0 1 0 {x + 15:g} {y:g}"/>\n'
    tip = f'<polygon class="tip" points="{x + 15:g},{y + 7:g} {x + 11:g},{y - 1:g} {x + 19:g},{y - 1:g}"/>\n'
    return circle + tip + text(x - 10, y - 22, label, "start", "small")


def red(gate: str, letters: str, points: str = "0,0 0.3,0 0.65,0.4 0.65,1 1,1") -> str:
    """The common part of RED's family: arrivals, a gate, the queue, and the curve from average to p."""
    return (
        text(16, 30, "arrivals", "start", "small")
        + packets(16, 50, "aub")
        + arrow(70, 50, 100, 50)
        + box(102, 30, 124, 40, gate, "small")
        + drop(128, 70, "drop", "n", 20)
        + arrow(226, 50, 252, 50)
        + queue(254, 50, letters, "queue")
        + arrow(257 + PITCH * len(letters), 50, 301 + PITCH * len(letters), 50, "", "link")
        + path("330,61 330,100")
        + text(338, 84, "average length", "start", "small")
        + curve(262, 178, 190, 66, points, "", "p")
        + path("258,140 190,140 190,73")
    )


def queues(chooser: str, rows: str, entry: str = "", exits: str = "", server: str = "round robin") -> str:
    """The common part of fair queueing: arrivals, a chooser, four queues, and the server that picks one of them.

    Rows are `letters label;letters label`. A box stands before each queue (entry) or after it (exits: one for all, or
    four with commas between). Any server but round robin is a box.
    """
    left = 240 if entry else 204
    after = exits.split(",") * (1 if "," in exits else 4)
    drawn = text(16, 80, "arrivals", "start", "small") + packets(16, 100, "acub") + arrow(86, 100, 106, 100)
    drawn += box(108, 84, 58, 32, chooser, "small")
    for place, row in enumerate(rows.split(";")):
        letters, _, label = row.partition(" ")
        y, to_y = 34 + 44 * place, 91 + 6 * place
        drawn += path(f"166,{to_y} {left - (42 if entry else 2)},{y}") + queue(left, y, letters, label)
        end = left + PITCH * len(letters) + 3
        if entry:
            drawn += box(left - 40, y - 11, 32, 22, entry, "small") + path(f"{left - 8},{y} {left - 1},{y}")
        if exits:
            drawn += path(f"{end},{y} 402,{y}") + box(404, y - 13, 64, 26, after[place], "small")
        drawn += path(f"{468 if exits else end},{y} 518,{to_y + (0 if server == 'round robin' else 4 * place - 6)}")
    if server == "round robin":
        return drawn + turn(540, 100) + arrow(562, 100, 616, 100, "", "link")
    return drawn + box(520, 76, 66, 48, server, "small") + arrow(586, 100, 628, 100, "", "link")


_ALL = (arrow, bar, box, bucket, curve, drop, level, packets, path, queue, queues, red, stack, text, tick, turn)
ELEMENTS = {each.__name__: each for each in _ALL}
