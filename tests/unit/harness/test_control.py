"""The control channel: refusals, missing answers and malformed answers each give one clear line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest
from harness_made import sut_file

from harness.environment import Stream, VirtualEnvironment
from harness.environment.system_host import SystemHost
from harness.errors import ConformanceFailure, SutUnavailable
from harness.sut.control import ContractBroken, ControlRefused, JsonlControl, VirtualControl
from harness.sut.shown import NotShown
from harness.sut.view import request_identity
from harness.sut.virtual_driver import VirtualDriver
from harness.sut.wires import TcpRoute
from reference_qm.config import QueueManagerConfig
from reference_qm.control import ControlError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Endpoint

WHERE = Endpoint("127.0.0.1", 9801)
ROUTE = TcpRoute(WHERE, "127.0.0.2")
Script = Callable[[Stream, dict[str, Any]], None]


class Server:
    """A server of the control protocol whose answers the test determines."""

    def __init__(self, environment: VirtualEnvironment, script: Script) -> None:
        self.script = script
        self.asked: list[dict[str, Any]] = []
        self.buffer = b""
        environment.listen(WHERE, self.accept)

    def accept(self, stream: Stream) -> Server:
        self.stream = stream
        return self

    def on_connection_open(self) -> None: ...

    def on_closed(self, reason: str) -> None: ...

    def on_failed(self, error: str) -> None: ...

    def on_bytes(self, data: bytes) -> None:
        self.buffer += data
        while b"\n" in self.buffer:
            line, self.buffer = self.buffer.split(b"\n", 1)
            self.asked.append(json.loads(line))
            self.script(self.stream, self.asked[-1])


def reply(stream: Stream, **fields: Any) -> None:
    stream.send(json.dumps(fields).encode() + b"\n")


def many_answers(stream: Stream) -> None:
    for number in range(100, 2_000):
        reply(stream, id=number, ok=True)


def control(script: Script) -> tuple[JsonlControl, Server]:
    environment = VirtualEnvironment()
    server = Server(environment, script)
    return JsonlControl(environment, ROUTE), server


def test_control_requests_and_answers_pass_in_any_chunks() -> None:
    def script(stream: Stream, asked: dict[str, Any]) -> None:
        line = json.dumps({"id": asked["id"], "ok": True, "purged": 3}).encode() + b"\n"
        for byte in line:
            stream.send(bytes([byte]))

    made, server = control(script)
    assert made.call("purge", queue="private$\\x")["purged"] == 3
    assert server.asked == [{"id": 1, "verb": "purge", "queue": "private$\\x"}]


def test_control_answers_are_matched_to_requests_in_any_order() -> None:
    def script(stream: Stream, asked: dict[str, Any]) -> None:
        if asked["id"] == 1:
            reply(stream, id=2, ok=True, purged=2)
            reply(stream, id=1, ok=True, purged=1)

    made, _ = control(script)
    assert [made.call("purge", queue="x")["purged"] for _ in range(2)] == [1, 2]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ok": False, "error": "no queue x"}, "the SUT refused purge: no queue x"),
        ({"ok": False}, "the SUT refused purge: no reason is given"),
        ({}, "the SUT refused purge: no reason is given"),
        ({"ok": "yes"}, "the SUT refused purge: no reason is given, and ok is 'yes'$"),
    ],
)
def test_refusal_in_protocol_version_1_counts_as_refusal_by_the_sut(fields: dict[str, Any], words: str) -> None:
    def script(stream: Stream, asked: dict[str, Any]) -> None:
        said = {"ok": True, "guid": str(UUID(int=7))} if asked["verb"] == "identity" else fields
        reply(stream, id=asked["id"], **said)

    made, _ = control(script)
    request_identity(made)
    with pytest.raises(ControlRefused, match=words) as caught:
        made.call("purge", queue="x")
    assert isinstance(caught.value, ConformanceFailure)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"ok": False}, "the answer has no 'error'"),
        ({"ok": False, "error": "no", "unsupported": "yes"}, "unsupported: 'yes' is not of type 'boolean'"),
        ({}, "the answer has no 'ok'"),
        ({"ok": "yes"}, "ok: 'yes' does not match: true"),
        ({"ok": True, "purged": "3"}, "purged: '3' is not of type 'integer'"),
    ],
)
def test_answer_that_violates_contract_is_rejected(fields: dict[str, Any], words: str) -> None:
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], **fields))
    line = f"control: `purge`: {words} (docs/control-protocol.md)"
    with pytest.raises(ContractBroken, match=f"^{re.escape(line)}$"):
        made.call("purge", queue="x")
    begun = made.begin("purge", queue="x")
    made.environment.run_until(lambda: False, 10)
    with pytest.raises(ContractBroken, match=f"^{re.escape(line)}$"):
        made.answer(begun)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (lambda stream, asked: None, "list: no answer arrived in time"),
        (lambda stream, asked: stream.send(b'{"id": 1, "ok"'), "list: no answer arrived in time"),
        (
            lambda stream, asked: reply(stream, id=99, ok=True),
            "an answer arrived with an id that no request has: 99 (ids",
        ),
        (
            lambda stream, asked: reply(stream, id="1", ok=True),
            "an answer arrived with an id that no request has: '1' (ids",
        ),
        (lambda stream, asked: stream.close(), "list: closed by the other side"),
        (lambda stream, asked: stream.send(b"hello\n"), "list: a line is not a JSON object with an id: b'hello'"),
        (lambda stream, asked: stream.send(b"[1]\n"), "list: a line is not a JSON object with an id"),
        (lambda stream, asked: stream.send(b'{"ok": true}\n'), "list: a line is not a JSON object with an id"),
        (
            lambda stream, asked: stream.send(b'{"id": [], "ok": true}\n'),
            "list: a line is not a JSON object with an id",
        ),
        (lambda stream, asked: stream.send(b"\xff\n"), "list: a line is not a JSON object with an id"),
        (lambda stream, asked: stream.send(b"[" * 100_000 + b"\n"), "list: a line is not a JSON object with an id"),
        (lambda stream, asked: stream.send(b'{"a":' * 100_000 + b"\n"), "list: a line is not a JSON object with an id"),
        (lambda stream, asked: stream.send(b"1" * 10_000 + b"\n"), "list: a line is not a JSON object with an id"),
        (lambda stream, asked: many_answers(stream), "list: more than 1000 unread answers"),
    ],
)
def test_silent_control_channel_gives_one_line_error(script: Script, words: str) -> None:
    made, _ = control(script)
    with pytest.raises(SutUnavailable) as caught:
        made.call("list")
    assert str(caught.value).startswith("control 127.0.0.1:9801: ")
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_endless_line_on_control_connection_is_not_stored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("harness.sut.wires.MAX_LINE_BYTES", 1000)
    made, _ = control(lambda stream, asked: stream.send(b"x" * 1001))
    with pytest.raises(SutUnavailable, match="an answer is longer than 1000 bytes"):
        made.call("list")


def test_control_receive_is_awaited_for_its_whole_timeout() -> None:
    environment = VirtualEnvironment()

    def script(stream: Stream, asked: dict[str, Any]) -> None:
        environment.call_later(30_000, lambda: reply(stream, id=asked["id"], ok=True, message=None))

    Server(environment, script)
    made = JsonlControl(environment, ROUTE)
    assert made.call("receive", queue="x", timeout_ms=30_000)["message"] is None


def test_connection_to_a_closed_port_is_refused() -> None:
    with pytest.raises(SutUnavailable, match=r"control 127\.0\.0\.1:9801 does not answer: connection refused"):
        JsonlControl(VirtualEnvironment(), ROUTE)


@pytest.mark.parametrize("key", ["facilities", "capabilities"])
def test_facilities_are_read_under_former_key_of_identity(key: str) -> None:
    announced = {"guid": str(UUID(int=7)), key: ["send", "inspect", "teleport"]}
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], ok=True, **announced))
    assert request_identity(made).facilities == {"send", "inspect"}


@pytest.mark.parametrize(
    "identity", [{}, {"guid": "x"}, {"guid": 5}, {"guid": None}, {"guid": str(UUID(int=7)), "facilities": 3}]
)
def test_malformed_identity_counts_as_failure_of_the_sut(identity: dict[str, Any]) -> None:
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], ok=True, **identity))
    with pytest.raises(SutUnavailable, match=r"^identity: "):
        request_identity(made)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"verb": "identity"}, "sends the tester's requests back: it does not speak the control protocol"),
        ({"result": 7}, "answers without `ok`: it does not speak the control protocol"),
        ({"ok": "yes"}, "answers without `ok`: it does not speak the control protocol"),
    ],
)
def test_peer_that_is_no_agent_is_reported_as_such(said: dict[str, Any], words: str) -> None:
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], **said))
    with pytest.raises(SutUnavailable, match=f": {words}$"):
        request_identity(made)


@pytest.mark.parametrize("said", [{}, {"protocol": 1}, {"protocol": 2, "facilities": []}])
def test_both_control_protocol_versions_are_understood(said: dict[str, Any]) -> None:
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], ok=True, guid=str(UUID(int=7)), **said))
    assert request_identity(made).identifier == UUID(int=7)


@pytest.mark.parametrize("version", [0, 3, "2\n", None, True])
def test_unknown_control_protocol_version_gives_one_line_error(version: object) -> None:
    made, _ = control(
        lambda stream, asked: reply(stream, id=asked["id"], ok=True, guid=str(UUID(int=7)), protocol=version)
    )
    with pytest.raises(
        SutUnavailable, match=r"^identity: the agent speaks version .* understands 1 and 2, as integers$"
    ):
        request_identity(made)


def test_unsupported_control_request_is_not_a_refusal() -> None:
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], ok=False, error="no", unsupported=True))
    with pytest.raises(NotShown, match="the SUT's control channel does not offer move: no"):
        made.call("move", queue="x")
    waiting = made.begin("move", queue="x")
    made.environment.run_until(lambda: False, 10)
    with pytest.raises(NotShown, match="does not offer move: no"):
        made.answer(waiting)


def test_missing_optional_key_in_control_answer_counts_as_not_shown() -> None:
    message = {"message_id": f"{{{UUID(int=7)}}}\\1", "label": "x", "body_base64": ""}
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], ok=True, messages=[message]))
    with pytest.raises(NotShown, match="the SUT's control channel does not show 'arrived_time'"):
        made.call("peek", queue="x")["messages"][0]["arrived_time"]


# -- the same inside this process -------------------------------------------------------------------------------------


def virtual_control() -> VirtualControl:
    def new_core(entries: Mapping[str, object]) -> QueueManager:
        core = QueueManager(QueueManagerConfig(identifier=UUID(int=1)), SeededEntropy("x"))
        core.restore(entries)
        return core

    host = SystemHost(VirtualEnvironment(), new_core, "127.0.0.1")
    host.start()
    return VirtualControl(host)


def test_virtual_control_channel_supports_the_verbs_of_the_protocol() -> None:
    made = virtual_control()
    assert made.call("create_queue", name="private$\\x", transactional=False)["ok"] is True
    assert [queue["name"] for queue in made.call("list")["queues"]] == ["private$\\x"]
    made.call("restart")
    assert len(made.call("list")["queues"]) == 1
    made.call("reset")
    assert made.call("list")["queues"] == []
    with pytest.raises(ControlRefused, match="the SUT refused delete_queue: "):
        made.call("delete_queue", name="private$\\none")
    with pytest.raises(ControlError, match="unknown verb"):
        made.call("fly")


def test_waiting_virtual_control_request_is_answered_or_cancelled() -> None:
    made = virtual_control()
    made.call("create_queue", name="private$\\x")
    waiting = made.begin("receive", queue="private$\\x", timeout_ms=60_000)
    assert made.answer(waiting) is None
    assert made.call("cancel", request=waiting)["cancelled"] is True
    answer = made.answer(waiting)
    assert answer is not None
    assert answer["ok"] is False
    assert made.answer(waiting) is None, "it is given once"


def test_control_request_over_tcp_can_be_answered_later() -> None:
    asked_first: list[int] = []

    def script(stream: Stream, asked: dict[str, Any]) -> None:
        if asked["verb"] == "cancel":
            reply(stream, id=asked["request"], ok=False, error="cancelled")
            reply(stream, id=asked["id"], ok=True, cancelled=True)
        else:
            asked_first.append(asked["id"])

    made, _ = control(script)
    waiting = made.begin("receive", queue="private$\\x", timeout_ms=60_000)
    assert made.call("cancel", request=waiting)["cancelled"] is True
    assert asked_first == [waiting]
    assert made.answer(waiting) == {"id": waiting, "ok": False, "error": "cancelled"}
    assert made.answer(waiting) is None


def test_every_test_gets_a_fresh_virtual_sut() -> None:
    driver = VirtualDriver(sut_file())
    driver.start()
    one, two = driver.open("a"), driver.open("a")
    made = one.queue("plain")
    one.control.call("create_queue", name="private$\\mine", transactional=False)
    names = [{queue["name"] for queue in view.control.call("list")["queues"]} for view in (one, two)]
    assert names[0] - names[1] == {"private$\\mine", made}
    assert one.environment is not two.environment


def test_missing_key_in_answer_of_version_1_is_a_failure_of_the_sut() -> None:
    said = {"ok": True, "guid": str(UUID(int=7)), "messages": [{"label": "x"}]}
    made, _ = control(lambda stream, asked: reply(stream, id=asked["id"], **said))
    request_identity(made)
    found = made.call("peek", queue="x")["messages"][0]
    with pytest.raises(ConformanceFailure, match=r"^an answer on the SUT's control channel has no 'body'$") as caught:
        found["body"]
    assert not isinstance(caught.value, NotShown)
    assert found.get("body") is None
