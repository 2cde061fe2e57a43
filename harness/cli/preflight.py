"""The command ``mqconform preflight``."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from harness.interrupts import unwind_on_signals

EXIT_SYSTEM_NOT_READY = 1
"""The exit code for a SUT that does not match its SUT file: a declared part is missing or different."""


class PreflightFormat(StrEnum):
    """The output formats of ``mqconform preflight``."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(preflight)


def preflight(
    sut: Annotated[Path, typer.Option(help="The TOML file that describes the system under test.")],
    format_: Annotated[PreflightFormat, typer.Option("--format", help="Format of the output.")] = PreflightFormat.TEXT,
) -> None:
    """Check that the system provides everything that the SUT file declares.

    The command sends test messages, which expire within 10 seconds, to the queues in the SUT file; with the facility
    queue_control, the command creates a queue for these messages and deletes the queue again. Nothing else in the
    system is changed.
    """
    from harness.preflight.preflight import run_preflight
    from harness.proof.inventory import take_inventory
    from harness.sut.sut_file import load_sut_file

    with unwind_on_signals():
        report = run_preflight(load_sut_file(sut), take_inventory)
    if format_ is PreflightFormat.JSON:
        typer.echo(json.dumps(report.as_json(), indent=1))
    else:
        for line in report.text():
            typer.echo(line)
    raise typer.Exit(0 if report.is_system_ready else EXIT_SYSTEM_NOT_READY)
