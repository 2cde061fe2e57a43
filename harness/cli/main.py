"""The command ``mqconform``. The module of a subcommand is imported only when the subcommand is called. Subcommands of
other packages are found through the entry points of the group ``mqconform.commands``; the name of an entry point is the
name of the command.
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points, version
from itertools import pairwise, takewhile
from types import MappingProxyType
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.main import get_group

from harness.errors import MqconformError, UsageError
from harness.exit_codes import EXIT_USAGE

MODULES_OF_COMMANDS = MappingProxyType(
    {
        "run": "run",
        "prove": "prove",
        "mutants": "mutants",
        "explore": "explore",
        "learn": "learn",
        "pair": "pair",
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
        "check": "check",
        "dissector": "dissector",
        "vectors": "vectors",
        "allure": "allure",
    }
)
"""The commands of the harness in the order of --help, each with its module in ``harness.cli``."""

_USAGE_EXCEPTION_TYPE: Any = typer.BadParameter.__mro__[1]
"""The exceptions that typer raises for invalid arguments. The modules that define these classes differ between versions
of typer.
"""
_ERROR_NUMBERS_OF_BAD_PATHS = (
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP),
    *(errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
)
"""The error numbers (errno) that report a problem with the disk, or with a file or folder that the user named.
"""
_NO_SUBCOMMAND_ERROR_NAME = "NoArgsIsHelpError"
"""The name of the error that typer raises for a missing subcommand after it has printed the help."""

RegisterCommand = Callable[[typer.Typer], None]
"""The type of functions that add commands to a command line."""


def _find_commands_of_other_packages() -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group="mqconform.commands")}


def find_register_function(name: str) -> RegisterCommand | None:
    """Return the function that adds a command to a command line, or None if the command does not exist."""
    if name in MODULES_OF_COMMANDS:
        register: RegisterCommand = import_module(f"harness.cli.{MODULES_OF_COMMANDS[name]}").register
        return register
    entry = _find_commands_of_other_packages().get(name)
    return None if entry is None else entry.load()


class LazyCommands(TyperGroup):
    """A command line that imports the module of a command only when the command is requested."""

    def list_commands(self, _ctx: Any) -> list[str]:
        """Return the names of all commands. The commands of other packages are last."""
        return [*MODULES_OF_COMMANDS, *sorted(_find_commands_of_other_packages())]

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Return the command with the given name, or None for an unknown name."""
        register = find_register_function(cmd_name)
        if register is None:
            return None
        found = typer.Typer()
        register(found)
        return get_group(found).commands[cmd_name]

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the first argument names. Return its name, the command, and the remaining
        arguments. Raise UsageError for an unknown command, and for an option whose value is missing.
        """
        if args[0] not in self.list_commands(ctx):
            from difflib import get_close_matches

            near = get_close_matches(args[0], self.list_commands(ctx), n=1)
            hint = f"did you mean {near[0]}?" if near else "`mqconform --help` lists the commands"
            raise UsageError(f"there is no command {args[0]!a}; {hint}")
        name, command, rest = super().resolve_command(ctx, args)
        refuse_options_as_values(command, rest)
        return name, command, rest


def refuse_options_as_values(command: Any, words: Sequence[str]) -> None:
    """Raise UsageError for an option whose value is missing, because typer would interpret the next option as the
    value.
    """
    if words and words[0] in getattr(command, "commands", {}):
        refuse_options_as_values(command.commands[words[0]], words[1:])
        return
    options = {name: one for one in command.params for name in (*one.opts, *one.secondary_opts) if name[0] == "-"}
    for word, following in pairwise(takewhile(lambda one: one != "--", words)):
        if word in options and not options[word].is_flag and following in options:
            raise UsageError(f"{word}: its value is missing; the next word is the option {following}")


app = typer.Typer(
    name="mqconform",
    help="Conformance tests for Microsoft Message Queuing (MSMQ).",
    cls=LazyCommands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mqconform {version('mqconform')}")
        raise typer.Exit


@app.callback()
def handle_common_options(
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Conformance tests for Microsoft Message Queuing (MSMQ)."""


def main() -> None:
    """Run the command line. For an expected error, print a one-line message and return exit code 2."""
    try:
        code = app(standalone_mode=False)
    except MqconformError as error:
        _exit_with_error(str(error))
    except OSError as error:
        if error.filename is None or error.errno not in _ERROR_NUMBERS_OF_BAD_PATHS:
            raise
        _exit_with_error(f"{os.fsdecode(error.filename)}: {error.strerror}")
    except _USAGE_EXCEPTION_TYPE as error:
        if type(error).__name__ == _NO_SUBCOMMAND_ERROR_NAME:
            sys.exit(EXIT_USAGE)
        where = error.ctx.command_path if error.ctx is not None else "mqconform"
        said = " ".join(error.format_message().split()).rstrip(".")
        _exit_with_error(said if said.endswith("?") else f"{said}; `{where} --help` lists the options")
    gc.freeze()  # the process ends: otherwise Python would search all objects of the run for garbage, several times
    sys.exit(code)


def _exit_with_error(line: str) -> NoReturn:
    typer.echo(f"mqconform: {line}", err=True)
    sys.exit(EXIT_USAGE)
