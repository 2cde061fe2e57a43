"""Commands of a higher layer: queues, sending, receiving, inspecting; what is refused and how."""

import json

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid

from reference_qm.surface.commands import (
    Identity,
    OpenSession,
    PeekMessages,
    ReceiveMessage,
    SendMessage,
)
from reference_qm.surface.inputs import Persisted, PersistFailed


@pytest.fixture
def host():
    return Network().host(1)


def test_identity(host):
    values = host.ask(Identity())
    assert (values["guid"], values["name"], values["vendor"]) == (str(guid(1)), "host1", "mqconform")
    known = (
        "queue_control",
        "send",
        "open_to_send",
        "get_queue_path",
        "reject",
        "receive",
        "transactions",
        "pause",
        "restart",
        "reset",
        "set_timers",
        "configure",
        "inspect",
        "environment",
        "management",
        "remote_read",
    )
    assert set(values["facilities"]) == set(known)


REFUSED = {
    "no name": (SendMessage("nonsense"), "DIRECT="),
    "machine": (SendMessage(f"MACHINE={guid(3)}"), "cannot be sent to yet"),
    "http": (SendMessage("DIRECT=HTTP://host/msmq\\private$\\q"), "cannot be sent to yet"),
    "journal": (SendMessage(direct(9) + ";JOURNAL"), "cannot be sent to yet"),
    "several": (SendMessage(f"{direct(9)},{direct(8)};JOURNAL"), "read-only"),
    "no local queue": (SendMessage("DIRECT=OS:host1\\private$\\none"), "create it first"),
    "local transactional queue": (SendMessage(direct(1, TRANSACTIONAL)), "is a transactional queue"),
    "local nontransactional queue": (SendMessage(direct(1), transactional=True), "is a nontransactional queue"),
    "priority": (SendMessage(direct(9), priority=8), "priority"),
    "label": (SendMessage(direct(9), label="x" * 250), "label"),
    "null in label": (SendMessage(direct(9), label="x\0"), "label"),
    "acks": (SendMessage(direct(9), acks=frozenset({"all"}), admin_queue=direct(1)), "acks"),
    "acks without admin queue": (SendMessage(direct(9), acks=frozenset({"positive_arrival"})), "admin_queue"),
    "admin queue without acks": (SendMessage(direct(9), admin_queue=direct(1)), "acks"),
    "admin queue": (
        SendMessage(direct(9), acks=frozenset({"positive_arrival"}), admin_queue=f"MACHINE={guid(3)}"),
        "cannot stand in a packet",
    ),
    "response queue": (SendMessage(direct(9), response_queue="nonsense"), "nonsense"),
    "journal kind": (SendMessage(direct(9), journal=frozenset({"both"})), "journal"),
    "time": (SendMessage(direct(9), time_to_reach_queue_s=-1), "time_to_reach_queue_s"),
    "tag": (SendMessage(direct(9), application_tag=1 << 32), "application_tag"),
    "size": (SendMessage(direct(9), body=bytes(0x400000)), "does not fit"),
    "timeout": (ReceiveMessage(PLAIN, timeout_ms=-1), "timeout_ms"),
    "limit": (PeekMessages(PLAIN, limit=0), "limit"),
    "session with itself": (OpenSession(direct(1)), "needs no session"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_refusal_is_one_line_that_names_the_thing_and_leaves_nothing_behind(host, name):
    request, part = REFUSED[name]
    error = host.refusal(request)
    assert part in error
    assert "\n" not in error
    adm = host.adm()
    assert (adm["OutgoingQueues"], adm["Sessions"], adm["QueueManager"]["MessageIdOrdinal"]) == ([], [], 0)


def test_waiting_messages_are_limited():
    host = Network().host(1, max_outgoing_messages=2)
    host.send(direct(9))
    host.send(direct(8))
    assert "2 messages wait" in host.refusal(SendMessage(direct(9)))


def test_the_tree_is_json(host):
    host.send(direct(9))
    assert json.loads(json.dumps(host.adm()))["Sessions"][0]["RemoteQMAddress"] == "10.0.0.9"


def test_answers_of_the_disk_that_nobody_awaits_are_ignored(host):
    host.handle(Persisted(77))
    host.handle(PersistFailed(78, "why"))
    assert host.closed == []
