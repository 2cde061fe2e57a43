"""The commands ``mqconform lake ...``. Spark is imported when a command runs, not before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

import typer

from reports.extra import confirm_installed
from reports.lake.local import confirm_lake, confirm_place, confirm_some, is_url
from reports.progress import Progress
from reports.rollup_error import RollupError
from reports.text import one_line

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from reports.lake.ingest import Report
    from reports.lake.judging import Written
    from reports.lake.store import Lake

BAD_INPUT, LINES_REJECTED, INTERRUPTED = 2, 3, 130
MUCH = 100 << 20
"""Octets of verdicts whose ingest lasts minutes."""
QUICK = {
    "spark.driver.defaultJavaOptions": "-XX:+UseSerialGC -Xmn512m",
    "spark.broadcast.blockSize": "128k",
    "spark.broadcast.checksum": "false",
    "spark.broadcast.compress": "false",
    "spark.buffer.pageSize": "1m",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.lightweightPlanChangeValidation": "false",
    "spark.sql.parquet.columnarReaderBatchSize": "256",
}
"""Settings of an ingest that lasts seconds.

To plan anew between any two stages is a fifth of it, and so is a collector of garbage that works beside it. A fifth,
too, is memory that Spark takes for large tables: 64 MiB for each of some hundred sorts and aggregations, 4 MiB for each
of as many broadcasts.
"""
NAMED = 3
"""Rejected lines that the terminal names before it only counts."""

Master = Annotated[str, typer.Option("--master", help="Spark master, such as spark://HOST:7077.")]
Conf = Annotated[list[str] | None, typer.Option("--conf", metavar="KEY=VALUE", help="A setting of Spark's; repeat it.")]
LakeUri = Annotated[str, typer.Option("--lake", help="The lake: a folder, or a URL of any file system of Hadoop's.")]

app = typer.Typer(help="The lake: every run, for years.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add ``lake`` to the command line."""
    from reports.lake import questions

    questions.register(app)
    parent.add_typer(app, name="lake")


