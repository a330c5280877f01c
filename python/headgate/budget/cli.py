"""The command `headgate check`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from headgate.console import explained
from headgate.errors import UsageError


@explained
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file with expect lines.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE", help="Expect this too, such as 'p99 queue delay < 20ms' or 'faba: jain > 0.9'."),
    ] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario, such as link.rate=5Mbit/s."),
    ] = None,
    qdisc: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Check this discipline, in place of the file's.")
    ] = None,
    seeds: Annotated[int | None, typer.Option(min=1, metavar="N", help="Run seeds 1 to N.")] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Put the result's folder here.")] = Path("results"),
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML to this file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document instead of sentences.")] = False,
    threads: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Run on N threads (default: all processors).")
    ] = None,
) -> None:
    """Run a scenario and check what it expects of its results; exit code 1 if anything is not kept.

    An expectation is kept if the 95 % interval over seeds lies within its bound. Points that are finished already are
    not run again.
    """
    from headgate.budget import lines
    from headgate.scenario import Scenario

    try:
        scenario = Scenario.load(file, set=changes or (), qdiscs=qdisc or (), seeds=seeds)
        written = lines.of_file(file.read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}") from None
    if any(change.partition("=")[0].strip() == lines.KEY for change in changes or ()):
        raise UsageError("--set expect: --expect LINE adds to what the file expects")
    expected = lines.read([*written, *(expect or ())], scenario)

    from headgate.api import run_into
    from headgate.budget import kept
    from headgate.budget.junit import junit as xml
    from headgate.progress import Bar
    from headgate.store import folder_name, not_writable, write_bytes

    path = out / folder_name(scenario)
    result = run_into(path, scenario, threads=threads, report=False, watcher=None if as_json else Bar())
    findings = list(kept.judged(expected, result))
    if as_json:
        typer.echo(json.dumps(kept.document(findings, result), indent=1, allow_nan=False))
    else:
        typer.echo("\n".join([*map(str, findings), f"\n{kept.sentence(findings)}", f"folder  {path}"]))
    if junit is not None:
        try:
            write_bytes(junit, xml(findings, scenario.name))
        except OSError as error:
            raise not_writable(junit, error) from None
    if not all(finding.kept for finding in findings):
        raise typer.Exit(1)
