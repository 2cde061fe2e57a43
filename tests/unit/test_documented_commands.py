"""Each command of mqconform is shown in the documentation with what it prints."""

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
"""Commands after ``$`` with a line of output below them."""


def commands() -> list[str]:
    """Return the commands, those below others by the name of the one above."""
    group = get_group(app)
    return sorted(group.list_commands(typer.Context(group)))


@pytest.mark.parametrize("command", commands())
def test_every_command_has_its_output_in_the_documentation(command: str) -> None:
    assert command in SHOWN
