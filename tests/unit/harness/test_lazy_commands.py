"""What the command line imports: no more than the command that is called needs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.main import get_group

from harness.cli.main import OWN, app

IMPORTED = "import sys; sys.argv = ['mqconform', *{arguments!r}]\nfrom harness.cli.main import main\n" + (
    "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\nIMPORTED', *sys.modules)"
)


def imported_by(*arguments: str) -> set[str]:
    code = IMPORTED.format(arguments=list(arguments))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("IMPORTED ")[2].split())


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], {"scapy", "pytest", "rich", "reference_qm", "reports", "suites", "harness.rules"}),
        (["serve", "--help"], {"scapy", "pytest", "reports", "suites", "harness.rules", "harness.run"}),
    ],
)
def test_a_command_imports_only_what_it_needs(arguments: list[str], unneeded: set[str]) -> None:
    assert imported_by(*arguments) & unneeded == set()


def test_every_command_can_be_loaded_by_its_name() -> None:
    group = get_group(app)
    names = group.list_commands(None)  # type: ignore[arg-type]
    assert set(OWN) | {"demo", "lake", "read", "rollup", "serve", "windows"} == set(names)
    assert [group.get_command(None, name).name for name in names] == names  # type: ignore[arg-type, union-attr]
