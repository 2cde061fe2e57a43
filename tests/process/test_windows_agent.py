"""The agent for Windows, compiled and run by Mono, with queues of ``mqconform serve`` (tests/windows)."""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pytest
from mqconform_process import mqconform, run_json, sut, verdicts
from patience import PATIENCE_S, communicate, end_of, run_watched
from qm_process import Served, free_port, serve

from benchmarks.agents import COMPILE, WINDOWS_AGENT, compile_on_mono
from benchmarks.sshd import run_sshd
from harness.sut.control_schema import find_error_in_answer

HERE, THERE = "private$\\mqc-here", "DIRECT=TCP:127.0.0.3\\private$\\mqc-there"
LIMIT = 8 * 1024 * 1024
SELECTION = (
    "identifier_and_operations or receiving_in_transactions or internal_transactions or s3_1_7_1_07_purge_queue"
    " or test_moving or rejected_messages or closing_cursors or opening_cursors"
)
"""Selects checks of applications: queues, handles, cursors, subqueues, and both kinds of transactions."""

pytestmark = pytest.mark.skipif(shutil.which("mcs") is None, reason="mono-mcs is not installed (scripts/setup.sh)")


@dataclass
class Agent:
    """A client of the agent over the agent's standard streams. It checks that every answer keeps the contract."""

    process: subprocess.Popen[bytes]
    number: int = 0
    verbs: dict[int, str] = field(default_factory=dict)

    def say(self, line: bytes) -> None:
        self._stream(self.process.stdin).write(line + b"\n")
        self._stream(self.process.stdin).flush()

    def hear(self) -> dict[str, Any]:
        guard = threading.Timer(PATIENCE_S, self.process.kill)
        guard.start()
        line = self._stream(self.process.stdout).readline()
        guard.cancel()
        assert line.isascii(), line
        reply: dict[str, Any] = json.loads(line)
        if (verb := self.verbs.pop(reply["id"], None)) is not None:
            assert find_error_in_answer(verb, reply) is None, verb
        return reply

    def begin(self, verb: str, **arguments: Any) -> int:
        self.number += 1
        self.verbs[self.number] = verb
        self.say(json.dumps({"id": self.number, "verb": verb, **arguments}).encode())
        return self.number

    def ask(self, verb: str, **arguments: Any) -> dict[str, Any]:
        number = self.begin(verb, **arguments)
        reply = self.hear()
        assert reply["id"] == number
        return reply

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        reply = self.ask(verb, **arguments)
        assert reply["ok"] is True, (verb, reply)
        return reply

    @staticmethod
    def _stream(stream: IO[bytes] | None) -> IO[bytes]:
        assert stream is not None
        return stream


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the agent with its replacement queue system, once a session."""
    return compile_on_mono(tmp_path_factory.mktemp("agent"))


@pytest.fixture(scope="module")
def peer_port() -> int:
    """Return the port at which the system finds its peer."""
    return free_port("127.0.0.2")


@pytest.fixture(scope="module")
def served(peer_port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    listen = f"[listen]\ntcp_port = {free_port('127.0.0.1')}\nping_port = {free_port('127.0.0.1')}\n"
    rpc = free_port("127.0.0.1")
    ports = f"[rpc]\nport = {rpc}\n[remote]\ntcp_port = {peer_port}\nping_port = {peer_port}\nrpc_port = {rpc}\n"
    with serve(tmp_path_factory.mktemp("served"), "--control", "127.0.0.1:0", toml=listen + ports) as started:
        yield started


@contextlib.contextmanager
def spoken_to(program: Path, served: Served) -> Iterator[Agent]:
    command = ["env", f"MQCONFORM_SERVE={served.bound['control']}", "mono", str(program)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield Agent(process)
            communicate(process)
        finally:
            process.kill()


@pytest.fixture(scope="module")
def hearing(program: Path, served: Served) -> Iterator[Agent]:
    with spoken_to(program, served) as agent:
        yield agent


def test_windows_agent_compiles_from_its_single_file(tmp_path: Path) -> None:
    """The agent compiles from its single file as Add-Type compiles it: without assemblies of Mono, and without
    warnings.
    """
    references = [one for one in COMPILE if one != "-r:Mono.Messaging"]
    build = [*references, f"-out:{tmp_path / 'MsmqAgent.exe'}", str(WINDOWS_AGENT)]
    done = run_watched(build)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_windows_agent_carries_out_each_offered_verb(hearing: Agent, served: Served) -> None:
    here = f"DIRECT=TCP:127.0.0.1\\{HERE}"
    who = hearing.call("identity")
    assert (who["protocol"], who["guid"]) == (2, _guid(served))
    hearing.call("create_queue", name=HERE, transactional=True, label="first", quota_kb=100)
    assert hearing.call("set_queue", name=HERE, label="second")["label"] == "second"
    hearing.call("send", to=here, body="one", label="1", delivery="transactional", journal=["positive"])
    handle = hearing.call("open_queue", queue=HERE, access="receive")["handle"]
    cursor = hearing.call("open_cursor", handle=handle)["cursor"]
    message = hearing.call("peek_message", cursor=cursor)["message"]
    assert (message["body"], message["delivery"], message["journal"]) == ("one", "transactional", ["positive"])
    assert message["class"] == "MQMSG_CLASS_NORMAL"
    assert hearing.call("peek_next", cursor=cursor)["message"] is None
    hearing.call("close_cursor", cursor=cursor)
    hearing.call("create_queue", name=f"{HERE};sub")
    hearing.call("move", queue=HERE, lookup_id=message["lookup_id"], to=f"{HERE};sub")
    found = hearing.call("receive_by_lookup_id", queue=f"{HERE};sub", seek="first", lookup_id=0)["message"]
    assert found["message_id"] == message["message_id"]
    for external in (False, True):
        for outcome, count in (("abort", 0), ("commit", 1)):
            transaction = hearing.call("begin", external=external)["transaction"]
            hearing.call("send", to=here, body=outcome, transaction=transaction)
            assert hearing.call(outcome, transaction=transaction)["outcome"] in ("aborted", "committed")
            assert len(hearing.call("peek", queue=HERE)["messages"]) == count + external
    assert hearing.call("purge", queue=HERE)["purged"] == 2
    hearing.call("pause_queue", to=THERE)
    hearing.call("send", to=THERE, body="held")
    (outgoing,) = hearing.call("get_outgoing_queue", to=THERE)["outgoing"]
    assert outgoing["State"] == "OnHold"
    assert {"format_name": THERE, "state": "OnHold", "count": 1} in hearing.call("list")["outgoing"]
    hearing.call("resume_queue", to=THERE)
    remote = hearing.call("remote_open", queue=here, access="peek")["remote"]
    hearing.call("remote_close", remote=remote)
    assert hearing.call("environment") == {"id": hearing.number, "ok": True, "service": True, "coordinator": True}
    hearing.call("delete_queue", name=HERE)


def test_queue_list_omits_queues_deleted_meanwhile(hearing: Agent, served: Served) -> None:
    ended = threading.Event()

    def come_and_go() -> None:
        with served.control() as control:
            for number in itertools.takewhile(lambda _: not ended.is_set(), itertools.count()):
                control.call("create_queue", name=f"{HERE}-{number}")
                control.call("delete_queue", name=f"{HERE}-{number}")

    with ThreadPoolExecutor() as pool:
        other = pool.submit(come_and_go)
        try:
            names = {one["name"] for _ in range(50) for one in hearing.call("list")["queues"]}
        finally:
            ended.set()
        other.result()
    assert all(name.startswith(HERE) for name in names)


def _guid(served: Served) -> str:
    with served.control() as control:
        return str(control.call("identity")["guid"])


def test_waiting_read_can_be_cancelled_and_blocks_no_other_request(hearing: Agent) -> None:
    name = "private$\\mqc-waited-for"
    hearing.call("create_queue", name=name)
    waiting = hearing.begin("receive", queue=name, timeout_ms=None)
    assert hearing.call("identity")["vendor"] == "mqconform"
    hearing.begin("cancel", request=waiting)
    answers = {reply["id"]: reply for reply in (hearing.hear(), hearing.hear())}
    assert answers[waiting]["ok"] is False
    assert answers[hearing.number]["cancelled"] is True
    hearing.call("delete_queue", name=name)


def test_a_cancel_of_a_request_that_does_not_wait_is_refused(hearing: Agent) -> None:
    refusal = hearing.ask("cancel", request=987_654)
    assert (refusal["ok"], refusal["error"]) == (False, "cancel: no request 987654 waits")


def test_closing_a_queue_handle_ends_its_waiting_reads(hearing: Agent) -> None:
    name = "private$\\mqc-closed"
    hearing.call("create_queue", name=name)
    handle = hearing.call("open_queue", queue=name)["handle"]
    cursor = hearing.call("open_cursor", handle=handle)["cursor"]
    reads = {
        hearing.begin("receive", handle=handle, timeout_ms=None),
        hearing.begin("peek_message", cursor=cursor, timeout_ms=None),
    }
    closed = hearing.begin("close_queue", handle=handle)
    ended = {reply["id"]: reply for reply in (hearing.hear() for _ in range(3))}
    assert ended[closed]["ok"] is True
    errors = {str(ended[number]["error"]) for number in reads}
    # Of a read that begins after the close, which the agent may carry out before, there is no handle.
    assert all(error.startswith(("MQ_ERROR_OPERATION_CANCELLED (0xC00E0008)", "no handle ")) for error in errors)
    hearing.call("delete_queue", name=name)


def test_cancel_ends_only_the_named_read_of_a_handle(hearing: Agent) -> None:
    name = "private$\\mqc-read-twice"
    hearing.call("create_queue", name=name)
    handle = hearing.call("open_queue", queue=name)["handle"]
    first, second = (hearing.begin("receive", handle=handle, timeout_ms=PATIENCE_S * 1000) for _ in range(2))
    hearing.begin("cancel", request=first)
    ended = {reply["id"]: reply["ok"] for reply in (hearing.hear(), hearing.hear())}
    assert ended == {first: False, hearing.number: True}
    sent = hearing.begin("send", to=f"DIRECT=TCP:127.0.0.1\\{name}", body="for the other")
    brought = {reply["id"]: reply for reply in (hearing.hear(), hearing.hear())}
    assert brought[second]["message"]["message_id"] == brought[sent]["message_id"]
    hearing.call("close_queue", handle=handle)
    hearing.call("delete_queue", name=name)


def test_windows_agent_reports_impossible_verb_as_unsupported_and_refusal_as_refused(hearing: Agent) -> None:
    transaction = hearing.call("begin", external=True)["transaction"]
    for verb, arguments in (
        ("prepare", {"transaction": transaction}),
        ("reset", {}),
        ("inspect", {}),
        ("create_queue", {"name": HERE, "security_base64": "AAAA"}),
        ("send", {"to": THERE, "trace_queue": transaction}),
    ):
        assert hearing.ask(verb, **arguments).get("unsupported") is True, verb
    hearing.call("abort", transaction=transaction)
    refusal = hearing.ask("get_queue", name="private$\\mqc-nobody")
    assert (refusal["ok"], refusal.get("unsupported")) == (False, None)


def test_windows_agent_sends_and_shows_extension_and_correlation_identifier(hearing: Agent) -> None:
    queue, extension = "private$\\mqc-extended", base64.b64encode(bytes(range(256)) + b"more").decode()
    hearing.call("create_queue", name=queue)
    for number in ("01000000", "ffffffff"):
        identifier = "00112233445566778899aabbccddeeff" + number
        sent = hearing.call(
            "send", to=f"DIRECT=TCP:127.0.0.1\\{queue}", extension_base64=extension, correlation_id=identifier
        )
        shown = hearing.call("receive", queue=queue)["message"]
        assert sent["message_id"] == shown["message_id"]
        assert (shown["extension_base64"], shown["correlation_id"]) == (extension, identifier)
    hearing.call("delete_queue", name=queue)


def test_requested_signature_is_passed_to_msmq(hearing: Agent) -> None:
    """The agent passes a requested signature to MSMQ: a system without a certificate refuses the message, which it
    would send unsigned without the argument.
    """
    refused = hearing.ask("send", to=THERE, body="signed", authentication_level="sig20", hash_algorithm="sha512")
    assert (refused["ok"], refused.get("unsupported")) == (False, None)
    assert refused["error"].startswith("certificate: ")


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense",
        b"{}",
        b"[1]",
        b'{"id": "1", "verb": "identity"}',
        b'{"id": 1, "verb": 1}',
        b'{"id": 1, "id": 2, "verb": "identity"}',
        b'{"id": 1, "verb": "identity"} {}',
        b'{"id": 1e999, "verb": "identity"}',
        b'{"id": 1, "verb": "get_queue", "name": ' + b"[" * 100 + b"]" * 100 + b"}",
        b'{"id": 1, "verb": "get_queue", "name": {"a": 1}}',
        b'{"id": 1, "verb": "peek", "queue": "x", "limit": -1}',
        b'{"id": 1, "verb": "get_queue", "name": "\\u00"}',
        b"\xff\xfe\x00",
    ],
    ids=range(13),
)
def test_invalid_line_is_refused_and_next_line_is_answered(line: bytes, hearing: Agent) -> None:
    hearing.say(line)
    refusal = hearing.hear()
    assert refusal["ok"] is False
    assert refusal["error"]
    assert hearing.call("identity")["ok"]


def test_windows_agent_removes_byte_order_mark_and_carriage_returns(hearing: Agent) -> None:
    hearing.say(b'\xef\xbb\xbf{"id": 9999, "verb": "identity"}\r')
    assert hearing.hear()["id"] == 9999


def test_too_long_line_ends_connection_of_agent(program: Path, served: Served) -> None:
    with spoken_to(program, served) as agent:
        agent.say(b" " * (LIMIT + 1))
        assert str(LIMIT) in agent.hear()["error"]
        assert end_of(agent.process) == 0


def test_run_with_windows_agent_over_ssh_has_no_false_fail(
    program: Path, served: Served, peer_port: int, tmp_path: Path
) -> None:
    host, tcp_port = served.endpoint("tcp")
    agent = ("env", f"MQCONFORM_SERVE={served.bound['control']}", "mono", str(program))
    with run_sshd(tmp_path / "sshd") as over:
        text = f"""
[sut]
name = "agent-on-mono"
[driver]
kind = "external"
address = "{host}"
tcp_port = {tcp_port}
ping_port = {served.endpoint("ping")[1]}
rpc_port = {served.endpoint("rpc")[1]}
peer_address = "127.0.0.2"
peer_tcp_port = {peer_port}
peer_ping_port = {peer_port}
[control]
kind = "stdio"
command = {json.dumps(over.command(*agent))}
[capabilities]
ping = true
subqueues = true
several_queues = true
"""
        out = tmp_path / "run"
        done = mqconform("run", "--sut", sut(tmp_path, text), "-k", SELECTION, "--out", out)
    found = verdicts(out)
    assert [line for line in found if line["verdict"] in ("fail", "harness_error")] == [], done.stdout
    assert sum(line["verdict"] == "pass" for line in found) > 30, done.stdout
    assert run_json(out)["residue"] == []
