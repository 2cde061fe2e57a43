"""The command ``mqconform run``."""

from __future__ import annotations

import gc
import sys
from contextlib import redirect_stdout
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.errors import UsageError
from harness.exit_codes import EXIT_USAGE
from harness.lengths_of_time import ACCEPTED_FORMS_OF_SECONDS, parse_seconds

DURATION_METAVAR = "TIME"
"""The placeholder that the help shows for the value of an option that is a length of time."""


class RunFormat(StrEnum):
    """The formats of the output of ``mqconform run``."""

    TEXT = "text"
    JSON = "json"


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(run)


def run(
    sut: Annotated[Path | None, typer.Option(help="The TOML file that describes the system under test.")] = None,
    topology: Annotated[
        Path | None, typer.Option(help="The TOML file of a sender, a router and a receiver, instead of --sut.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The folder of the run. The folder must not contain a run.")] = None,
    resume: Annotated[
        bool, typer.Option(help="Continue the run in --out. Give the same --rule, --select and -k again.")
    ] = False,
    rule: Annotated[list[str] | None, typer.Option(help="Run only checks that cover this rule. Repeatable.")] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(
            help="Run only checks of matching rules, for example "
            "MQQB-3.1.5, level=MUST, role=acceptor or observe=wire. "
            "Repeatable; a check must match one of the values of each criterion."
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            help="A file of known deviations. The exit code is 1 if a rule fails that the file does not list, "
            "or if a listed rule no longer fails."
        ),
    ] = None,
    keyword: Annotated[
        str | None, typer.Option("-k", help="Run only checks whose names match this expression, as in pytest -k.")
    ] = None,
    workers: Annotated[int, typer.Option(help="The number of checks that run in parallel.")] = 1,
    deadline: Annotated[
        str | None,
        typer.Option(
            metavar=DURATION_METAVAR, help="Start no check after this time. --resume runs the remaining checks."
        ),
    ] = None,
    maxfail: Annotated[int | None, typer.Option(min=1, help="End the run after this number of failed checks.")] = None,
    check_limit: Annotated[
        str | None,
        typer.Option(metavar=DURATION_METAVAR, help="The longest time that a check may take; 900 seconds by default."),
    ] = None,
    strength: Annotated[
        int,
        typer.Option(
            min=1,
            max=3,
            help="In varied checks, cover every combination of values of this many parameters; "
            "with 1, each check runs only once.",
        ),
    ] = 2,
    allure: Annotated[
        bool, typer.Option(help="Also write allure-results. `mqconform allure` makes them later from any run.")
    ] = False,
    wait: Annotated[
        str | None, typer.Option(metavar=DURATION_METAVAR, help="How long to wait for a system that is not ready yet.")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("-v", help="Print a line for each check, and pytest's report of failures.")
    ] = False,
    format_: Annotated[
        RunFormat,
        typer.Option("--format", help="With json, print the result as JSON, and all other text to standard error."),
    ] = RunFormat.TEXT,
) -> None:
    """Run the checks against a system under test, as ``pytest suites --sut FILE --out DIR`` does."""
    import pytest

    from harness.run.options import build_pytest_arguments

    # A run does not use other installed plugins, which take a tenth of the time of a short run.
    plugins = ("--disable-plugin-autoload",)
    # -qq: pytest's last line would count checks that broke off as failed; the plugin ends with the verdicts instead.
    shown = ("-v", "--tb=short") if verbose else ("-qq", "--live", "--tb=no", "-rN")
    arguments = [*build_pytest_arguments(), *plugins, *shown, "--no-header", f"--workers={workers}"]
    if sut is None and topology is None:
        raise UsageError("no system is specified: give its SUT file as --sut, or a topology file as --topology")
    given: dict[str, Any] = {
        "--sut": sut and sut.resolve(),
        "--topology": topology and topology.resolve(),
        "--out": out,
        "--rule": rule,
        "--select": select,
        "--baseline": baseline and baseline.resolve(),
        "-k": keyword,
        "--deadline": _parse_seconds("--deadline", deadline),
        "--check-limit": _parse_seconds("--check-limit", check_limit),
        "--maxfail": maxfail,
        "--strength": strength,
        "--wait": _parse_seconds("--wait", wait),
    }
    for option, values in given.items():
        for value in values if isinstance(values, list) else filter(None, [values]):
            arguments += [option, str(value)]
    arguments += [option for option, wanted in (("--resume", resume), ("--allure", allure)) if wanted]
    if sut is not None:
        _announce_packets(sut)
    gc.disable()  # imported objects are never garbage; the plugin enables it when the checks are collected
    try:
        code = _run_pytest(arguments, format_)
    finally:
        gc.enable()
    raise typer.Exit(EXIT_USAGE if code is pytest.ExitCode.USAGE_ERROR else int(code))


def _parse_seconds(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    if (seconds := parse_seconds(text)) is None:
        raise UsageError(f"{option} {text!a} is not a duration; give {ACCEPTED_FORMS_OF_SECONDS}")
    return seconds


def _run_pytest(arguments: list[str], format_: RunFormat) -> int:
    """Run pytest, print the result as JSON if this format is requested, and return the exit code of pytest."""
    import pytest

    if format_ is RunFormat.TEXT:
        return pytest.main(arguments)
    from harness.cli.result import RunStoringPlugin

    result = RunStoringPlugin()
    with redirect_stdout(sys.stderr):
        code = pytest.main(arguments, [result])
    typer.echo(result.as_json())
    return code


def _announce_packets(path: Path) -> None:
    from harness.sut.sut_file import is_loopback, load_sut_file

    driver = load_sut_file(path).driver
    if driver.kind != "virtual" and not is_loopback(driver.address):
        typer.echo(
            f"this run sends packets, some of them malformed, from {driver.peer_address} to {driver.address}: "
            f"sessions to TCP port {driver.tcp_port}, pings to UDP port {driver.ping_port}; the system may connect to "
            f"TCP port {driver.peer_tcp_port} of {driver.peer_address}",
            err=True,
        )
