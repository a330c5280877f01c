"""The commands `headgate sweep` and `headgate query`."""

from pathlib import Path
from typing import Annotated

import typer

from headgate.errors import UsageError
from headgate.terminal.console import console, with_error_messages
from headgate.terminal.loading import Loading
from headgate.terminal.options import Force, MemoryLimit, Seeds, Threads, reading

#: Rows of an answer printed as a table; other formats have all rows.
MOST_ROWS = 200


@with_error_messages
def sweep(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A scenario file with a [sweep] section.")],
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a key of the scenario first, such as duration=10s."),
    ] = None,
    qdisc: Annotated[
        list[str] | None, typer.Option(metavar="SPEC", help="Sweep this discipline instead of the file's. Repeatable.")
    ] = None,
    seeds: Seeds = None,
    out: Annotated[
        str,
        typer.Option(metavar="DIR", help="Write the dataset below DIR: a folder, or a URL such as s3://bucket/path."),
    ] = "results",
    threads: Threads = None,
    cluster: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="Run on the Dask cluster at tcp://HOST:PORT or tls://HOST:PORT."),
    ] = None,
    tls_ca: Annotated[
        Path | None, typer.Option(metavar="FILE", help="For tls://: the certificate of the cluster's authority.")
    ] = None,
    tls_cert: Annotated[Path | None, typer.Option(metavar="FILE", help="For tls://: our certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(metavar="FILE", help="For tls://: our key.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan without running it.")] = False,
    memory_limit: MemoryLimit = None,
    force: Force = False,
) -> None:
    """Run a scenario for many values of its keys.

    The [sweep] section of the file lists the values. Finished runs are reused. After Ctrl-C, the same command resumes.
    """
    from headgate.execution import memory
    from headgate.sweeps import api, plan, running, show
    from headgate.sweeps.cluster import ClusterTls
    from headgate.terminal.progress import Bar

    memory.limit_to(memory_limit)
    with reading(file):
        planned = plan.read(file, None, set=changes or (), qdiscs=qdisc or (), seeds=seeds)
    files = (tls_ca, tls_cert, tls_key)
    if None in files and any(files):
        raise UsageError("--tls-ca, --tls-cert and --tls-key belong together: give all three")
    tls = ClusterTls(*filter(None, files)) if all(files) else None
    with api.executor(threads, cluster, tls) as executor:
        dataset = api.prepared(planned, out, force=force)
        seconds = running.estimate(planned, dataset.missing_bundles, executor.count)
        typer.echo(show.plan(dataset, len(dataset.missing), seconds, executor.where))
        if dry_run:
            return
        swept = running.run(dataset, executor, Bar())
        typer.echo(show.done(swept, executor.count))  # a cluster counts its threads only while it is connected


@with_error_messages
def query(
    result: Annotated[
        str, typer.Argument(metavar="RESULT", help="A result folder, or a sweep's dataset (folder or URL).")
    ],
    sql: Annotated[
        str | None,
        typer.Argument(metavar="SQL", help="A query, such as 'select * from links' (default: list the tables)."),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print the result as CSV.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON, one object a row.")] = False,
    parquet: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the result to a Parquet file.")] = None,
) -> None:
    """Query a result or a sweep in SQL (DuckDB)."""
    from headgate.files import tables
    from headgate.sweeps import api, query, show

    if as_csv + as_json + (parquet is not None) > 1:
        raise UsageError("give only one of --csv, --json and --parquet")
    with Loading():  # importing DuckDB fails after a KeyboardInterrupt
        database = api.database(result, sql)
    if sql is None:
        console().print(show.columns(query.names(database)))
        return
    answer = query.ask(database, sql)
    if as_csv:
        typer.echo(tables.csv(answer), nl=False)
    elif as_json:
        typer.echo(show.json(answer))
    elif parquet is not None:
        show.write(answer, parquet)
    else:
        out = console()
        out.print(show.rows(answer, MOST_ROWS, out.width))
        if answer.num_rows > MOST_ROWS:
            typer.echo(f"{answer.num_rows - MOST_ROWS} more rows; --csv, --json and --parquet print all")
