"""MS-MQDMPR 3.1.1.2 Queue: the effects of its attributes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from harness.expectations import each, in_queue, none
from harness.peer.association import Call
from harness.run.marks import covers, needs, varied
from harness.sut.outcomes import Outcome
from harness.sut.provisioning import ALICE
from harness.sut.releases import does_release_lack_method
from harness.wire.protection import SIG20
from harness.wire.rpc_qm2qm import Action, LookupId, Method
from suites.applications import Application, PendingRequest
from suites.messages import Sequence
from suites.mqqb.steps.secured import SecuredMessageSender, sign_message
from suites.whole_messages import UNCHANGED_PROPERTIES_OUTCOME, describe_differences

MESSAGE_PRIORITIES = (3, 0, 7, 3, 7, 0)
JOURNAL_QUOTA_KB = 8
LARGE_BODY = b"x" * 16_384
QUEUE_QUOTA_KB = 6
QUEUE_TYPE_GUIDS = (
    "00000000-0000-0000-0000-000000000000",
    "ffffffff-ffff-ffff-ffff-ffffffffffff",
    "6d71636f-6e66-4f72-8d00-00000000007e",
)
QUEUE_AUTHENTICATION_KINDS = ("queue with Authentication", "queue without Authentication")


@needs("qm2qm")
@covers("MQDMPR-3.1.1.2-20", "MQDMPR-3.1.1.2-21")
def test_reads_return_messages_by_priority_then_arrival(remote, judge):
    """Six messages of three priorities are received from the highest priority to the lowest, and in order of arrival
    within a priority. Peeks with and without a cursor, receives, and lookups of the first and the last message find no
    message in an empty queue: before the first message, after the last one has been received, after a purge, and after
    the only message has been received.
    """
    queue = remote.open_with_messages()
    empty = _read_empty_queue_with_each_read_kind(queue)
    packets = [
        remote.peer.message({"DM": 1}, base={"PR": priority}, label=f"message {number} of priority {priority}")
        for number, priority in enumerate(MESSAGE_PRIORITIES)
    ]
    remote.send_messages_and_require_acks(packets)
    reads = [queue.receive() for _ in MESSAGE_PRIORITIES]
    expected = [f"message {number} of priority {MESSAGE_PRIORITIES[number]}" for number in (2, 4, 0, 3, 1, 5)]
    judge(
        "MQDMPR-3.1.1.2-20",
        expected=expected,
        observed=[one.label_or_outcome for one in reads],
        evidence=reads,
        case="labels returned by the reads",
    )
    empty += _read_empty_queue_with_each_read_kind(queue)
    for labels in (("only",), ("first", "second")):
        remote.deliver(labels)
        queue.purge().expect_success()
        empty += _read_empty_queue_with_each_read_kind(queue)
    remote.deliver(["last"])
    queue.receive()
    empty += _read_empty_queue_with_each_read_kind(queue)
    observed = [one.label_or_failure for one in empty]
    judge("MQDMPR-3.1.1.2-21", expected=each(Call.FAILURE_HRESULT_TEXT, "read"), observed=observed, evidence=empty)


def _read_empty_queue_with_each_read_kind(queue):
    """Read an empty queue with each kind of read. The peeks come first, because a receive can change the position at
    which a later search starts.
    """
    cursor = queue.open_cursor()
    reads = [
        queue.peek(),
        queue.peek(hCursor=cursor),
        *_look_up_first_and_last_message(queue),
        queue.start_receive(),
        queue.start_receive(hCursor=cursor),
    ]
    queue.close_cursor(cursor).expect_success()
    return reads


def _look_up_first_and_last_message(queue):
    """Look up the first and the last message of a queue, unless the release of the SUT has no lookups."""
    if does_release_lack_method(queue.remote.sut, Method.START_RECEIVE_BY_LOOKUP_ID):
        return []
    return [
        queue.look_up(Action.LOOKUP_PEEK_NEXT, LookupId.BEFORE_FIRST),
        queue.look_up(Action.LOOKUP_PEEK_PREV, LookupId.BEHIND_LAST),
    ]


@needs("receive", "queue_control", "subqueues")
@covers("MQDMPR-3.1.1.2-21")
def test_empty_subqueue_and_journal_have_no_message(peer, sut, judge):
    """A queue contains messages; its subqueue and its journal are empty. Peeks and receives find no message in the
    subqueue and in the journal.
    """
    application = Application(peer, sut)
    packets = application.fill_queue("a", "b")
    empty = [f"{application.queue};{name}" for name in ("mqc-empty", "journal")]
    sut.control.call("create_queue", name=empty[0])
    found = {
        f"{verb} from {queue.rpartition(';')[2]}": sut.read_label(verb, **where)
        for queue in empty
        for handle in [sut.control.call("open_queue", queue=queue, access="receive")["handle"]]
        for cursor in [sut.control.call("open_cursor", handle=handle)["cursor"]]
        for verb, where in (("peek_message", {"cursor": cursor}), ("receive", {"handle": handle}))
    }
    judge(
        "MQDMPR-3.1.1.2-21",
        expected={"reads": each(Outcome.NOTHING), "queue": in_queue("a", "b")},
        observed={"reads": found, "queue": application.labels()},
        evidence=packets,
    )


@needs("send", "receive", "queues")
@covers("MQDMPR-3.1.1.2-20")
def test_order_ignores_delivery_and_source_of_messages(peer, sut, judge):
    """Express and recoverable messages of five priorities arrive alternately from the peer and from an application of
    the SUT. The queue orders them by priority, and by arrival within a priority. After an abort, messages that the
    transaction received are at their old positions.
    """
    application = Application(peer, sut)
    connection = peer.open_raw()
    expected: dict[int, list[str]] = {}
    for number, priority in enumerate((3, 6, 7, 0, 3, 6, 7, 7, 0, 1, 3, 7)):
        label, express = f"message {number} of priority {priority}", number % 3 == 0
        if number % 2:
            application.send(label, priority=priority, delivery="express" if express else "recoverable")
        else:
            headers = {"label": label, "destination": rf"TCP:{sut.address}\{application.queue}"}
            connection.send(peer.message({"DM": int(not express)}, base={"PR": priority}, **headers))
            connection.require_session_ack_for_message()
        peer.eventually(partial(_contains_message, sut, application.queue, label))
        expected.setdefault(priority, []).append(label)
    in_order = [label for priority in sorted(expected, reverse=True) for label in expected[priority]]
    judge("MQDMPR-3.1.1.2-20", expected=in_queue(*in_order), observed=application.labels(), evidence=connection.sent)
    if sut.has("transactions"):
        receiver = Application(peer, sut, transactional=True)
        frames = receiver.fill_queue(*"abcd")
        transaction = receiver.begin_transaction()
        receiver.receive(transaction=transaction)
        receiver.receive_by_label("c", transaction=transaction)
        receiver.end_transaction("abort", transaction)
        labels = receiver.labels()
        judge(
            "MQDMPR-3.1.1.2-20",
            expected=in_queue(*"abcd"),
            observed=labels,
            evidence=frames,
            case="labels in the queue after an abort",
        )


def _contains_message(sut, queue, label):
    return label in sut.labels(queue)


@needs("queue_control", "receive", "send")
@covers("MQDMPR-3.1.1.2-D03")
def test_quota_applies_to_messages_of_applications(peer, sut, judge):
    """An application of the SUT and the peer send messages to a queue whose quota is sufficient for one message. The
    queue stores no message that is larger than its quota, and no second message, not even after a restart. When the
    first message has been received, the queue stores another message.
    """
    queue = sut.new_queue("small", quota_kb=QUEUE_QUOTA_KB)
    observed: dict[str, list[str]] = {}
    connection = peer.open_raw()

    def send_message_of_size(label: str, size: int) -> None:
        PendingRequest(
            peer, "send", to=sut.direct_name(queue), label=label, body="x" * size, delivery="recoverable"
        ).await_outcome()

    send_message_of_size("too large", QUEUE_QUOTA_KB * 1_024 + 1)
    observed["after the message that is too large"] = sut.labels(queue)
    send_message_of_size("first", QUEUE_QUOTA_KB * 1_024 * 2 // 3)
    headers = {"destination": rf"TCP:{sut.address}\{queue}", "body": bytes(QUEUE_QUOTA_KB * 1_024 * 2 // 3)}
    sent = connection.send(peer.recoverable_message(label="second", **headers))
    connection.require_session_ack_for_message()
    send_message_of_size("third", QUEUE_QUOTA_KB * 1_024 * 2 // 3)
    observed["after three messages"] = sut.labels(queue)
    if sut.has("restart"):
        sut.restart()
        send_message_of_size("fourth", QUEUE_QUOTA_KB * 1_024 * 2 // 3)
        observed["after a restart and a fourth message"] = sut.labels(queue)
    sut.control.call("receive", queue=queue, timeout_ms=0)
    send_message_of_size("last", QUEUE_QUOTA_KB * 1_024 * 2 // 3)
    observed["after a receive and another message"] = sut.labels(queue)
    expected = {time: in_queue("first") for time in observed} | {
        "after the message that is too large": in_queue(),
        "after a receive and another message": in_queue("last"),
    }
    judge("MQDMPR-3.1.1.2-D03", expected=expected, observed=observed, evidence=sent)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-D05", "MQDMPR-3.1.1.2-D04")
def test_journal_has_only_received_messages_unchanged(peer, sut, judge):
    """Messages leave a queue with Journaling because they are received, are purged or expire. The journal contains only
    the received messages, with all their properties: one express message, one recoverable message, and one from a local
    application. After Journaling has been disabled, received messages are not journaled. A message that is too large
    for a full journal displaces no other message.
    """
    application = Application(peer, sut)
    queue, journal = application.queue, f"{application.queue};journal"
    application.call("set_queue", name=queue, journaling=True, journal_quota_kb=JOURNAL_QUOTA_KB)
    connection = peer.open_raw()

    def send_message_from_peer(label: str, user: Mapping[str, int], **more: Any) -> Any:
        headers = {"label": label, "destination": rf"TCP:{sut.address}\{queue}"} | more
        sent = connection.send(peer.message(user, **headers))
        connection.require_session_ack_for_message()
        peer.eventually(lambda: label in application.labels() or "TimeToBeReceived" in user)
        return sent

    sent = []
    for label, recoverable in (("express", 0), ("recoverable", 1)):
        properties = {
            "ApplicationTag": 0xFEDC_BA98,
            "ExtensionData": b"\0extension\0",
            "CorrelationID": bytes(range(20)),
        }
        sent.append(
            send_message_from_peer(
                label, {"DM": recoverable}, properties=properties, base={"PR": 5}, body=bytes(range(256))
            )
        )
        application.receive()
    local = ["local"] if sut.has("send") else []
    for label in local:
        application.send(label)
        peer.eventually(partial(_contains_message, sut, queue, label))
        application.receive()
    send_message_from_peer("purged", {"DM": 1})
    application.call("purge", queue=queue)
    send_message_from_peer("expired", {"DM": 1, "TimeToBeReceived": 1})
    peer.pass_time(3_000)
    send_message_from_peer("large", {"DM": 1}, body=LARGE_BODY)
    application.receive()
    application.call("set_queue", name=queue, journaling=False)
    send_message_from_peer("after Journaling", {"DM": 1})
    application.receive()
    shown = application.messages(journal)
    judge(
        "MQDMPR-3.1.1.2-D05",
        "MQDMPR-3.1.1.2-D04",
        expected=in_queue("express", "recoverable", *local),
        observed=[one["label"] for one in shown],
        evidence=connection.sent,
        case="journal",
    )
    by_label = {one["label"]: one for one in shown}
    for packet, label in zip(sent, ("express", "recoverable"), strict=True):
        judge(
            "MQDMPR-3.1.1.2-D05",
            expected=UNCHANGED_PROPERTIES_OUTCOME,
            observed=describe_differences(packet, by_label.get(label), sut.guid),
            evidence=packet,
            case=f"{label} message in the journal",
        )
    application.call("purge", queue=journal)


@needs("queues", "receive")
@covers("MQDMPR-3.1.1.2-D04", "MQDMPR-3.1.1.2-D05")
@varied("time to be received", "destination", read_by=("queue", "handle"))
def test_received_message_is_journaled_within_journal_quota(peer, sut, judge):
    """Four messages are received from each of four queues: a small message, a large message, and two messages that each
    exceed half of the journal quota. A queue without Journaling journals none of them. A queue with Journaling and
    without a journal quota journals all of them. A queue with Journaling and a journal quota journals only the small
    message and one of the last two messages.
    """
    kinds: dict[str, dict[str, Any]] = {
        "without a limit": {"journaling": True},
        "with a limit": {"journaling": True, "journal_quota_kb": JOURNAL_QUOTA_KB},
        "transactional, with a limit": {
            "journaling": True,
            "journal_quota_kb": JOURNAL_QUOTA_KB,
            "transactional": True,
        },
        "without journaling": {},
    }
    queues = {kind: sut.new_queue("journaled", **properties) for kind, properties in kinds.items()}
    connection = peer.open_raw()
    half = bytes(JOURNAL_QUOTA_KB * 1_024 * 3 // 5)
    bodies = {"small": b"small", "large": LARGE_BODY, "half": half, "second half": half}
    for kind, name in queues.items():
        make = Sequence(peer).message if "transactional" in kinds[kind] else peer.recoverable_message
        for label, body in bodies.items():
            connection.send(make(label=label, body=body, destination=rf"TCP:{sut.address}\{name}"))
    connection.require_session_ack_for_message()
    peer.eventually(lambda: all(len(sut.labels(name)) == len(bodies) for name in queues.values()))
    for name in queues.values():
        for _ in bodies:
            sut.control.call("receive", queue=name, timeout_ms=0)
    observed = {kind: sut.labels(f"{name};journal") for kind, name in queues.items()}
    judge(
        "MQDMPR-3.1.1.2-D05",
        expected=in_queue(*bodies),
        observed=observed["without a limit"],
        case="journal without a quota",
    )
    judge(
        "MQDMPR-3.1.1.2-D05",
        expected=in_queue(),
        observed=observed["without journaling"],
        case="journal of a queue without Journaling",
    )
    for kind in ("with a limit", "transactional, with a limit"):
        judge("MQDMPR-3.1.1.2-D04", expected=in_queue("small", "half"), observed=observed[kind], case=f"journal {kind}")


@needs("queue_control", "receive", "transactions")
@covers("MQDMPR-3.1.1.2-D05")
def test_message_received_in_transaction_is_journaled_at_commit(peer, sut, judge):
    """Messages in a queue with Journaling are received in transactions, in order and by LookupIdentifier. The journal
    contains only the messages that committed transactions received, internal and external ones.
    """
    application = Application(peer, sut, transactional=True)
    sut.control.call("set_queue", name=application.queue, journaling=True)
    application.fill_queue(*"abcdef")
    internal, external, aborted = (application.begin_transaction(external=one) for one in (False, True, False))
    for transaction, label in ((internal, "d"), (external, "e"), (aborted, "f")):
        application.receive(transaction=transaction)
        application.receive_by_label(label, transaction=transaction)
    journal = f"{application.queue};journal"
    early = sut.labels(journal)
    application.end_transaction("commit", internal)
    application.end_transaction("prepare", external)
    application.end_transaction("commit", external)
    application.end_transaction("abort", aborted)
    judge.all(
        expected={
            "journal before the transactions end": in_queue(),
            "journal after the transactions end": in_queue("a", "d", "b", "e"),
        },
        observed={
            "journal before the transactions end": early,
            "journal after the transactions end": sut.labels(journal),
        },
    )


@needs("queues", "receive")
@covers("MQDMPR-3.1.1.2-D02")
@varied("priority", "extension", "correlation", "body", "queue quota", "queue privacy")
def test_unsigned_message_to_authenticated_queue_is_not_stored(peer, sut, judge):
    """The peer and an application of the SUT send unsigned messages. The SUT stores them in a queue without
    Authentication, but not in a queue with Authentication.
    """
    queues = [sut.new_queue("authenticated", authenticated=expected_labels) for expected_labels in (True, False)]
    connection = peer.open_raw()
    packets = [
        connection.send(peer.recoverable_message(label="unsigned", destination=rf"TCP:{sut.address}\{name}"))
        for name in queues
    ]
    peer.eventually(lambda: bool(sut.labels(queues[1])))
    local = ["local"] if sut.has("send") else []
    for name in queues if local else ():
        PendingRequest(peer, "send", to=sut.direct_name(name), label="local", body="local").await_outcome()
    observed = {kind: sorted(sut.labels(name)) for kind, name in zip(QUEUE_AUTHENTICATION_KINDS, queues, strict=True)}
    expected_labels = dict(zip(QUEUE_AUTHENTICATION_KINDS, (in_queue(), in_queue(*local, "unsigned")), strict=True))
    judge("MQDMPR-3.1.1.2-D02", expected=expected_labels, observed=observed, evidence=packets)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-D02")
@pytest.mark.parametrize("kind", ["express", "recoverable", "transactional"])
def test_unsigned_message_is_refused_while_authentication_is_set(peer, sut, judge, kind):
    """Authentication of a queue is set to True and later to False. The queue stores the unsigned messages that arrive
    before the first change and after the second, but not the message that arrives in between.
    """
    transactional = kind == "transactional"
    queue = sut.new_queue("authenticated", transactional=transactional)
    packets = []
    for number, (label, authenticated) in enumerate((("before", None), ("meanwhile", True), ("after", False)), 1):
        if authenticated is not None:
            sut.control.call("set_queue", name=queue, authenticated=authenticated)
        headers: dict[str, Any] = {"label": label, "destination": rf"TCP:{sut.address}\{queue}"}
        connection = peer.open_raw()
        if transactional:
            packet = Sequence(peer, ordinal=number).message(**headers)
        else:
            packet = peer.message({"DM": int(kind == "recoverable")}, **headers)
        packets.append(connection.send(packet))
        connection.require_session_ack_for_message()
        if not authenticated:
            peer.eventually(partial(_contains_message, sut, queue, label))
    judge("MQDMPR-3.1.1.2-D02", expected=in_queue("before", "after"), observed=sut.labels(queue), evidence=packets)


@needs("queues", "receive", "security")
@covers("MQDMPR-3.1.1.2-D02")
def test_signed_message_to_authenticated_queue_is_stored(peer, sut, judge):
    """The peer sends a signed message. The SUT stores it in a queue with Authentication and in a queue without
    Authentication.
    """
    secured = SecuredMessageSender(peer, sut)
    secured.require_accepted_signature(ALICE)
    queues = [sut.new_queue("authenticated", authenticated=authenticated) for authenticated in (True, False)]
    packets = [
        secured.connection.send(
            sign_message(secured.message(ALICE, label="signed", destination=rf"TCP:{sut.address}\{name}"), SIG20)
        )
        for name in queues
    ]
    peer.eventually(lambda: all(sut.labels(name) for name in queues))
    observed = dict(zip(QUEUE_AUTHENTICATION_KINDS, map(sut.labels, queues), strict=True))
    judge("MQDMPR-3.1.1.2-D02", expected=each(in_queue("signed"), "queue"), observed=observed, evidence=packets)


@needs("queue_control", "receive")
@covers("MQDMPR-3.1.1.2-02")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_of_any_type_stores_messages(peer, sut, judge):
    """A queue has the type with which it was created and, after a change by an application, the new type. With both
    types, the queue stores messages. A second queue of the same type can be created.
    """
    queues = {kind: sut.new_queue("typed", type=kind) for kind in QUEUE_TYPE_GUIDS}
    twin = rf"private$\mqc-{sut.own}-twin"
    judge(
        "MQDMPR-3.1.1.2-02",
        expected=Outcome.DONE,
        observed=sut.attempt(sut.create_queue, twin, type=QUEUE_TYPE_GUIDS[-1]),
        case="creation of a second queue of the same type",
    )
    connection = peer.open_raw()
    for name in queues.values():
        connection.send(peer.recoverable_message(label=name, destination=rf"TCP:{sut.address}\{name}"))
    connection.require_session_ack_for_message()
    peer.eventually(lambda: all(sut.labels(name) for name in queues.values()))
    for kind, name in queues.items():
        other = next(one for one in QUEUE_TYPE_GUIDS if one != kind)
        judge(
            "MQDMPR-3.1.1.2-02",
            expected={
                "type after the creation": kind,
                "change of the type": Outcome.DONE,
                "type after the change": other,
                "queue": in_queue(name),
            },
            observed={
                "type after the creation": str(sut.control.call("get_queue", name=name).get("type")).lower(),
                "change of the type": PendingRequest(peer, "set_queue", name=name, type=other).await_outcome(),
                "type after the change": str(sut.control.call("get_queue", name=name).get("type")).lower(),
                "queue": sut.labels(name),
            },
        )


SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal", r"private$\order_queue$")


@needs("environment", "restart", "queue_control", "directory")
@covers("MQDMPR-3.1.1-03", "MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-18")
def test_public_queue_is_in_directory_and_system_queue_is_not(sut, judge):
    """A public queue has the same properties at the SUT and in the directory: after its creation, after a change, and
    after a restart. The directory has no object for a system queue.
    """
    name = f"mqc-{sut.own}-public"
    local = {"authenticated": True, "privacy": "body", "journal_quota_kb": 55}
    sut.create_queue(name, label="published", quota_kb=777, base_priority=-2, **local)
    expected = {"label": "published", "quota_kb": 777, "base_priority": -2, "journaling": False}
    for time in ("after the creation", "after a change", "after a restart"):
        if time == "after a change":
            expected |= {"label": "changed", "quota_kb": 888, "base_priority": 3, "journaling": True}
            sut.control.call("set_queue", name=name, **expected)
        elif time == "after a restart":
            sut.restart()
        properties = sut.control.call("get_queue", name=name)
        published = sut.read_directory_object(queue=name) or {}
        sources = [("MQDMPR-3.1.1-03", expected | local, properties), ("MQDMPR-3.1.1.2-01", expected, published)]
        for rule, wanted, source in sources:
            judge(rule, expected=wanted, observed={one: source.get(one) for one in wanted}, case=f"properties {time}")
    queues = (*SYSTEM_QUEUES, f"{name};journal")
    system = [queue for queue in queues if sut.read_directory_object(queue=queue) is not None]
    judge("MQDMPR-3.1.1.2-18", expected=none("system queue in the directory"), observed=system)
