"""The contract of the control protocol: page, schema and code agree, and both sides keep the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import jsonschema_rs
import pytest

from harness.environment import VirtualEnvironment
from harness.environment.system_host import SystemHost
from harness.paths import SUITES
from harness.sut.control import ControlRefused, VirtualControl
from harness.sut.control_schema import MAX_JSON_DEPTH, SCHEMA_PATH, find_error_in_answer, find_error_in_request
from reference_qm.config import QueueManagerConfig
from reference_qm.control import _VERB_BY_NAME, CONTROL_PROTOCOL_VERSION, VERBS_BY_FACILITY
from reference_qm.core.queue_manager import QueueManager
from reference_qm.surface.entropy import SeededEntropy

SCHEMA = json.loads(SCHEMA_PATH.read_text(encoding="utf-8"))
PAGE = (SUITES.parent / "docs" / "control-protocol.md").read_text(encoding="utf-8")
WITHOUT_ARGUMENTS = {"restart", "reset", "stop"}
GUID = "6d71636f-6e66-4f72-8d00-000000000001"
MESSAGE = {"message_id": f"{{{GUID}}}\\1", "label": "", "body_base64": ""}
PATHS = {"id": 1, "ok": True, "status": "MQ_OK", "path": "", "machine": ""}


def nested(depth: int) -> list[Any]:
    """Return lists that are nested to the given depth."""
    found: list[Any] = []
    for _ in range(depth - 1):
        found = [found]
    return found


def test_control_schema_is_valid_and_has_the_protocol_version() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert SCHEMA["$id"].endswith(f":{CONTROL_PROTOCOL_VERSION}")


def test_control_schema_has_the_verbs_and_arguments_of_the_reference() -> None:
    verbs = set(SCHEMA["$defs"]["request"]["properties"]["verb"]["enum"])
    assert verbs == _VERB_BY_NAME.keys() | WITHOUT_ARGUMENTS | {"cancel"}
    assert {name.partition(":")[2] for name in SCHEMA["$defs"] if name.startswith("answer:")} == verbs
    assert SCHEMA["$defs"]["facility"]["enum"] == list(VERBS_BY_FACILITY)
    for name, verb in _VERB_BY_NAME.items():
        request = SCHEMA["$defs"][f"request:{name}"]
        assert request["properties"].keys() - {"id", "verb"} == verb.converter_by_argument.keys()
        assert set(request["required"]) == {"id", "verb", *verb.required_arguments}


def test_control_protocol_page_has_every_verb_argument_and_field() -> None:
    named = set(re.findall(r"`([a-z_0-9]+)`", PAGE))
    for name, verb in _VERB_BY_NAME.items():
        assert {name, *verb.converter_by_argument} <= named
    assert SCHEMA["$defs"]["message"]["properties"].keys() <= named
    assert SCHEMA_PATH.name in PAGE


class Kept(VirtualControl):
    """A control channel that checks the contract for requests and answers."""

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        assert find_error_in_request({"id": 1, "verb": verb, **arguments}) is None
        try:
            reply = super().call(verb, **arguments)
        except ControlRefused as refused:
            return {"refused": str(refused)}
        return reply


def kept_control() -> Kept:
    def new_core(entries: Mapping[str, object]) -> QueueManager:
        core = QueueManager(QueueManagerConfig(identifier=UUID(GUID)), SeededEntropy("contract"))
        core.restore(entries)
        return core

    host = SystemHost(VirtualEnvironment(), new_core, "127.0.0.1")
    host.start()
    return Kept(host)


def test_reference_answers_satisfy_the_control_contract() -> None:
    made = kept_control()
    assert made.call("identity")["protocol"] == CONTROL_PROTOCOL_VERSION
    made.call("create_queue", name="private$\\x", label="x", journaling=True, quota_kb=100)
    made.call("create_queue", name="private$\\x;sub")
    made.call("create_queue", name="private$\\tx", transactional=True)
    made.call("set_queue", name="private$\\x", label="y")
    here, there = "DIRECT=OS:.\\private$\\x", "DIRECT=TCP:127.0.0.7\\private$\\far"
    for body in ({"body": "text"}, {"body_base64": "/wA="}, {"body": "", "label": "z", "body_type": 8}):
        made.call("send", to=here, delivery="recoverable", priority=5, journal=["positive"], **body)
    made.call("send", to=there, acks=["positive_arrival"], admin_queue="DIRECT=OS:.\\private$\\x", application_tag=7)
    messages = made.call("peek", queue="private$\\x")["messages"]
    assert [one["body"] for one in messages] == ["text", None, ""]
    handle = made.call("open_queue", queue="private$\\x", access="receive")["handle"]
    cursor = made.call("open_cursor", handle=handle)["cursor"]
    first = made.call("peek_message", cursor=cursor)["message"]
    made.call("peek_next", cursor=cursor, timeout_ms=0)
    made.call("peek_by_lookup_id", handle=handle, lookup_id=first["lookup_id"], seek="next")
    made.call("move", queue="private$\\x", lookup_id=first["lookup_id"], to="private$\\x;sub")
    made.call("receive_by_lookup_id", queue="private$\\x;sub", lookup_id=first["lookup_id"])
    made.call("close_cursor", cursor=cursor)
    made.call("close_queue", handle=handle)
    made.call("close_queue", handle=made.call("open_to_send", to=there)["handle"])
    for outcome in ("commit", "abort"):
        transaction = made.call("begin")["transaction"]
        made.call("send", to="DIRECT=OS:.\\private$\\tx", body="t", transaction=transaction)
        made.call(outcome, transaction=transaction)
    made.call("begin", transaction=GUID, external=True)
    made.call("prepare", transaction=GUID)
    made.call("commit", transaction=GUID)
    made.call("receive", queue="private$\\x", timeout_ms=0)
    made.call("get_outgoing_queue", to=there)
    made.call("get_transfers", queue="private$\\tx")
    made.call("get_queue_path", format_name=here)
    made.call("pause_queue", to=there)
    made.call("list")
    made.call("set_timers", scale=2, ack_wait_timeout_ms=30_000)
    made.call("configure", quota_kb=1_000, preferred_base="rc2")
    made.call("environment")
    made.call("inspect")
    made.call("purge", queue="system$;journal")
    made.call("get_queue", name="private$\\x")
    assert "no queue" in made.call("delete_queue", name="private$\\none")["refused"]


@pytest.mark.parametrize(
    ("verb", "answer", "words"),
    [
        ("identity", {"id": 1, "ok": True, "guid": GUID, "protocol": 2}, "the answer has no 'facilities'"),
        (
            "identity",
            {"id": 1, "ok": True, "guid": "x", "protocol": 2, "facilities": []},
            "guid: 'x' does not match: a GUID, 8-4-4-4-12 hexadecimal digits without braces",
        ),
        ("send", {"id": 1, "ok": True, "message_id": "1"}, "message_id: '1' does not match"),
        ("receive", {"id": 1, "ok": True, "message": {"label": "x"}}, "message has no 'message_id'"),
        ("purge", {"id": 1, "ok": False}, "the answer has no 'error'"),
        ("purge", {"id": 1, "ok": "yes"}, "ok: 'yes' does not match: true"),
        ("purge", {"id": 1, "ok": True, "purged": "\x1b[2J"}, r"purged: '\x1b[2J' is not of type 'integer'"),
        ("purge", {"id": 1, "ok": True, "purged": True}, "purged: True is not of type 'integer'"),
        ("purge", {"id": 1, "ok": True, "purged": 2**80}, "purged: 1208925819614629174706176 is greater than"),
        ("peek", {"id": 1, "ok": True, "messages": [MESSAGE | {"label": 7}]}, "messages.0.label: 7 is not of type"),
        ("get_queue_path", PATHS | {"path": "x" * 200_000}, "is longer than 131072 characters"),
        (
            "get_queue_path",
            PATHS | {"more": nested(MAX_JSON_DEPTH)},
            f"the answer is nested deeper than {MAX_JSON_DEPTH}",
        ),
        ("get_queue_path", PATHS | {"\ud800": 1}, "a key in the answer contains a lone surrogate"),
    ],
)
def test_control_answer_that_violates_the_contract_is_named_in_one_line(
    verb: str, answer: dict[str, Any], words: str
) -> None:
    complaint = find_error_in_answer(verb, answer)
    assert complaint is not None
    assert words in complaint
    assert complaint.isprintable()


def test_control_request_that_violates_the_contract_is_named() -> None:
    assert find_error_in_request({"id": 1, "verb": "fly"}) is not None
    assert "the request has no 'queue'" in str(find_error_in_request({"id": 1, "verb": "purge"}))
    assert find_error_in_request({"id": 1, "verb": "receive", "queue": "private$\\x", "timeout_ms": None}) is None
