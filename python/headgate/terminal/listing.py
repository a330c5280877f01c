"""The output of `headgate list` and `headgate show`."""

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from headgate import style
from headgate._core import Controller, Discipline, Parameter, Preset, Source, groups
from headgate.terminal import layout

#: Ends the lists.
HINT = Text("`headgate show NAME` explains an entry.", style="dim")

ABILITIES = {
    "protects": "limits unresponsive flows",
    "per_flow": "keeps state for each flow",
    "ecn": "can mark instead of dropping",
    "schedules": "can send packets of one flow before earlier packets of another",
}


def disciplines(entries: list[Discipline]) -> RenderableType:
    """All disciplines by group, one row each, with a legend of the columns."""
    drawn = _table("discipline", "protects", "per flow", "ecn", "schedules", "idea")
    for group, meaning in groups():
        drawn.add_row(Text(group, style="bold"), "", "", "", "", Text(meaning, style="italic"))
        for discipline in (each for each in entries if each.group == group):
            marks = ["yes" if getattr(discipline, ability) else "" for ability in ABILITIES]
            drawn.add_row(Text(f"  {discipline.name}", style="bold"), *marks, discipline.summary)
        drawn.add_section()
    legend = [f"{ability.replace('_', ' ')}: {meaning}" for ability, meaning in ABILITIES.items()]
    return Group(drawn, Text("; ".join(legend), style="dim"))


def controllers(entries: list[Controller]) -> RenderableType:
    """All congestion controls and loss recoveries, one row each."""
    rows = (
        (Text(f"  {each.name}", style="bold"), Text(f"{each.key} of [[{each.section}]]"), each.summary, each.citation)
        for each in entries
    )
    return _table("name", "key", "what it does", "defined in", rows=rows)


def sources(entries: list[Source]) -> RenderableType:
    """All traffic sources, one row each."""
    rows = (
        (Text(f"  {each.name}", style="bold"), ", ".join(each.protocols), each.summary, Text(_plain(each.citation)))
        for each in entries
    )
    return _table("source", "protocols", "what it sends", "defined in", rows=rows)


def details(entry: Discipline | Controller | Source) -> RenderableType:
    """One discipline, congestion control or traffic source: idea, source, parameters and presets."""
    if isinstance(entry, Controller):
        return _controller(entry)
    if isinstance(entry, Source):
        over = (
            f'a traffic source: traffic = "{entry.name}" in {" and ".join(f"[[{name}]]" for name in entry.protocols)}'
        )
        lines = [f"defined in: {_plain(entry.citation)}", over]
    else:
        abilities = [meaning for ability, meaning in ABILITIES.items() if getattr(entry, ability)]
        lines = [f"paper: {entry.citation}", f"it {style.listed(abilities)}" if abilities else ""]
    parts = [_heading(entry), *map(Text, filter(None, lines))]
    drawn = [_parameters("parameter", entry.parameters), _presets(entry.presets)]
    return Group(*parts, *drawn, _preset_values(entry)) if len(entry.presets) > 1 else Group(*parts, *drawn)


def _controller(entry: Controller) -> RenderableType:
    what = {"cc": "congestion control", "recovery": "loss recovery"}[entry.key]
    written = f'a {what}: {entry.key} = "{entry.name}" in [[{entry.section}]]'
    options = _parameters("option", entry.parameters)
    more = Text("docs/guide/scenarios.md lists all keys of the section.", style="dim")
    return Group(_heading(entry), Text(f"defined in: {entry.citation}"), Text(written), options, more)


def _heading(entry: Discipline | Controller | Source) -> Text:
    return Text(entry.name, style="bold").append(f": {entry.summary}", style="not bold")


def _plain(markdown: str) -> str:
    """A citation without the backquotes that its page has around file names."""
    return markdown.replace("`", "")


def _parameters(title: str, parameters: list[Parameter]) -> Table:
    drawn = _table(title, "default", "takes", "meaning")
    for parameter in parameters:
        names = Text(parameter.name, style="bold")
        others = [*parameter.also, *(f"{name} (1/{parameter.name})" for name in parameter.inverse)]
        names.append("".join(f"\nor {name}" for name in others), style="not bold dim")
        takes = parameter.kind + (f",\n{parameter.range}" if parameter.range else "")
        drawn.add_row(names, parameter.default, Text(takes), Text(parameter.doc))
    return drawn


def _presets(presets: list[Preset]) -> Table:
    rows = ((Text(preset.name, style="bold"), Text(preset.about)) for preset in presets)
    return _table("preset", "values from", rows=rows)


def _preset_values(entry: Discipline | Source) -> Table:
    """The parameters in which presets differ, with the value in each preset."""
    values = {preset.name: dict(entry.values(preset.name)) for preset in entry.presets}
    rows = {each.name: [of[each.name] for of in values.values()] for each in entry.parameters}
    differing = ((Text(name, style="bold"), *map(Text, row)) for name, row in rows.items() if len(set(row)) > 1)
    return _table("parameter", *values, rows=differing)


def _table(*titles: str, rows: Iterable[Sequence[RenderableType]] = ()) -> Table:
    return layout.table(layout.text_columns(*titles, vertical="top"), rows)
