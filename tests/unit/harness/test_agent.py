"""A command as control channel: several channels share one process, and each kind of failure gives a
one-line message.
"""

from __future__ import annotations

import gc
import multiprocessing
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from patience import PATIENCE_S

from harness.environment import RealEnvironment, VirtualEnvironment
from harness.errors import HarnessError, SutUnavailable, UsageError
from harness.sut.agent import AgentStartedByCommand
from harness.sut.control import JsonlControl
from harness.sut.external_driver import ExternalDriver
from harness.sut.sut_file import parse_sut_file

RECORDS = """
import json, os, sys
asked = []
for line in sys.stdin:
    asked.append(json.loads(line))
    if asked[-1]["verb"] != "receive":
        reply = {"id": asked[-1]["id"], "ok": True, "asked": asked, "pid": os.getpid()}
        reply |= {"handle": 7, "remote": 9, "queues": [], "outgoing": []}
        sys.stdout.write(json.dumps(reply) + "\\n")
        sys.stdout.flush()
"""
"""An agent that answers every request except `receive` with all requests that it has received so far."""
ONE_ANSWER = "import sys; sys.stdin.readline(); sys.stdout.write({!r}); sys.stdout.flush(); sys.stdin.read()"


@contextmanager
def agent(script: str, folder: Path, *, answer_ms: int = PATIENCE_S * 1_000) -> Iterator[AgentStartedByCommand]:
    made = AgentStartedByCommand(lambda: [sys.executable, "-S", "-E", "-c", script], folder / "control.log", answer_ms)
    try:
        yield made
    finally:
        made.end()


@pytest.fixture
def environment() -> Iterator[RealEnvironment]:
    made = RealEnvironment()
    yield made
    made.close()


def verbs(control: JsonlControl) -> list[tuple[str, dict[str, Any]]]:
    asked = control.call("list")["asked"]
    return [(one.pop("verb"), {name: value for name, value in one.items() if name != "id"}) for one in asked]


def test_control_channels_share_an_agent_process_with_separate_answers(
    environment: RealEnvironment, tmp_path: Path
) -> None:
    with agent(RECORDS, tmp_path) as made:
        first, second = JsonlControl(environment, made), JsonlControl(environment, made)
        numbers = [first.begin("list"), second.begin("list")]
        assert first.call("list")["pid"] == second.call("list")["pid"]
        assert first.answer(numbers[1]) is second.answer(numbers[0]) is None
        assert [first.answer(numbers[0])["id"], second.answer(numbers[1])["id"]] == numbers  # type: ignore[index]


def test_control_channel_survives_closed_environment_of_a_second_channel(
    environment: RealEnvironment, tmp_path: Path
) -> None:
    with agent(RECORDS, tmp_path) as made:
        other = RealEnvironment()
        pid = JsonlControl(other, made).call("list")["pid"]
        other.close()
        assert JsonlControl(environment, made).call("list")["pid"] == pid


def test_closed_channel_cancels_its_requests_and_closes_its_handles(
    environment: RealEnvironment, tmp_path: Path
) -> None:
    with agent(RECORDS, tmp_path) as made:
        control, other = JsonlControl(environment, made), JsonlControl(environment, made)
        waiting = control.begin("receive", queue="x", timeout_ms=None)
        control.call("open_queue", queue="x")
        control.call("open_queue", queue="y")
        control.call("close_queue", handle=7)
        control.call("remote_open", queue="z")
        other.call("open_to_send", to="x")
        control.call("open_queue", queue="x")
        control.close()
        assert verbs(other)[-4:] == [
            ("cancel", {"request": waiting}),
            ("remote_close", {"remote": 9}),
            ("close_queue", {"handle": 7}),
            ("list", {}),
        ]


def test_agent_data_larger_than_pipe_buffer_arrives_in_order(environment: RealEnvironment, tmp_path: Path) -> None:
    slow = RECORDS.replace('"asked": asked', '"sizes": [len(str(one)) for one in asked]')
    with agent(slow, tmp_path) as made:
        first, second = JsonlControl(environment, made), JsonlControl(environment, made)
        for control in (first, second, first):
            control.begin("send", to="x", body="y" * 600_000)
        sizes = second.call("list")["sizes"]
        assert [size > 600_000 for size in sizes] == [True, True, True, False]


@pytest.mark.parametrize("line", ['\ufeff{"id":1,"ok":true}\n', '{"id": 1, "ok": true}\r\n'])
def test_byte_order_mark_and_crlf_of_an_agent_are_accepted(
    environment: RealEnvironment, tmp_path: Path, line: str
) -> None:
    script = f"import sys; sys.stdin.readline(); sys.stdout.buffer.write({line.encode()!r}); sys.stdout.flush()"
    with agent(script, tmp_path) as made:
        assert JsonlControl(environment, made).call("identity")["ok"] is True


ENDS = [
    (ONE_ANSWER.format("Welcome!\n"), "b'Welcome!'; nothing but answers may be written to standard output"),
    (ONE_ANSWER.format('{"ok": true}\n'), "not a JSON object with an id"),
    (
        ONE_ANSWER.format('{"id": null, "error": "too many\\n"}\n'),
        r"an answer matches no request: 'too many\n'",
    ),
    ("import sys; sys.exit('no such host\\x1b[2J')", "ended with exit status 1: no such host<U+001B>[2J; see "),
    ("pass", "ended with exit status 0 and wrote nothing to standard error"),
    ("import os; os.kill(os.getpid(), 9)", "ended with SIGKILL"),
    ("import sys; sys.stdin.read()", "identity: no answer arrived in time"),
    (
        ONE_ANSWER.format('{"id": "1", "ok": true}\n'),
        "in time; an answer arrived with an id that no request has: '1' (ids",
    ),
]


