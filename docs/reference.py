"""Writes the catalogue of measures into docs/reference and into the JSON Schema of a run.

Places between markers are filled: `<!-- tables -->` and `<!-- over time -->` in tables.md, `<!-- measures: link -->`
and `<!-- measures: flows -->` in json.md, `<!-- metrics -->` in metrics.md, `<!-- renamed -->` in glossary.md. On Linux
also `<!-- requests -->` and `<!-- causes -->` in system.md. In run-2.json the definitions `bottleneck` and `group` are
written. The terms of glossary.md go into glossary.json of the package, for reports.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pages import filled, table

from headgate import _core
from headgate.analysis.metrics.catalogue import FLOWS, LINK, MEASURES, Measure, owner
from headgate.files import renamed, tables
from headgate.files.tables import TableColumn
from headgate.units import Units

REASONS = [name for name, _ in _core.reasons()]

DOCS = Path(__file__).parent / "reference"
SCHEMA = Path(__file__).parents[1] / "python/headgate/schema/run-2.json"

#: The terms of the glossary as reports read them.
TERMS = Path(__file__).parents[1] / "python/headgate/report/glossary.json"

PARTS = {
    "min": "Least.",
    "mean": "Mean.",
    "p50": "Median.",
    "p95": "95th percentile.",
    "p99": "99th percentile.",
    "max": "Greatest.",
    "link": "By the links of the route.",
    "window": "By the receive window or the send buffer.",
    "access": "By an access link.",
    "source": "By the source.",
}
OWNERS = {"link": "the link", "flows": "flows", "both": "the link, or flows", "all": "all flows"}


def main() -> None:
    """Writes every file."""
    for path, text in files():
        path.write_text(text)


def files() -> Iterator[tuple[Path, str]]:
    """Every file with its text as it should be."""
    page = filled((DOCS / "tables.md").read_text(), "tables", "".join(map(_of_table, tables.COLUMNS)))
    yield DOCS / "tables.md", filled(page, "over time", _over_time())
    page = filled((DOCS / "json.md").read_text(), "measures: link", _measures(LINK))
    yield DOCS / "json.md", filled(page, "measures: flows", _measures(FLOWS))
    yield DOCS / "metrics.md", filled((DOCS / "metrics.md").read_text(), "metrics", _named(MEASURES))
    yield DOCS / "glossary.md", filled((DOCS / "glossary.md").read_text(), "renamed", _renamed())
    if sys.platform == "linux":
        page = filled((DOCS / "system.md").read_text(), "requests", _requests())
        yield DOCS / "system.md", filled(page, "causes", _causes())
    yield TERMS, terms((DOCS / "glossary.md").read_text())
    yield SCHEMA, json.dumps(schema(json.loads(SCHEMA.read_text())), indent=2, ensure_ascii=False) + "\n"


def _renamed() -> str:
    """The old names of metrics, gauges, columns and words, with their present names."""
    rows = [("metric", old, new) for old, new in renamed.METRICS.items()]
    rows += [("gauge", old, new) for old, new in renamed.GAUGES.items()]
    rows += [(f"column of `{name}`", old, new) for name, each in renamed.COLUMNS.items() for old, new in each.items()]
    for name, (column, words) in renamed.VALUES.items():
        rows += [(f"`{column}` in `{name}`", old, new) for old, new in words.items() if not old.startswith("gauge:")]
    return table(("where", "old name", "new name"), [(where, f"`{old}`", f"`{new}`") for where, old, new in rows])


def _common_remedies() -> dict[str, str]:
    """By cause, the remedy of every request without one of its own."""
    found: dict[str, Counter[str]] = {}
    for _, _, _, remedies in _core.requests():
        for cause, remedy in remedies:
            found.setdefault(cause, Counter())[remedy] += 1
    return {cause: counts.most_common(1)[0][0] for cause, counts in found.items()}


def _requests() -> str:
    """The requests to the system with their own remedies."""
    common = _common_remedies()
    rows = []
    for _, act, purpose, remedies in _core.requests():
        causes: dict[str, list[str]] = {}
        for cause, remedy in remedies:
            if remedy != common[cause]:
                causes.setdefault(remedy, []).append(cause)
        own = "<br>".join(f"*{', '.join(names)}*: {_plain(remedy)}." for remedy, names in causes.items())
        rows.append([_plain(act), f"{_plain(purpose)}.", own])
    return table(["to", "purpose", "remedies by cause"], rows)


def _causes() -> str:
    """The remedies that hold for every request without one of its own."""
    return table(
        ["cause", "remedy"], [[f"*{cause}*", f"{_plain(text)}."] for cause, text in _common_remedies().items()]
    )


def _plain(text: str) -> str:
    """Text of a message as Markdown."""
    return re.sub(r"([_*<>])", r"\\\1", text)


def terms(page: str) -> str:
    """The terms between the markers of the glossary: the names of each, and its meaning without Markdown."""
    listed = page.split("<!-- terms -->")[1].split("<!-- /terms -->")[0]
    rows = re.findall(r"^\| (?!---|term )(.+?) \| (.+?) \|", listed, re.MULTILINE)
    plain = ([re.sub(r"[`*]", "", cell) for cell in row] for row in rows)
    entries = ({"names": names.split(", "), "meaning": meaning} for names, meaning in plain)
    return "[\n" + ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in entries) + "\n]\n"


def unit(measure: Measure) -> str:
    """The unit of a measure, as a table has it."""
    return "0 to 1" if measure.units is Units.SHARE else measure.units.value.name


def _of_table(name: str) -> str:
    rows = [[f"`{column.name}`", _type(column), _unit(column.unit), column.meaning] for column in _columns(name)]
    about = tables.ABOUT[name]
    about = about if about.startswith("Jain") else f"{about[0].lower()}{about[1:]}"
    head = f"\n### {name}\n\nA row is {about.rstrip('.')}.\n\n"
    return head + table(["column", "type", "unit", "is"], rows)


def _columns(name: str) -> Iterator[TableColumn]:
    """The columns, those of all reasons as one."""
    for column in tables.COLUMNS[name].values():
        what, _, reason = column.name.partition("_")
        if what not in ("dropped", "marked") or reason not in REASONS:
            yield column
        elif reason == REASONS[0]:
            yield column._replace(name=f"{what}_REASON", meaning=f"Packets {what} for each of the reasons.")


def _type(column: TableColumn) -> str:
    return f"{column.kind}, null" if column.nullable else column.kind


def _unit(word: str) -> str:
    return {"share": "0 to 1", "ratio": "", "count": ""}.get(word, word)


def _measures(measures: Iterable[Measure]) -> str:
    rows = [[f"`{each.key}`", unit(each), _list(each.parts), each.meaning] for each in measures]
    return "\n" + table(["key", "unit", "parts", "is"], rows) + "\n"


def _named(measures: Iterable[Measure]) -> str:
    rows = [
        [
            f"`{each.name}`",
            unit(each),
            OWNERS[owner(each)],
            ", ".join(each.parts),
            "lower" if each.lower else "higher",
            each.meaning,
        ]
        for each in measures
    ]
    return "\n" + table(["metric", "unit", "of", "parts", "better", "is"], rows) + "\n"


def _over_time() -> str:
    rows = [[f"`{name}`", of, _unit(unit), meaning] for name, of, unit, meaning in _core.metrics_over_time()]
    return "\n" + table(["metric", "of", "unit", "is"], rows) + "\n"


def _list(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def schema(whole: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a run, with the measures of a link and of a group."""
    definitions = whole["$defs"]
    for name, measures in (("bottleneck", LINK), ("group", FLOWS)):
        named = {key: definitions[name]["properties"][key] for key in ("name", "kind", "flows") if name == "group"}
        definitions[name] = _object(named | _properties(measures), definitions[name].get("description"))
    return whole


