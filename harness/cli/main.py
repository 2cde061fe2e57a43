"""The command ``mqconform``. The module of a subcommand is imported when that subcommand is called, not before.

Subcommands of other parts come in through the entry points ``mqconform.commands``: the name is that of the command.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from types import MappingProxyType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from harness.errors import MqconformError
from harness.exit_codes import EXIT_USAGE

OWN = MappingProxyType(
    {
        "run": "run",
        "prove": "prove",
        "mutants": "mutants",
        "rules": "rules",
        "explain": "rules",
        "provision": "provision",
        "attach": "attach",
        "diff": "results",
        "summary": "results",
        "baseline": "results",
        "certify": "certificates",
        "verify": "certificates",
        "preflight": "preflight",
        "replay": "replay",
        "allure": "allure",
    }
)
"""The commands of the harness, in the order in which --help has them, each with its module in ``harness.cli``."""

Register = Callable[[typer.Typer], None]
"""Adds commands to a command line."""


def _others() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="mqconform.commands")}


def find_register(name: str) -> Register | None:
    """Return the function that adds a command to a command line; None for a command that does not exist."""
    if name in OWN:
        register: Register = import_module(f"harness.cli.{OWN[name]}").register
        return register
    entry = _others().get(name)
    return None if entry is None else entry.load()


class LazyCommands(TyperGroup):
    """A command line that imports a command's module when the command is asked for."""

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the names of all commands, those of other parts last."""
        return [*OWN, *sorted(_others())]

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Return a command by name; None for one that does not exist."""
        register = find_register(cmd_name)
        if register is None:
            return None
        found = typer.Typer()
        register(found)
        return get_group(found).commands[cmd_name]


app = typer.Typer(
    name="mqconform",
    help="Conformance tests for Microsoft Message Queuing (MSMQ).",
    cls=LazyCommands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _say_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mqconform {version('mqconform')}")
        raise typer.Exit


@app.callback()
def options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Conformance tests for Microsoft Message Queuing (MSMQ)."""


def main() -> None:
    """Run the command line; every expected error is one line and exit code 2."""
    try:
        app()
    except MqconformError as error:
        typer.echo(f"mqconform: {error}", err=True)
        sys.exit(EXIT_USAGE)