@pytest.mark.parametrize(("script", "words"), ENDS)
def test_every_way_an_agent_can_end_gives_one_line_error(
    environment: RealEnvironment, tmp_path: Path, script: str, words: str
) -> None:
    # An answer that counts for none has to come before the time is over; silence is as silent in any time.
    answer_ms = 4_000 if "in time; an answer" in words else 400 if "in time" in words else PATIENCE_S * 1_000
    with agent(script, tmp_path, answer_ms=answer_ms) as made:
        with pytest.raises(SutUnavailable) as caught:
            JsonlControl(environment, made, answer_ms=1).call("identity")
        said = str(caught.value)
        assert said.startswith(f"control command {sys.executable} -S -E -c ")
        assert words in said
        assert "\n" not in said
        if "in time" not in words:  # nor is it started again
            with pytest.raises(SutUnavailable) as caught:
                JsonlControl(environment, made)
            assert words in str(caught.value)


def test_endless_line_of_an_agent_is_not_stored(
    environment: RealEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sut.wires.MAX_LINE_BYTES", 100_000)
    with (
        agent("import sys; sys.stdout.write('x' * 1_000_000)", tmp_path) as made,
        pytest.raises(SutUnavailable, match="an answer is longer than 100000 bytes"),
    ):
        JsonlControl(environment, made).call("identity")


def test_unrequested_answers_are_reported_and_limited(environment: RealEnvironment, tmp_path: Path) -> None:
    unmatched_ids: list[Any] = []
    script = 'import sys; sys.stdout.write(\'{"id": "x"}\\n\' * 2_000); sys.stdout.flush(); sys.stdin.read()'
    with agent(script, tmp_path) as made:
        made.on_unmatched_answer = unmatched_ids.append
        with pytest.raises(SutUnavailable, match="1000 answers have an id that matches no request"):
            JsonlControl(environment, made).call("identity")
    assert unmatched_ids == ["x"] * 1_001


def test_agent_that_does_not_read_gives_one_line_error(
    environment: RealEnvironment, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.sut.agent.MAX_UNSENT_REQUEST_BYTES", 1_000_000)
    with agent("import os; os.read(2, 1)", tmp_path) as made:
        control = JsonlControl(environment, made)
        with pytest.raises(
            SutUnavailable, match="is not reading from its connection: 1000000 bytes are waiting to be sent"
        ):
            control.begin("send", body="x" * 2_000_000)


def test_missing_agent_program_cannot_be_started(environment: RealEnvironment, tmp_path: Path) -> None:
    made = AgentStartedByCommand(lambda: ["/nowhere/agent"], tmp_path / "control.log", 1_000)
    with pytest.raises(SutUnavailable, match="control command /nowhere/agent: cannot be started: No such file"):
        JsonlControl(environment, made)
    made.end()


def test_forked_worker_starts_its_own_agent_process(environment: RealEnvironment, tmp_path: Path) -> None:
    with agent(RECORDS, tmp_path) as made:
        pid = JsonlControl(environment, made).call("list")["pid"]
        ours, theirs = multiprocessing.get_context("fork").Pipe()
        worker = multiprocessing.get_context("fork").Process(target=tell_pid, args=(made, theirs.send))
        worker.start()
        assert ours.poll(20)
        assert ours.recv() not in (0, pid)
        worker.join(20)
        assert JsonlControl(environment, made).call("list")["pid"] == pid


def tell_pid(made: AgentStartedByCommand, tell: Callable[[int], None]) -> None:
    warnings.simplefilter("error")
    sys.unraisablehook = lambda unraisable: tell(0)  # nothing of the first process is let go of
    environment = RealEnvironment()
    pid = JsonlControl(environment, made).call("list")["pid"]
    gc.collect()
    tell(pid)
    environment.close()


def test_agent_process_is_refused_in_virtual_time(tmp_path: Path) -> None:
    with pytest.raises(HarnessError, match="only in real time"):
        JsonlControl(VirtualEnvironment(), AgentStartedByCommand(lambda: ["true"], None, 1_000))


@pytest.mark.parametrize(
    ("kind", "control", "words"),
    [
        ("external", {"kind": "stdio"}, "control.command is missing"),
        ("external", {"kind": "jsonl", "command": ["x"]}, 'control.command is for kind = "stdio", not for "jsonl"'),
        ("virtual", {"kind": "stdio", "command": ["x"]}, 'cannot be used with driver.kind = "virtual"'),
        ("external", {"kind": "stdio", "command": "ssh"}, "control.command must be a list of strings"),
    ],
)
def test_sut_file_with_contradictory_control_settings_is_refused(
    kind: str, control: dict[str, Any], words: str
) -> None:
    with pytest.raises(UsageError, match=words):
        parse_sut_file({"sut": {"name": "x"}, "driver": {"kind": kind}, "control": control})


# -- waiting for a system ---------------------------------------------------------------------------------------------


class Clock:
    """A clock that advances only during a sleep."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.now_s += seconds


@pytest.mark.parametrize(("up_s", "words"), [(0, None), (3, None), (60, None), (61, r"not up \(waited 60 s\)")])
def test_starting_system_is_awaited(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, up_s: int, words: str | None
) -> None:
    clock = Clock()
    monkeypatch.setattr("harness.sut.external_driver.time", clock)
    driver = ExternalDriver(parse_sut_file({"sut": {"name": "x"}, "driver": {"kind": "external"}}), tmp_path)
    driver.start_wait_s = 60

    def meet() -> None:
        if clock.now_s < up_s:
            raise SutUnavailable("not up")

    monkeypatch.setattr(driver, "_connect_once", meet)
    with pytest.raises(SutUnavailable, match=words) if words else nullcontext():
        driver._connect_repeatedly()
    assert clock.now_s == min(up_s, 60)