@app.command()
def ingest(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Run folders: paths, URLs, or patterns of URLs.")],
    lake: LakeUri,
    replace: Annotated[
        bool, typer.Option("--replace", help="Take a run that the lake has with other content in its place.")
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Take run folders into the lake, only those that are new.

    Exit 0: all of them are there; 2: some argument was refused, or nothing could be done, the lake is as it was;
    3: done, but lines of the input were no verdicts (table `rejected`).
    """
    with one_line_errors("lake ingest"):
        confirm_some(runs, "run folder")
    with opened("lake ingest", lake, master, conf, new=True, runs=runs) as (at, stage):
        from reports.lake.ingest import ingest as take

        report = take(at, runs, replacing=replace, stage=stage)
    say_report("lake ingest", report)


@app.command()
def vacuum(
    lake: LakeUri,
    keep: Annotated[int, typer.Option("--keep", min=1, help="States of the lake to keep, the newest.")] = 1,
    hours: Annotated[
        float, typer.Option("--hours", min=0, help="Leave what is younger: it may be of an ingest that still works.")
    ] = 24,
    compact: Annotated[bool, typer.Option("--compact/--no-compact", help="Merge small ingests into one.")] = True,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Delete what no kept state of the lake names, and merge small ingests."""
    with opened("lake vacuum", lake, master, conf) as (at, stage):
        from reports.lake.vacuum import vacuum as clean

        done = clean(at, keep=keep, hours=hours, compact=compact, stage=stage)
    typer.echo(f"merged {done.merged} ingests, deleted {done.states} old states and {done.folders} folders")


@app.command()
def judge(
    captures: Annotated[
        list[str],
        typer.Option("--captures", help="A folder, searched for *.pcapng; a URL or pattern of them; repeat it."),
    ],
    lake: Annotated[str, typer.Option("--lake", help="The lake that the verdicts are taken into.")] = "",
    out: Annotated[
        str, typer.Option("--out", help="Or a new folder, for a run folder of each folder of captures.")
    ] = "",
    name: Annotated[str, typer.Option("--name", help="The system that was captured, where no run.json says it.")] = "",
    version: Annotated[str, typer.Option("--version", help="Its version.")] = "",
    profile: Annotated[str, typer.Option("--profile", help="Its profile.")] = "",
    largest: Annotated[int, typer.Option("--largest", min=1, help="MiB that a capture may have.")] = 64,
    seconds: Annotated[float, typer.Option("--seconds", min=1, help="How long a capture may take.")] = 60,
    replace: Annotated[
        bool, typer.Option("--replace", help="Captures that the lake has with other content are judged in their place.")
    ] = False,
    master: Master = "local[*]",
    conf: Conf = None,
) -> None:
    """Judge captures on the executors, by all rules that packets alone show.

    Exit 0: all were judged; 2: a folder was refused, or nothing could be done; 3: done, but some captures could not be
    judged (table `rejected`).
    """
    command = "lake judge"
    with one_line_errors(command):
        if bool(lake) == bool(out):
            raise RollupError("where do the verdicts go? give --lake URI, or --out FOLDER")
        confirm_some(captures, "captures", may_be_files=True)
        confirm_place(out, "--out")
        from reports.lake import judging
        from reports.lake.captures import Given

        given, bounds = Given(name, version, profile), judging.Bounds(largest << 20, seconds)
        if out:
            with _session(command, master, conf, judging.ARROW) as (spark, progress):
                written = judging.judge_into_folder(spark, captures, given, bounds, out, progress)
            for line in written.refused:
                typer.echo(f"mqconform {command}: {line}", err=True)
            _say_judged(written)
            typer.echo(f"{len(written.folders)} run folders in {one_line(out)}")
            raise typer.Exit(BAD_INPUT if written.refused else LINES_REJECTED if written.rejected else 0)
        with opened(command, lake, master, conf, new=True, settings=judging.ARROW) as (at, stage):
            report, written = judging.judge_into_lake(at, captures, given, bounds, replacing=replace, stage=stage)
    _say_judged(written)
    say(report, command, captures=True)
    end([report])


def _say_judged(written: Written) -> None:
    """Say how many captures were judged, and of each other why it was not."""
    for line in written.rejected:
        typer.echo(f"mqconform lake judge: rejected: {line}", err=True)
    rejected = f", {len(written.rejected)} rejected" if written.rejected else ""
    typer.echo(f"{written.judged} captures judged{rejected}")


@contextmanager
def opened(
    command: str,
    lake: str,
    master: str,
    conf: list[str] | None,
    *,
    new: bool = False,
    runs: Iterable[str] = (),
    settings: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[tuple[Lake, Progress]]:
    """Open a lake in a session of its own; a `RollupError` within is one line on stderr and exit 2.

    ``runs``: the run folders that will be taken; ``settings``: of the session, ``conf`` has the last word.
    """
    with one_line_errors(command):
        if new:
            confirm_place(lake, "--lake")
        else:
            confirm_lake(lake)
    with one_line_errors(command), _session(command, master, conf, settings, runs) as (spark, progress):
        from reports.lake.store import Lake

        yield (Lake.open_or_new if new else Lake.open)(spark, lake), progress


@contextmanager
def _session(
    command: str, master: str, conf: list[str] | None, settings: Mapping[str, str], runs: Iterable[str] = ()
) -> Iterator[tuple[SparkSession, Progress]]:
    given = dict(_setting(each) for each in conf or ())
    from reports.spark import session

    runs = list(runs)
    much = _are_much(runs)
    quick = QUICK if runs and not much else {}
    with Progress(command) as progress:
        progress("starting Java")
        with session(master, conf={**quick, **settings, **given}, much=much) as spark:
            progress("reading the lake")
            yield spark, progress


@contextmanager
def one_line_errors(command: str) -> Iterator[None]:
    """Make a `RollupError` one line on stderr and exit 2; without the packages of the extra, that is the first."""
    try:
        confirm_installed()
        yield
    except RollupError as error:
        typer.echo(f"mqconform {command}: {error}", err=True)
        raise typer.Exit(BAD_INPUT) from error
    except KeyboardInterrupt:
        typer.echo("mqconform: interrupted", err=True)
        raise typer.Exit(INTERRUPTED) from None


def say_report(command: str, report: Report) -> None:
    """Say what became of the arguments, and end with the exit code for it."""
    say(report, command)
    end([report])


def end(reports: Iterable[Report]) -> None:
    """End with the exit code for what became of all arguments, when that is not 0."""
    reports = list(reports)
    if any(report.refused for report in reports):
        raise typer.Exit(BAD_INPUT)
    if any(report.rejected for report in reports):
        raise typer.Exit(LINES_REJECTED)


def say(report: Report, command: str, *, captures: bool = False) -> None:
    """Say what became of the arguments; ``captures``: what was rejected are captures, and these are named already."""
    for line in report.refused:
        typer.echo(f"mqconform {command}: {line}", err=True)
    for folder in report.unfinished:
        where = one_line(folder.removeprefix("file://"))
        typer.echo(f"mqconform {command}: {where} has not finished: left for later", err=True)
    if report.rejected and not captures:
        named = [
            f"{one_line(folder.removeprefix('file://'))}/verdicts.jsonl:{line} ({one_line(why)})"
            for folder, line, why in report.named[:NAMED]
        ]
        more = f" and {report.rejected - NAMED} more" if report.rejected > NAMED else ""
        typer.echo(
            f"mqconform {command}: {report.rejected} of {report.kept + report.rejected} lines rejected: "
            f"{'; '.join(named)}{more}; the table `rejected` has all",
            err=True,
        )
    parts = [f"{len(report.taken)} runs taken ({report.kept} verdicts)"]
    parts += [f"{len(report.replaced)} replaced: {one_line(', '.join(report.replaced))}"] if report.replaced else []
    parts += [f"{report.known} there before"] if report.known else []
    parts += [f"{len(report.refused)} refused"] if report.refused else []
    parts += [f"{len(report.unfinished)} left for later"] if report.unfinished else []
    typer.echo(f"lake state {report.number}: {', '.join(parts)}")


def _are_much(runs: Iterable[str]) -> bool:
    """Whether to take these run folders is more than `MUCH`, or nobody knows because they are elsewhere."""
    octets = 0
    for run in runs:
        if is_url(run):
            return True
        with suppress(OSError, ValueError):  # said later, with the others that cannot be taken
            octets += (Path(run) / "verdicts.jsonl").stat().st_size
    return octets > MUCH


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise RollupError(f"--conf {one_line(text)}: give KEY=VALUE, such as spark.executor.memory=4g")
    return key, value
