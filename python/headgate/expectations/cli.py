"""The command `headgate check`."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.errors import UsageError
from headgate.terminal.console import with_error_messages
from headgate.terminal.options import Changes, Seeds, Threads, instead_of, print_json, reading, watcher


@with_error_messages
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file with expect lines.")],
    expect: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LINE", help="Add an expectation, such as 'p99 queue delay < 20ms' or 'faba: jain > 0.9'."
        ),
    ] = None,
    changes: Changes = None,
    qdisc: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Check this discipline instead of the file's. Repeatable.")
    ] = None,
    seeds: Seeds = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Write the result folder below DIR.")] = Path("results"),
    junit: Annotated[Path | None, typer.Option(metavar="FILE", help="Write JUnit XML to this file.")] = None,
    as_json: Annotated[bool, instead_of("sentences")] = False,
    threads: Threads = None,
) -> None:
    """Run a scenario and judge its expectations.

    An expectation holds if the 95 % interval over seeds lies within its bound. If one does not, the exit code is 1.
    Finished runs are reused.
    """
    from headgate import guarded, shipped
    from headgate.expectations import lines
    from headgate.scenario import Scenario
    from headgate.scenario.inputs import files_in

    with reading(file):
        located = shipped.located(file)
        data = guarded.read_bytes(located, guarded.SCENARIO)  # once: it may be a pipe
    scenario = Scenario.parse(
        data, file=str(file), files=files_in(located.parent), set=changes or (), qdiscs=qdisc or (), seeds=seeds
    )
    written = lines.of_file(data.decode())
    if any(change.partition("=")[0].strip() == lines.KEY for change in changes or ()):
        raise UsageError("--set cannot change `expect`: add expectations with --expect LINE")
    expected = lines.read([*written, *(expect or ())], scenario)

    from headgate.api import run_into
    from headgate.expectations import verdicts
    from headgate.files.store import folder_name, not_writable, write_whole

    path = out / folder_name(scenario)
    result = run_into(path, scenario, threads=threads, report=False, watcher=watcher(as_json))
    results = list(verdicts.judged(expected, result))
    if as_json:
        print_json(verdicts.document(results, result))
    else:
        typer.echo("\n".join([*map(str, results), f"\n{verdicts.sentence(results)}", f"folder  {path}"]))
    if junit is not None:
        try:
            write_whole(junit, verdicts.junit_xml(results, scenario.name))
        except OSError as error:
            raise not_writable(junit, error) from None
    if not all(each.holds for each in results):
        raise typer.Exit(1)
