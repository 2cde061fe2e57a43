"""The command ``mqconform attach``."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from harness.cli.outputs import require_writable_file
from harness.cli.table_format import TableFormat
from harness.errors import UsageError
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from harness.attach.attach import JudgeableRuleCounts
    from harness.attach.findings import AgentFindings
    from harness.sut.sut_file import SutFile
    from harness.sut.wires import ControlRoute

EXIT_NONCONFORMING_AGENT = 1
_STYLE_BY_VERB_STATE = {"works": "green", "missing": "yellow", "wrong": "red", "silent": "red", "refused": "red"}


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(attach)


def attach(
    command: Annotated[
        str | None,
        typer.Option(
            help="The command that starts an agent with the control channel on its standard input and output."
        ),
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="The address HOST:PORT of an agent that listens for a connection.")
    ] = None,
    sut: Annotated[
        Path | None,
        typer.Option(
            help="A SUT file. The rules are counted for its capabilities. Its agent is tested, unless --command or "
            "--address is given."
        ),
    ] = None,
    write: Annotated[Path | None, typer.Option(help="Write the draft of a SUT file. The file must not exist.")] = None,
    format_: Annotated[TableFormat, typer.Option("--format", help="Format of the output.")] = TableFormat.TABLE,
    disruptive: Annotated[
        bool, typer.Option(help="Also try the verbs that take the system offline, restart it or reset it.")
    ] = False,
) -> None:
    """Test each verb of an agent, and count the rules that cannot be judged because a facility is missing."""
    from harness.attach.attach import (
        call_every_agent_verb,
        count_judgeable_rules,
        draft_sut_file,
        format_findings_as_json,
        list_report_lines,
        write_sut_file_draft,
    )
    from harness.proof.inventory import take_inventory
    from harness.sut.sut_file import load_sut_file

    if write is not None and command is None and address is None:
        raise UsageError("--write needs --command or --address, because the draft names the agent")
    if write is not None:
        require_writable_file(write, "--write", new=True)
    file = None if sut is None else load_sut_file(sut)
    route = _choose_control_route(command, address, file)
    queue = None if file is None else file.queues.plain
    with unwind_on_signals():
        found = call_every_agent_verb(route, f"{time.time_ns() // 1_000_000:x}", queue, disruptive=disruptive)
    counted = count_judgeable_rules(take_inventory().list_judgeable_rules, found.offered_facilities, file)
    if format_ is TableFormat.JSON:
        typer.echo(json.dumps(format_findings_as_json(found, counted), indent=1))
    elif Console().is_terminal:
        _print_table(found, counted)
    else:
        for line in list_report_lines(found, counted):
            typer.echo(line)
    if write is not None:
        write_sut_file_draft(write, draft_sut_file(found, address, command))
        typer.echo(f"{write} is a draft of the SUT file: enter the system's addresses and capabilities in it", err=True)
    raise typer.Exit(0 if found.matches_announced_facilities else EXIT_NONCONFORMING_AGENT)


def _choose_control_route(command: str | None, address: str | None, file: SutFile | None) -> ControlRoute:
    from harness.attach.attach import make_command_control_route, make_tcp_control_route
    from harness.sut.external_driver import ExternalDriver

    if command is not None and address is not None:
        raise UsageError("--command and --address name two agents: give only one of these options")
    if command is not None:
        return make_command_control_route(command)
    if address is not None:
        return make_tcp_control_route(address)
    if file is None:
        raise UsageError("no agent is specified: give --command, --address, or --sut FILE with a table [control]")
    if file.driver.kind != "external" or (route := ExternalDriver(file, None).control_route) is None:
        raise UsageError(
            f'{file.path} has no table [control], or its driver is not "external"; give --command or --address'
        )
    return route


def _print_table(found: AgentFindings, counted: JudgeableRuleCounts) -> None:
    """Print the report as a table; texts from an agent are never interpreted as markup."""
    from harness.attach.attach import describe_identity_of_agent, list_report_rows_of_facilities, list_summary_lines

    table = Table("facility", "verb", "found", "")
    for facility, verb, state, said in list_report_rows_of_facilities(found, counted):
        style = _STYLE_BY_VERB_STATE.get(state, "yellow" if facility else "")
        table.add_row(Text(facility, "bold"), Text(verb), Text(state, style), Text(said))
    console = Console()
    console.print(Text(describe_identity_of_agent(found)))
    console.print(table)
    for line in list_summary_lines(found, counted):
        console.print(Text(line))
