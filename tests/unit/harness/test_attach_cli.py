"""The command `attach`: its report in each format, its exit codes, and bad input, which is refused before the agent
starts.
"""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.cli.main import app
from harness.errors import UsageError
from harness.paths import SUITES
from harness.sut.sut_file import load_sut_file

EXAMPLE = shlex.join([sys.executable, "-S", "-E", str(SUITES.parent / "examples" / "agent" / "agent.py")])


class Rules:
    """A replacement for the inventory of rules."""

    @staticmethod
    def list_judgeable_rules(have: set[str]) -> frozenset[str]:
        return frozenset(have & {"send", "inspect", "ping"})


@pytest.fixture(autouse=True)
def rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.proof.inventory.take_inventory", Rules)


def run(*arguments: object, **environment: str) -> Any:
    return CliRunner().invoke(app, ["attach", *map(str, arguments)], env=environment)


def test_attach_prints_lines_and_writes_draft(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    done = run("--command", EXAMPLE, "--write", path)
    assert done.exit_code == 0, done.output
    lines = done.stdout.splitlines()
    assert lines[0].startswith("toy queues 1.0 (Example), queue manager ")
    assert "inspect                         missing          costs 1 rules" in lines
    assert lines[-1] == "2 of 3 rules can be judged with the announced facilities and every capability"
    assert list(load_sut_file(path).control.command) == shlex.split(EXAMPLE)


def test_attach_prints_table_on_terminal() -> None:
    done = run("--command", EXAMPLE, FORCE_COLOR="1", COLUMNS="120")
    assert done.exit_code == 0
    assert "\u2502" in done.stdout


def test_attach_json_includes_capabilities_of_sut_file(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    command = json.dumps(shlex.split(EXAMPLE))
    path.write_text(
        f'[sut]\nname = "x"\n[driver]\nkind = "external"\n[control]\nkind = "stdio"\ncommand = {command}\n', "utf-8"
    )
    done = run("--sut", path, "--format", "json")
    assert done.exit_code == 0, done.output
    tree = json.loads(done.stdout)
    assert tree["rules"] == {"judged": 1, "of": 3, "capabilities": f"the capabilities of {path}"}
    assert tree["facilities"]["send"] == {"announced": True, "state": "works", "costs": 0, "costs_at_last": 0}
    assert {one["verb"]: one["state"] for one in tree["verbs"]}["receive"] == "works"


def test_attach_to_nonconforming_agent_exits_with_1(tmp_path: Path) -> None:
    script = tmp_path / "agent.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(SUITES.parent / 'examples' / 'agent')!r}); import agent\n"
        "agent.FACILITIES.append('fly')\nagent.main()\n"
    )
    done = run("--command", shlex.join([sys.executable, str(script)]))
    assert done.exit_code == 1
    assert "wrong: the answer to identity announces fly, which is not a facility" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "no agent is specified"),
        (("--command", "x", "--address", "h:1"), "two agents"),
        (("--command", "x", "--write", "/dev/null"), "already exists"),
        (("--sut", "{file}", "--write", "new.toml"), "--write needs --command or --address"),
        (("--sut", "{file}"), "has no table [control], or its driver"),
        (("--sut", "/nowhere.toml"), "nowhere.toml cannot be read"),
    ],
)
def test_invalid_attach_arguments_give_one_line_error(tmp_path: Path, arguments: tuple[str, ...], words: str) -> None:
    path = tmp_path / "sut.toml"
    path.write_text('[sut]\nname = "x"\n[driver]\nkind = "external"\n', "utf-8")
    done = run(*(str(path) if each == "{file}" else each for each in arguments))
    assert isinstance(done.exception, UsageError)
    assert words in str(done.exception)
    assert str(done.exception).isprintable()
