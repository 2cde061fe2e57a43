"""Commands of a higher layer: queues, sending, receiving and inspecting, with the refused commands and their errors."""

import json

import pytest
from core_network import PLAIN, TRANSACTIONAL, Network, direct, guid, private

from reference_qm.surface.commands import (
    CreateQueue,
    GetOutgoingQueue,
    GetTransfers,
    Identity,
    ListQueues,
    OpenSession,
    PeekMessages,
    PurgeQueue,
    ReceiveMessage,
    SendMessage,
)
from reference_qm.surface.inputs import PersistFailed, RecordPersisted


@pytest.fixture
def host():
    return Network().host(1)


def test_identity_command_returns_guid_versions_and_keys(host):
    values = host.ask(Identity())
    assert (values["guid"], values["name"], values["vendor"]) == (str(guid(1)), "host1", "mqconform")
    known = (
        "queue_control",
        "send",
        "send_extension",
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


def test_queues_get_numbers_but_never_that_of_the_order_queue(host):
    names = [host.ask(CreateQueue(f"private$\\q{number}"))["format_names"] for number in range(3)]
    assert [name["private"][-8:] for name in names] == ["00000003", "00000005", "00000006"]
    assert names[0]["direct"] == "DIRECT=TCP:10.0.0.1\\private$\\q0"


@pytest.mark.parametrize("name", ["plain", "private$\\", "private$\\a;journal", "x\\private$\\a", ""])
def test_invalid_path_name_is_refused(host, name):
    assert "use private$\\name" in host.refusal(CreateQueue(name))


def test_queue_name_in_different_letter_case_is_not_created_twice(host):
    assert "already exists" in host.refusal(CreateQueue("PRIVATE$\\Plain"))


def test_queue_list_has_local_and_outgoing_queues(host):
    host.send(direct(1), b"here")
    host.send(direct(9), b"there")
    values = host.ask(ListQueues())
    assert values["queues"] == [
        {"name": PLAIN, "transactional": False, "count": 1},
        {"name": TRANSACTIONAL, "transactional": True, "count": 0},
    ]
    assert values["outgoing"] == [{"format_name": direct(9), "state": "Disconnected", "count": 1}]


@pytest.mark.parametrize(
    ("asked", "given_s"), [({}, 4 * 24 * 3600), ({"time_to_reach_queue_s": 0xFFFFFFFF}, 0xFFFFFFFF)]
)
def test_message_without_time_limit_has_four_days_to_reach_its_queue(host, asked, given_s):
    """A message without an explicit time limit has four days to reach its queue. MS-MQDMPR 3.1.1.12, note <12>."""
    host.send(direct(1), b"here", **asked)
    assert host.ask(ReceiveMessage(PLAIN))["message"]["time_to_reach_queue_s"] == given_s


def test_receiving_takes_the_first_message(host):
    host.send(direct(1), b"one")
    host.send(direct(1), b"two", priority=7)
    bodies = [host.ask(ReceiveMessage(PLAIN))["message"]["body"] for _ in range(2)]
    assert bodies == ["two", "one"]
    assert host.ask(ReceiveMessage(PLAIN)) == {"message": None}


def test_peek_leaves_messages_and_purge_deletes_them(host):
    for number in range(5):
        host.send(direct(1), str(number).encode())
    assert len(host.ask(PeekMessages(PLAIN, limit=3))["messages"]) == 3
    assert host.ask(PurgeQueue(PLAIN)) == {"purged": 5}
    assert host.bodies() == []


REFUSED = {
    "no name": (SendMessage("nonsense"), "DIRECT="),
    "machine": (SendMessage(f"MACHINE={guid(3)}"), "cannot be a destination"),
    "http": (SendMessage("DIRECT=HTTP://host/msmq\\private$\\q"), "cannot be a destination"),
    "journal": (SendMessage(direct(9) + ";JOURNAL"), "cannot be a destination"),
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
        "does not fit into a packet",
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
def test_refused_command_gives_one_line_error_and_changes_no_state(host, name):
    request, part = REFUSED[name]
    error = host.refusal(request)
    assert part in error
    assert "\n" not in error
    adm = host.adm()
    assert (adm["OutgoingQueues"], adm["Sessions"], adm["QueueManager"]["MessageIdOrdinal"]) == ([], [], 0)


@pytest.mark.parametrize("to", [private(8), f"PUBLIC={guid(3)}"])
def test_message_that_needs_the_directory_waits_for_it(host, to):
    host.send(to, b"waiting")
    (queue,) = host.adm()["OutgoingQueues"]
    assert (queue["State"], queue["ConnectionHistory"][-1]["Status"]) == ("NeedValidation", "RoutingDataNotAvailable")
    assert host.session()["SessionState"] == "WAITING_RECONNECT"
    host.network.advance(5_000)
    assert len(host.adm()["OutgoingQueues"][0]["ConnectionHistory"]) == 2
    assert host.connects == []


def test_waiting_messages_are_limited():
    host = Network().host(1, max_outgoing_messages=2)
    host.send(direct(9))
    host.send(direct(8))
    assert "2 messages are already waiting" in host.refusal(SendMessage(direct(9)))


def test_inspected_model_is_json(host):
    host.send(direct(9))
    assert json.loads(json.dumps(host.adm()))["Sessions"][0]["RemoteQMAddress"] == "10.0.0.9"


def test_unexpected_disk_answers_are_ignored(host):
    host.handle(RecordPersisted(77))
    host.handle(PersistFailed(78, "why"))
    assert host.closed == []


def test_management_commands_return_outgoing_queue_and_transfers(host):
    host.send(direct(9), b"there")
    (queue,) = host.ask(GetOutgoingQueue(direct(9).upper()))["outgoing"]
    assert (queue["DestinationFormatName"], queue["State"]) == (direct(9), "Disconnected")
    assert queue["OutgoingTransferInfo"]["EodLastAckCount"] == 0
    assert host.ask(GetOutgoingQueue(direct(8))) == {"outgoing": []}
    assert host.ask(GetTransfers(TRANSACTIONAL)) == {"transfers": []}
