"""MS-MQDMPR 3.1.1.12 Message: the attributes of a message after a peek, a move, a receive, journaling or a restart."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, distinct_values, facts, holds, in_queue, one_of
from harness.run.marks import covers, needs
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.releases import find_release
from harness.sut.shown import lookup_id
from suites.applications import Application
from suites.mqmq.steps.outgoing import MessagesSentBySut
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.whole_messages import describe_packet

MESSAGE_PROPERTY_BY_RULE = {
    "MQDMPR-3.1.1.12-31": "application_tag",
    "MQDMPR-3.1.1.12-32": "body_base64",
    "MQDMPR-3.1.1.12-33": "body_type",
    "MQDMPR-3.1.1.12-34": "correlation_id",
    "MQDMPR-3.1.1.12-46": "label",
    "MQDMPR-3.1.1.12-57": "extension_base64",
}
"""For each rule, the name of the property on the control channel."""
ALWAYS_SHOWN_MESSAGE_PROPERTIES = ("label", "body_base64")
ALL_COMPARED_MESSAGE_PROPERTIES = tuple(MESSAGE_PROPERTY_BY_RULE.values())
PROPERTIES_SET_BY_APPLICATION = ("application_tag", "body_base64", "body_type", "label")
SENT_BODY_BYTES = bytes(range(256)) * 260 + b"\0\0\0"
INFINITE_LIFETIME_S = 0xFFFF_FFFF
SENT_APPLICATION_TAG, BODY_TYPE = 0xFEDC_BA98, 0x8001_2011
SECONDS_PER_HOUR = 3_600
LOW_SEVEN_BYTES_MASK = (1 << 56) - 1
ACK_REACH_QUEUE_CLASS = 0x0002
"""The class of an acknowledgment; a queue manager processes an acknowledgment like any other message (MS-MQQB
3.1.5.11).
"""
NONTRANSACTIONAL_DEAD_LETTER_QUEUE = "system$;deadletter"


def _judge_properties(judge, wanted, shown, path, evidence, names=ALL_COMPARED_MESSAGE_PROPERTIES):
    """Judge the properties of a message at one point of its path, for example after a move or in the journal."""
    for rule, name in MESSAGE_PROPERTY_BY_RULE.items():
        if name in names and shown is not None and (name in shown or name in ALWAYS_SHOWN_MESSAGE_PROPERTIES):
            judge(rule, expected={name: wanted[name]}, observed={name: shown.get(name)}, case=path, evidence=evidence)


def _find_message_by_label(messages: list[dict[str, Any]], label: str) -> dict[str, Any] | None:
    return next((one for one in messages if one["label"] == label), None)


@needs("receive", "queue_control")
@covers(*MESSAGE_PROPERTY_BY_RULE)
@pytest.mark.parametrize("transactional", [False, True], ids=["nontransactional", "transactional"])
@pytest.mark.parametrize("moved", [False, pytest.param(True, marks=needs("subqueues"))], ids=["unmoved", "moved"])
def test_attributes_are_unchanged_on_paths_of_reader(peer, sut, judge, transactional, moved):
    """The properties of a message from the peer are unchanged when an application peeks at it, after it was moved to a
    subqueue and back, when it is received, and in the journal of its queue.
    """
    application = Application(peer, sut, transactional=transactional)
    queue, journal = application.queue, f"{application.queue};journal"
    application.call("set_queue", name=queue, journaling=True)
    label = f"  {sut.own} label of {'x' * 220}  "
    properties: dict[str, Any] = {
        "ApplicationTag": SENT_APPLICATION_TAG,
        "BodyType": BODY_TYPE,
        "CorrelationID": bytes(range(1, 21)),
        "ExtensionData": b"\0" + bytes(range(256)) * 2 + b"\0",
    }
    sent = peer.open_raw().send(application.build_message(label, body=SENT_BODY_BYTES, properties=properties))
    if not application.await_message_count(1):
        raise ConformanceFailure("the message did not arrive in its queue")
    wanted = {
        "application_tag": SENT_APPLICATION_TAG,
        "body_base64": base64.b64encode(SENT_BODY_BYTES).decode(),
        "body_type": BODY_TYPE,
        "correlation_id": properties["CorrelationID"].hex(),
        "label": label,
        "extension_base64": base64.b64encode(properties["ExtensionData"]).decode(),
    }
    peeked = application.call("peek_message", queue=queue, timeout_ms=0)["message"]
    _judge_properties(judge, wanted, peeked, "peeked message", sent)
    if moved:
        subqueue, known = f"{queue};mqc-sub", lookup_id(application.messages()[0])
        sut.create_queue(subqueue, transactional=transactional)
        application.call("move", queue=queue, lookup_id=known, to=subqueue)
        there = next(iter(application.messages(subqueue)), None)
        _judge_properties(judge, wanted, there, "message in a subqueue", sent)
        if there is not None:
            application.call("move", queue=subqueue, lookup_id=lookup_id(there), to=queue)
    received = application.call("receive", queue=queue, timeout_ms=0)["message"]
    _judge_properties(judge, wanted, received, "received message", sent)
    journaled = _find_message_by_label(application.messages(journal), received["label"] if received else label)
    _judge_properties(judge, wanted, journaled, "message in the journal", sent)
    application.call("purge", queue=journal)


@needs("send", "receive")
@covers(*(rule for rule, name in MESSAGE_PROPERTY_BY_RULE.items() if name in PROPERTIES_SET_BY_APPLICATION))
@covers("MQDMPR-3.1.1.12-D02", "MQDMPR-3.1.1.12-D04", "MQDMPR-3.1.1.12-D52")
def test_attributes_of_local_message_are_unchanged(peer, sut, judge):
    """An application of the SUT sends messages to two local queues, one of them transactional, and to an unreachable
    queue. The message in the nontransactional queue and the dead letter have the properties that the application set.
    All identifiers differ. The arrival times of the messages in the local queues are within the duration of the check.
    """
    application = Application(peer, sut)
    label = f" {sut.own} {'x' * 230} "
    values = {
        "body_base64": base64.b64encode(SENT_BODY_BYTES).decode(),
        "application_tag": SENT_APPLICATION_TAG,
        "body_type": 0x2011,
    }
    before_s = peer.environment.now().utc_s
    dead = sut.send(
        peer.direct_name("mqc-unreachable"),
        label=label,
        journal=["negative"],
        time_to_reach_queue_s=1,
        delivery="recoverable",
        **values,
    )
    sut.send(sut.direct_name(application.queue), label=label, **values)
    sut.send(sut.direct_name(sut.queue("transactional")), label=label, delivery="transactional")
    peer.pass_time(4_000)
    frame = peer.open_raw().send(application.build_message("from the peer"))
    application.await_message_count(2)
    messages = {"message in a local queue": next((m for m in application.messages() if label[:50] in m["label"]), None)}
    messages["dead letter"] = next(
        (m for m in sut.read_kept_messages(NONTRANSACTIONAL_DEAD_LETTER_QUEUE) if m["message_id"] == dead), None
    )
    wanted = {**values, "label": label}
    for path, shown in messages.items():
        _judge_properties(judge, wanted, shown, path, frame, PROPERTIES_SET_BY_APPLICATION)
    if not find_release(sut).keeps_undeliverable_messages:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D52", reason="the release keeps no dead letters (MS-MQMQ <3>)")
    else:
        judge(
            "MQDMPR-3.1.1.12-D52",
            expected=holds("the message that did not reach its queue is a dead letter", otherwise="no dead letter"),
            observed=messages["dead letter"] is not None,
            evidence=frame,
        )
    local: list[dict[str, Any] | None] = [
        messages["message in a local queue"],
        _find_message_by_label(sut.messages("transactional"), label),
    ]
    identifiers = [dead, *(one["message_id"] for one in local if one is not None)]
    judge(
        "MQDMPR-3.1.1.12-D02",
        expected=distinct_values("identifiers of the messages", len(identifiers)),
        observed=identifiers,
        evidence=frame,
    )
    if any(one is None or "arrived_time" not in one for one in local):
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D04", reason="the control channel shows no arrived_time")
        return
    judge(
        "MQDMPR-3.1.1.12-D04",
        expected=[between(before_s - CLOCK_TOLERANCE_S, peer.environment.now().utc_s + CLOCK_TOLERANCE_S)] * 2,
        observed=[one["arrived_time"] for one in local if one is not None],
        case="arrival times in seconds",
        evidence=frame,
    )


PROPERTIES_OF_SENT_MESSAGES: tuple[dict[str, Any], ...] = (
    {"application_tag": 0xFFFF_FFFF, "body": "odd" * 21_001, "body_type": 0x8001_2011, "label": "x" * 248 + "\u4e2d"},
    {"application_tag": 1, "body": "", "body_type": 0x7FFF_FFFF, "label": "  spaces  "},
    {"application_tag": 0x8000_0000, "body": "text\0\0", "body_type": 8, "label": "\u00e9"},
)


@needs("send")
@covers(*(rule for rule, name in MESSAGE_PROPERTY_BY_RULE.items() if name in PROPERTIES_SET_BY_APPLICATION))
@pytest.mark.parametrize("delivery", ["express", "transactional"])
def test_attributes_of_application_are_sent_unchanged(peer, sut, judge, delivery):
    """An application of the SUT sends three messages to the peer. The application tag, body, body type and label of
    each packet are those that the application set.
    """
    outgoing = MessagesSentBySut(peer, sut)
    frames = [outgoing.send(delivery=delivery, **values) for values in PROPERTIES_OF_SENT_MESSAGES]
    outgoing.end()
    for frame, values in zip(frames, PROPERTIES_OF_SENT_MESSAGES, strict=True):
        shown = describe_packet(frame, peer.identifier)
        wanted = values | {"body_base64": base64.b64encode(values["body"].encode()).decode()}
        _judge_properties(
            judge, wanted, shown, f"packet with label {values['label'][:9]}", frame, PROPERTIES_SET_BY_APPLICATION
        )


@needs("send", "receive", "queues")
@covers("MQDMPR-3.1.1.12-40", "MQDMPR-3.1.1.12-D12", "MQDMPR-3.1.1.12-D52")
def test_sender_acknowledges_messages_that_do_not_arrive_in_time(peer, sut, judge):
    """The SUT sends four messages to an unreachable peer: an express, a recoverable and a transactional message that
    request negative arrival acknowledgments, and a message without a request. When the messages expire, the local
    administration queue gets one acknowledgment of each of the first three messages.
    """
    admin = Application(peer, sut)
    limits = {"admin_queue": sut.direct_name(admin.queue), "time_to_reach_queue_s": 1}
    to = peer.direct_name("mqc-unreachable")
    requests = ["express", "recoverable", "transactional"]
    for delivery in requests:
        sut.send(to, body=delivery, delivery=delivery, acks=["negative_arrival"], **limits)
    sut.send(to, body="no request", acks=["positive_arrival"], **limits)
    peer.pass_time(4_000)
    peer.eventually(lambda: len(admin.labels()) >= len(requests))
    shown = admin.messages()
    frame = peer.open_raw().send(peer.recoverable_message())  # later: the SUT may send on any open session (E16)
    judge(
        "MQDMPR-3.1.1.12-40",
        "MQDMPR-3.1.1.12-D52",
        expected=len(requests),
        observed=len(shown),
        case="number of acknowledgments",
        evidence=frame,
    )
    classes = [one.get("class") for one in shown]
    if None in classes:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-D12", reason="the control channel shows no class")
        return
    judge(
        "MQDMPR-3.1.1.12-D12",
        expected=["MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT"] * len(requests),
        observed=classes,
        case="classes of the acknowledgments",
        evidence=frame,
    )


def _get_class_of_labeled_message(messages, label):
    """Return the class of the message with the given label, as the control channel shows it."""
    found = _find_message_by_label(messages, label)
    return "no message" if found is None else found.get("class", "not shown")


PROPERTIES_KEPT_AT_RESTART = (
    "body_base64",
    "body_type",
    "application_tag",
    "correlation_id",
    "extension_base64",
    "arrived_time",
    "sent_time",
    "priority",
    "class",
    "source",
    "time_to_be_received_s",
    "acks",
    "journal",
    "admin_queue",
    "response_queue",
    "lookup_id",
    "message_id",
)


@needs("receive", "queue_control", "restart")
@covers("MQDMPR-3.1.1.12-67")
@pytest.mark.parametrize("place", ["journal of a queue", "dead-letter queue"])
def test_kept_message_is_unchanged_after_restart(peer, sut, judge, place):
    """A recoverable message with every property set is in the journal of its queue, or has expired and is in the
    dead-letter queue. Two restarts change none of its properties.
    """
    application = Application(peer, sut)
    expired = place == "dead-letter queue"
    shown = NONTRANSACTIONAL_DEAD_LETTER_QUEUE if expired else f"{application.queue};journal"
    application.call("set_queue", name=application.queue, journaling=True)
    label = f"kept {sut.own} {'x' * 200}"
    user: Mapping[str, Any] = {"JN": 1}
    if expired:
        user = {"JN": 1, "SentTime": peer.environment.now().utc_s - SECONDS_PER_HOUR}
    base = {"PR": 6, **({"TimeToReachQueue": 1} if expired else {})}
    properties: dict[str, Any] = {
        "ApplicationTag": SENT_APPLICATION_TAG,
        "BodyType": BODY_TYPE,
        "CorrelationID": b"\7" * 20,
    }
    properties |= {"ExtensionData": b"odd\0"}
    sent = peer.open_raw().send(
        application.build_message(label, user, base=base, body=b"\0body\0", properties=properties)
    )
    acknowledgment = f"acknowledgment {sut.own}"
    if not expired:
        peer.open_raw().send(
            application.build_message(acknowledgment, properties={"MessageClass": ACK_REACH_QUEUE_CLASS})
        )
        application.await_message_count(2)
        for _ in range(2):
            application.receive()

    def find_kept_message() -> dict[str, Any] | None:
        kept = sut.read_kept_messages(NONTRANSACTIONAL_DEAD_LETTER_QUEUE) if expired else application.messages(shown)
        return _find_message_by_label(kept, label)

    peer.eventually(lambda: find_kept_message() is not None)
    before = find_kept_message()
    if before is None:
        judge.mark_not_exercised("MQDMPR-3.1.1.12-67", reason=f"the message is not in the {place}", evidence=sent)
        return
    classes = [] if expired else [_get_class_of_labeled_message(application.messages(shown), acknowledgment)]
    sut.restart()
    sut.restart()
    after = find_kept_message() or {}
    if not expired:
        classes.append(_get_class_of_labeled_message(application.messages(shown), acknowledgment))
        judge(
            "MQDMPR-3.1.1.12-67",
            expected=classes[0],
            observed=classes[1],
            case="class of an acknowledgment in the journal",
            evidence=sent,
        )
    judge(
        "MQDMPR-3.1.1.12-67",
        expected={name: before[name] for name in PROPERTIES_KEPT_AT_RESTART if name in before},
        observed={name: after.get(name) for name in PROPERTIES_KEPT_AT_RESTART if name in before},
        case=f"message in the {place}",
        evidence=sent,
    )


def _peek_label_by_lookup_identifier(sut, queue, number):
    """Return the label of the message with the given LookupIdentifier, or REFUSED."""
    try:
        return sut.control.call("peek_by_lookup_id", queue=queue, lookup_id=number)["message"]["label"]
    except ControlRefused:
        return Outcome.REFUSED


@needs("receive", "queue_control", "subqueues")
@covers("MQDMPR-3.1.1.12-D01")
def test_lookup_identifiers_stay_unique_after_moves(peer, sut, judge):
    """Messages are moved to a subqueue. All messages of the queue have different LookupIdentifiers, and a lookup by
    each LookupIdentifier finds its message.
    """
    application = Application(peer, sut)
    subqueue = f"{application.queue};mqc-sub"
    frames = application.fill_queue(*"abcd")
    sut.create_queue(subqueue)
    for label in "da":
        application.call(
            "move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()[label], to=subqueue
        )
    found: dict[str, list[str]] = {}
    for name, queue in (("queue", application.queue), ("subqueue", subqueue)):
        found[name] = [
            _peek_label_by_lookup_identifier(sut, queue, number)
            for number in application.get_lookup_ids_by_label(queue).values()
        ]
    judge(
        "MQDMPR-3.1.1.12-D01",
        expected={"queue": in_queue("b", "c"), "subqueue": in_queue("d", "a")},
        observed={"queue": sorted(found["queue"]), "subqueue": found["subqueue"]},
        evidence=frames,
    )


PEER_MESSAGE_LABEL = "message of the peer"
PRIORITIES_IN_SENDING_ORDER = (3, 0, 7, 5, 6, 1, 4, 2, 6, 3, 7, 0)


@needs("send", "receive", "queues")
@covers("MQDMPR-3.1.1.12-D01", "MQDMPR-3.1.1.12-D48")
@pytest.mark.parametrize("restarted", [False, pytest.param(True, marks=needs("restart"))], ids=["running", "restarted"])
def test_lookup_identifiers_of_local_messages_follow_priority(peer, sut, judge, restarted):
    """The peer sends one message, and applications of the SUT send twelve messages of all priorities, to one queue. In
    one case, the SUT restarts in between; then all messages are recoverable. The LookupIdentifiers differ, and a lookup
    by each of them finds its message. The messages are in the order of their priorities, or in the order of their
    arrival (erratum E59).
    """
    application = Application(peer, sut)
    labels = {PEER_MESSAGE_LABEL: 3}
    frames = application.fill_queue(PEER_MESSAGE_LABEL, PR=3)
    for number, priority in enumerate(PRIORITIES_IN_SENDING_ORDER):
        if restarted and number in (4, 8):
            sut.restart()
        labels[label := f"{number} of priority {priority}"] = priority
        application.send(label, priority=priority, delivery="recoverable" if restarted or number % 2 else "express")
    if not application.await_message_count(len(labels)):
        raise ConformanceFailure("the messages are not in their queue")
    known = application.get_lookup_ids_by_label()
    judge(
        "MQDMPR-3.1.1.12-D01",
        expected={one: one for one in labels},
        observed={one: _peek_label_by_lookup_identifier(sut, application.queue, known[one]) for one in labels},
        case="labels that the lookups find",
    )
    by_identifier = [labels[one] for one in sorted(known, key=known.__getitem__)]
    by_priority = sorted(labels.values(), reverse=True)
    by_arrival = [*labels.values()] if max(known.values()) <= LOW_SEVEN_BYTES_MASK else by_priority
    judge(
        "MQDMPR-3.1.1.12-D48",
        expected=one_of(by_priority, by_arrival),
        evidence=frames,
        observed=by_identifier,
        case="priorities in the order of the LookupIdentifiers",
    )


@needs("receive", "queue_control", "subqueues")
@covers("MQDMPR-3.1.1.12-D53")
def test_message_expires_wherever_it_is_in_queue(peer, sut, judge):
    """Four messages have a lifetime of four seconds: the second, the fourth and the fifth of five messages, and a
    message from a local application. The fifth message is moved to a subqueue. After that time, only the other messages
    remain.
    """
    application = Application(peer, sut)
    subqueue = f"{application.queue};mqc-sub"
    sut.create_queue(subqueue)
    connection = peer.open_raw()
    for number, label in enumerate("abcde"):
        user = {"DM": number // 2 % 2, "TimeToBeReceived": 4} if label in "bde" else {"DM": 1}
        headers = {"label": label, "destination": rf"TCP:{sut.address}\{application.queue}"}
        connection.send(peer.message(user, **headers))
    connection.require_session_ack_for_message()
    local = sut.has("send")
    if local:
        application.send("local", delivery="recoverable", time_to_be_received_s=4)
        application.send("local and last", time_to_be_received_s=INFINITE_LIFETIME_S)
    if not application.await_message_count(7 if local else 5):
        raise ConformanceFailure("the messages did not arrive in their queue")
    application.call("move", queue=application.queue, lookup_id=application.get_lookup_ids_by_label()["e"], to=subqueue)
    before = application.labels(subqueue)
    peer.pass_time(6_000)
    judge(
        "MQDMPR-3.1.1.12-D53",
        expected=facts(
            subqueue_before=in_queue("e"), queue=in_queue("a", "c", *["local and last"] * local), subqueue=in_queue()
        ),
        observed={
            "subqueue_before": before,
            "queue": application.labels(),
            "subqueue": application.labels(subqueue),
        },
        evidence=connection.sent,
    )
