"""of the SUT file: one command for each verb replaces an agent."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from harness.environment import RealEnvironment
from harness.errors import HarnessError, SutUnavailable, UsageError
from harness.sut.command_control import CommandControl, list_facilities
from harness.sut.control import ContractBroken, ControlRefused, Unsupported
from harness.sut.sut_file import parse_sut_file
from reference_qm.surface.inputs import Endpoint

WHO = UUID(int=7)
MESSAGE = f"{{{WHO}}}\\1"
NOWHERE = Endpoint("127.0.0.1", 1)


@pytest.fixture
def environment() -> Iterator[RealEnvironment]:
    with closing(RealEnvironment()) as made:
        yield made


def control(environment: RealEnvironment, timeout_ms: int = 60_000, **programs: str) -> CommandControl:
    """Return a control channel whose commands are Python programs."""
    commands = {verb: (sys.executable, "-c", program) for verb, program in programs.items()}
    return CommandControl(environment, commands, timeout_ms, lambda: WHO, NOWHERE)


def test_control_verb_runs_its_command_with_arguments_as_json(environment: RealEnvironment, tmp_path: Path) -> None:
    given = tmp_path / "given.json"
    program = (
        "import json, sys\n"
        f"open({str(given)!r}, 'w').write(sys.stdin.read())\n"
        f"print(json.dumps({{'message_id': {MESSAGE!r}}}))"
    )
    answer = control(environment, send=program).call("send", to="DIRECT=TCP:127.0.0.2\\private$\\a", label="é")
    assert answer["message_id"] == MESSAGE
    assert json.loads(given.read_text()) == {"to": "DIRECT=TCP:127.0.0.2\\private$\\a", "label": "é"}


def test_control_command_without_output_counts_as_success(environment: RealEnvironment) -> None:
    assert control(environment, delete_queue="pass").call("delete_queue", name="x")["ok"]


def test_identity_without_command_is_taken_from_a_session(environment: RealEnvironment) -> None:
    assert control(environment).call("identity") == {"guid": str(WHO)}


@pytest.mark.parametrize(
    ("program", "error", "said"),
    [
        ("import sys; sys.exit('no right\\nto write')", ControlRefused, "refused send: no right to write"),
        ("raise SystemExit(3)", ControlRefused, "no reason is given"),
        ('print(\'{"ok": false, "error": "full"}\')', ControlRefused, "full"),
        ('print(\'{"ok": false, "unsupported": true, "error": "never"}\')', Unsupported, "does not offer send"),
        ("print('done')", ContractBroken, "did not print JSON: done"),
        ("print([])", ContractBroken, "did not print a JSON object"),
        ("print('{\"message_id\": 7}')", ContractBroken, "message_id"),
    ],
)
def test_failed_control_command_gives_refusal_or_error_with_reason(
    environment: RealEnvironment, program: str, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        control(environment, send=program).call("send", to="x")


def test_control_verb_without_a_command_is_not_offered(environment: RealEnvironment) -> None:
    with pytest.raises(Unsupported, match=r"\[commands\] has no pause_queue"):
        control(environment).call("pause_queue", to="x")
    with pytest.raises(Unsupported, match="cannot wait"):
        control(environment).begin("receive", queue="x")
    with pytest.raises(HarnessError):
        control(environment).answer(1)


def test_hanging_control_command_is_killed_with_its_children(environment: RealEnvironment) -> None:
    program = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    with pytest.raises(SutUnavailable, match="did not exit within 200 ms"):
        control(environment, timeout_ms=200, send=program).call("send", to="x")


def test_missing_control_command_is_named(environment: RealEnvironment) -> None:
    made = CommandControl(environment, {"send": ("/no/such/program",)}, 1_000, lambda: WHO, NOWHERE)
    with pytest.raises(SutUnavailable, match=r"^/no/such/program of commands.send cannot be started: No such file"):
        made.call("send", to="x")


def test_restart_command_waits_until_the_system_listens(environment: RealEnvironment) -> None:
    with pytest.raises(SutUnavailable, match=r"nothing listens at 127\.0\.0\.1:1 yet"):
        control(environment, timeout_ms=300, restart="pass").call("restart")


def test_facilities_follow_from_the_configured_verb_commands() -> None:
    assert list_facilities(["send"]) == {"send"}
    assert list_facilities(["create_queue"]) == frozenset()
    assert list_facilities(["create_queue", "delete_queue", "restart"]) == {"queue_control", "restart"}


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"commands": {"sent": ["x"]}}, "unknown verb sent"),
        ({"commands": {"send": []}}, "commands.send is empty"),
        ({"commands": {"send": "x"}}, "must be a list of strings"),
        ({"commands": []}, "must be a table"),
        ({"commands": {"send": ["x"]}, "control": {"kind": "jsonl"}}, "has no \\[control\\]"),
        ({"commands": {"send": ["x"]}, "driver": {"kind": "virtual"}}, "not virtual"),
    ],
)
def test_invalid_table_of_control_commands_is_named(tables: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        parse_sut_file({"sut": {"name": "x"}, "driver": {"kind": "external"}, **tables})
