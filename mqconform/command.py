"""The command ``mqconform``."""

from __future__ import annotations

from mqconform import search_parts


def main() -> None:
    """Run the command line."""
    search_parts()
    from harness.cli.main import main as run_command_line

    run_command_line()