def _properties(measures: Iterable[Measure]) -> dict[str, Any]:
    properties: dict[str, Any] = {}
    for measure in measures:
        outer, dot, key = measure.key.partition(".")
        if dot:
            inner = properties.get(outer, {"properties": {}})["properties"]
            properties[outer] = _object(inner | {key: _property(measure)}, None)
        else:
            properties[measure.key] = _property(measure)
    return properties


def _property(measure: Measure) -> dict[str, Any]:
    figure = {"$ref": "#/$defs/figure"}
    unit_text = unit(measure)
    about = f"{measure.meaning} Unit: {unit_text}." if unit_text else measure.meaning
    if measure.parts:
        return _object({part: {**figure, "description": PARTS[part]} for part in measure.parts}, about)
    if measure.key == "drops":
        # Each discipline declares its own.
        reasons = {"pattern": "^[a-z][a-z0-9_]*$"}
        return {"type": "object", "description": about, "propertyNames": reasons, "additionalProperties": figure}
    if measure.key.endswith("_per_flow"):
        return {"type": "array", "minItems": 1, "items": figure, "description": about}
    return {**figure, "description": about}


def _object(properties: dict[str, Any], about: str | None) -> dict[str, Any]:
    head = {"type": "object"} | ({"description": about} if about else {})
    return {**head, "required": list(properties), "properties": properties, "additionalProperties": False}


if __name__ == "__main__":
    main()
