"""The command ``mqconform check``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file
from harness.errors import MqconformError, UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_NOTHING_JUDGED, EXIT_OK, EXIT_TOO_FEW_CHECKS, EXIT_USAGE
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from collections.abc import Sequence

    from harness.foreign.check import CheckedCapture
    from harness.foreign.findings import SystemFinding


class CheckFormat(StrEnum):
    """The output formats of ``mqconform check``."""

    TEXT = "text"
    JSON = "json"
    JUNIT = "junit"


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(check)


def check(
    captures: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Capture files in the format pcap or pcapng; they may be compressed with gzip."
        ),
    ],
    sut: Annotated[
        str, typer.Option("--sut", help="Judge only the system at this IP address (ADDRESS or ADDRESS:PORT).")
    ] = "",
    profile: Annotated[str, typer.Option("--profile", help="The release of Windows that the systems run.")] = "",
    port: Annotated[
        list[int] | None, typer.Option("--port", help="A further TCP port on which queue managers listen.")
    ] = None,
    checksums: Annotated[
        bool,
        typer.Option(
            "--checksums",
            help="Skip packets with a wrong TCP or UDP checksum. "
            "Do not use this option for captures that a sending machine recorded.",
        ),
    ] = False,
    format_: Annotated[CheckFormat, typer.Option("--format", help="Format of the output.")] = CheckFormat.TEXT,
    annotated: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT.pcapng", help="Write a copy of the capture to this file, with verdicts as comments on frames."
        ),
    ] = None,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Also write the report as an HTML page to this file.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the report to this file instead of standard output.")] = None,
) -> None:
    """Judge every queue manager in captures of other tools against all passive rules.

    Exit 0: no rule is broken; 1: a rule is broken; 2: a file cannot be read; 3: a capture contains no packet from a
    queue manager that can be judged; 5: such packets exist, but no rule could be decided.
    """
    from harness.foreign.annotated import write_annotated_capture
    from harness.foreign.check import check_capture
    from harness.foreign.findings import build_findings
    from harness.foreign.report import REPORT_FORMATTER_BY_FORMAT_NAME
    from harness.foreign.systems import RequestedSystem
    from harness.rules.catalogue import load_catalogue
    from harness.rules.releases import RELEASES
    from reference_qm.releases.names import NO_RELEASE

    if profile and profile not in RELEASES:
        raise UsageError(f"--profile {profile}: unknown profile; known: {', '.join(RELEASES)}")
    wanted = RequestedSystem.parse(sut) if sut else None
    if annotated is not None and len(captures) > 1:
        raise UsageError(
            f"--annotated {annotated}: this option annotates a copy of a single capture; give exactly one FILE"
        )
    for file, option in ((out, "--out"), (annotated, "--annotated"), (html, "--html")):
        if file is not None:
            require_writable_file(file, option)
    catalogue = load_catalogue()
    findings: list[tuple[CheckedCapture, list[SystemFinding]]] = []
    refused = False
    with unwind_on_signals():
        for path in captures:
            try:
                checked = check_capture(
                    path, catalogue, wanted, profile or NO_RELEASE, frozenset(port or ()), checksums=checksums
                )
            except (MqconformError, OSError) as error:
                refused = True
                typer.echo(f"mqconform check: {_describe_error(error, path)}", err=True)
                continue
            findings.append((checked, build_findings(checked)))
        if annotated is not None and findings:
            with convert_write_errors_to_usage_errors(annotated, "--annotated"):
                write_annotated_capture(findings[0][0].path, annotated, findings[0][1])
    if html is not None:
        from harness.foreign.page import build_page

        with convert_write_errors_to_usage_errors(html, "--html"):
            html.write_text(build_page(findings), encoding="utf-8")
    text = REPORT_FORMATTER_BY_FORMAT_NAME[format_](findings) if findings else ""
    if out is None:
        typer.echo(text, nl=False)
    else:
        with convert_write_errors_to_usage_errors(out):
            out.write_text(text, encoding="utf-8")
    raise typer.Exit(_choose_exit_code(findings, refused=refused))


def _describe_error(error: MqconformError | OSError, path: Path) -> str:
    return f"{path}: {error.strerror or error}" if isinstance(error, OSError) else str(error)


def _choose_exit_code(findings: Sequence[tuple[CheckedCapture, list[SystemFinding]]], *, refused: bool) -> int:
    from harness.judging.verdicts import Verdict

    if any(system.of(Verdict.FAIL) for _, systems in findings for system in systems):
        return EXIT_NOT_CONFORMANT
    if refused:
        return EXIT_USAGE
    for checked, systems in findings:
        if not any(system.kinds for system in (one.system for one in systems)):
            typer.echo(
                f"mqconform check: {checked.path}: {checked.traffic.systems.describe_unjudged_capture()}", err=True
            )
            return EXIT_NOTHING_JUDGED
    if not any(system.decided_rule_count for _, systems in findings for system in systems):
        return EXIT_TOO_FEW_CHECKS
    return EXIT_OK
