"""The documentation shows each command of mqconform with its output."""

from __future__ import annotations

import re

import pytest
import typer
from typer.main import get_group

from harness.cli.main import app
from harness.paths import SUITES

ROOT = SUITES.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
SHOWN = set(re.findall(r"^ *\$ mqconform (\w+).*\n {0,4}[^\n$`]", TEXT, re.MULTILINE))
"""The commands that the documentation shows after ``$`` with at least one line of output."""


def commands() -> list[str]:
    """Return the names of all commands; the name of a subcommand follows the name of its group."""
    group = get_group(app)
    return sorted(group.list_commands(typer.Context(group)))


@pytest.mark.parametrize("command", commands())
def test_every_command_has_its_output_in_the_documentation(command: str) -> None:
    assert command in SHOWN
