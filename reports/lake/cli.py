"""Implements the commands ``mqconform lake ...``. Spark is imported only when a command runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from reports.lake import questions, sql_command
from reports.lake.command import (
    BAD_INPUT_EXIT_CODE,
    LINES_REJECTED_EXIT_CODE,
    LakeFolderOption,
    SparkMasterOption,
    SparkSettingsOption,
    exit_with_report_code,
    open_lake,
    open_session,
    print_error_in_one_line,
    print_report,
    report_results,
)
from reports.lake.local import require_existing_argument, require_writable_folder
from reports.rollup_error import RollupError
from reports.text import one_line

if TYPE_CHECKING:
    from reports.lake.judging import WrittenRunFolders

app = typer.Typer(help="Keep the verdicts of many runs, and query them.", no_args_is_help=True)


def register(parent: typer.Typer) -> None:
    """Add ``lake`` to the command line."""
    questions.register(app)
    sql_command.register(app)
    parent.add_typer(app, name="lake")


@app.command("ingest")
def ingest_runs(
    runs: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Run folders, or folders that `mqconform pair` wrote: paths, URLs, or patterns of URLs.",
        ),
    ],
    lake: LakeFolderOption,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace", help="If the lake contains a run of the same name with different content, replace that run."
        ),
    ] = False,
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Add those of the given run folders that are new to the lake.

    Exit 0: the lake has all runs; 2: an argument was refused, or the command failed and the lake is unchanged; 3: done,
    but some lines of the input were not verdicts (table `rejected`).
    """
    with print_error_in_one_line("lake ingest"):
        require_existing_argument(runs, "run folder")
    with open_lake("lake ingest", lake, master, conf, new=True, runs=runs) as (at, stage):
        from reports.lake.ingest import ingest as ingest_into_lake

        report = ingest_into_lake(at, runs, replacing=replace, stage=stage)
    report_results("lake ingest", report)


@app.command("vacuum")
def vacuum_lake(
    lake: LakeFolderOption,
    keep: Annotated[int, typer.Option("--keep", min=1, help="Number of the lake's newest states to keep.")] = 1,
    hours: Annotated[
        float,
        typer.Option(
            "--hours",
            min=0,
            help="Minimum age in hours of the files to delete. Younger files may belong to a running ingest.",
        ),
    ] = 24,
    compact: Annotated[bool, typer.Option("--compact/--no-compact", help="Merge the files of small ingests.")] = True,
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Delete the files that no kept state of the lake uses, and merge small ingests."""
    with open_lake("lake vacuum", lake, master, conf) as (at, stage):
        from reports.lake.vacuum import delete_unused_files as clean

        done = clean(at, keep=keep, hours=hours, compact=compact, stage=stage)
    typer.echo(
        f"merged {done.merged_ingest_count} ingests, deleted {done.deleted_state_count} old states "
        f"and {done.folders} folders"
    )


@app.command("judge")
def judge_captures(
    captures: Annotated[
        list[str],
        typer.Option(
            "--captures",
            help="Folder to search for pcapng and pcap files, or a URL or pattern of such folders. Repeatable.",
        ),
    ],
    lake: Annotated[str, typer.Option("--lake", help="The lake to write the verdicts to.")] = "",
    out: Annotated[
        str,
        typer.Option(
            "--out",
            help="Instead of --lake: a new folder, to which a run folder is written for each folder of captures.",
        ),
    ] = "",
    name: Annotated[
        str, typer.Option("--name", help="The name of the captured system, for captures without a run.json.")
    ] = "",
    version: Annotated[str, typer.Option("--version", help="The version of the captured system.")] = "",
    profile: Annotated[str, typer.Option("--profile", help="The profile of the captured system.")] = "",
    sut: Annotated[
        str,
        typer.Option(
            "--sut",
            help="The address of the captured system, ADDRESS or ADDRESS:PORT, for captures that other tools made.",
        ),
    ] = "",
    largest: Annotated[int, typer.Option("--largest", min=1, help="Maximum size of a capture, in MiB.")] = 64,
    seconds: Annotated[
        float, typer.Option("--seconds", min=1, help="Maximum time for judging a capture, in seconds.")
    ] = 60,
    replace: Annotated[
        bool,
        typer.Option(
            "--replace",
            help="If the captures of a folder have changed since they were judged, replace the run of this folder.",
        ),
    ] = False,
    master: SparkMasterOption = "local[*]",
    conf: SparkSettingsOption = None,
) -> None:
    """Judge captures against all passive rules, on the executors of Spark.

    Exit 0: all captures were judged; 2: a folder was refused, or the command failed; 3: done, but some captures could
    not be judged (table `rejected`).
    """
    command = "lake judge"
    with print_error_in_one_line(command):
        if bool(lake) == bool(out):
            raise RollupError("give either --lake URI or --out FOLDER as the destination of the verdicts")
        require_existing_argument(captures, "capture", may_be_files=True)
        require_writable_folder(out, "--out")
        from reports.lake import judging
        from reports.lake.captures import CapturedSystem

        given, bounds = CapturedSystem(name, version, profile, sut), judging.JudgingLimits(largest << 20, seconds)
        if out:
            with open_session(command, master, conf, judging.ARROW_SETTINGS) as (spark, progress):
                written = judging.judge_into_folder(spark, captures, given, bounds, out, progress)
            for line in written.refused:
                typer.echo(f"mqconform {command}: {line}", err=True)
            _report_judged_captures(written)
            typer.echo(f"{len(written.folders)} run folders in {one_line(out)}")
            raise typer.Exit(
                BAD_INPUT_EXIT_CODE if written.refused else LINES_REJECTED_EXIT_CODE if written.rejected else 0
            )
        with open_lake(command, lake, master, conf, new=True, settings=judging.ARROW_SETTINGS) as (at, stage):
            report, written = judging.judge_into_lake(at, captures, given, bounds, replacing=replace, stage=stage)
    _report_judged_captures(written)
    print_report(report, command, captures=True)
    exit_with_report_code([report])


def _report_judged_captures(written: WrittenRunFolders) -> None:
    """Report the number of judged captures, and the reason for each rejected capture."""
    for line in written.rejected:
        typer.echo(f"mqconform lake judge: rejected: {line}", err=True)
    rejected = f", {len(written.rejected)} rejected" if written.rejected else ""
    typer.echo(f"{written.judged} captures judged{rejected}")
