"""The files of a heat map: one JSON document with every number, the figure, and the page."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate import _core
from headgate.evaluate.candidates import Candidate
from headgate.evaluate.coexistence import page
from headgate.evaluate.coexistence.grid import CLASSIC, SCALABLE, Grid
from headgate.evaluate.coexistence.running import CoexistenceResults, MeasuredCell, run, seeds_of, times_of
from headgate.execution.runner import Watcher
from headgate.experiment.record import ExperimentRecord
from headgate.experiment.running import RunOptions
from headgate.files import provenance, store

SCHEMA = 1
FORM = f"coexistence-{SCHEMA}"
DOCUMENT = "coexistence.json"
PAGE = "report.html"
FIGURE = "coexistence"


def folder(out: Path, grid: Grid, chosen: Sequence[Candidate], options: RunOptions) -> Path:
    """The folder of a heat map. Heat maps and evaluations share the folder of their runs."""
    names = [store.slug_of(each.spec) if ":" in each.spec else each.spec for each in chosen]
    return out / "-".join(["l4s", *names, *grid.name_parts(), *options.name_parts()])


def carry_out(
    grid: Grid, chosen: Sequence[Candidate], out: Path, options: RunOptions, watcher: Watcher
) -> ExperimentRecord:
    """Runs the cells, and keeps the document, the figure and the page."""
    path = folder(out, grid, chosen, options)
    if not options.force:
        provenance.check_document(path / DOCUMENT, FORM, asked_of(grid, chosen, options))
    document = document_of(grid, chosen, run(grid, chosen, out, options, watcher), options)
    drawn = page.draw(document)
    files: dict[str, store.Content] = {DOCUMENT: store.sealed_text(document), PAGE: page.page(document, drawn)}
    store.write_files(path, files | drawn.files(FIGURE))
    return ExperimentRecord(path, document)


def asked_of(grid: Grid, chosen: Sequence[Candidate], options: RunOptions) -> dict[str, Any]:
    """The keys of a document that tell its question."""
    return {
        "quick": options.quick,
        "seeds": seeds_of(options),
        "rates_bps": list(grid.rates_bps),
        "rtts_ms": list(grid.rtts_ms),
        "buffer_bdp": grid.buffer_bdp,
        "classic_ecn": grid.classic_ecn,
        "fallback": grid.fallback,
        "profile": grid.profile,
        "disciplines": [{"spec": each.spec, "label": each.label} for each in chosen],
    }


def document_of(
    grid: Grid, chosen: Sequence[Candidate], results: CoexistenceResults, options: RunOptions
) -> dict[str, Any]:
    """Every number, as JSON."""
    duration_s, warmup_s = times_of(options)
    return {
        "schema": SCHEMA,
        "headgate": _core.VERSION,
        **asked_of(grid, chosen, options),
        "pair": grid.words(),
        "duration_s": duration_s,
        "warmup_s": warmup_s,
        "cpu_s": round(results.cpu_s, 3),
        "wall_s": round(results.wall_s, 3),
        "cells": [_cell(grid, each) for each in results.cells],
    }


def _cell(grid: Grid, cell: MeasuredCell) -> dict[str, Any]:
    values = {name: quantity.document() for name, quantity in cell.values.items()}
    return {
        "qdisc": cell.spec,
        **cell.cell,
        "limit_packets": grid.limit_packets(**cell.cell),
        "ratio": _ratio(values),
        "values": values,
    }


def _ratio(values: dict[str, dict[str, Any]]) -> float | None:
    """Prague's mean goodput over CUBIC's: a mean of the seeds' ratios would favor Prague. None if CUBIC has none."""
    scalable, classic = (values[f"{flow}_mbps"]["mean"] for flow in (SCALABLE, CLASSIC))
    return scalable / classic if classic else None
