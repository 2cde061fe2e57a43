"""MS-MQDMPR 3.1.1 Abstract Data Model: elements that survive a restart, and elements that do not."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, distinct_values, each, holds, in_queue, none
from harness.run.marks import covers, needs, varied
from harness.sut.control import ControlRefused
from harness.sut.outcomes import Outcome
from harness.sut.shown import lookup_id
from suites.applications import Application, PendingRequest
from suites.mqdmpr.steps import descriptors
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.provoking import read_application_tag
from suites.mqqb.steps.sender import Sender

pytestmark = needs("restart")

LONGEST_LABEL = "Kept, \u00e4\u0416\u4e2d " + "x" * 110 + " End"
"""A label of 124 characters, the maximum number (MS-MQMQ 2.3.1.8)."""
QUEUE_PROPERTY_CASES: tuple[dict[str, Any], ...] = (
    {"label": "kept", "journaling": True, "quota_kb": 4_096, "journal_quota_kb": 512, "base_priority": -32_768},
    {"transactional": True, "authenticated": True, "privacy": "body", "base_priority": 32_767},
    {"type": "6d71636f-6e66-4f72-8d00-00000000007e", "privacy": "none"},
    {"label": LONGEST_LABEL, "quota_kb": 0, "journal_quota_kb": 0},
    {"type": "6d71636f-6e66-4f72-8d00-00000000007e", "quota_kb": 0xFFFF_FFFE, "journal_quota_kb": 0x8000_0000},
    {
        "transactional": True,
        "journaling": True,
        "label": " two  spaces ",
        "type": "ffffffff-ffff-ffff-ffff-ffffffffffff",
    },
    {},
)
PERSISTENT_QUEUE_ATTRIBUTES = (
    "Identifier",
    "QueueType",
    "PrivateQueueNumber",
    "Pathname",
    "QualifiedPathname",
    "CreateTime",
    "ModifyTime",
    "MulticastAddress",
    "Security",
    "Scope",
)
"""The attributes of a queue that only the data model shows, and that survive a restart. Spec: MS-MQDMPR 3.1.1.2."""
LONG_READ_TIMEOUT_MS = 600_000
SECOND_USER_SID = "S-1-5-21-4-5-6-1000"
WRITE_RIGHT_MASK, PEEK_RIGHT_MASK = 0x0000_0004, 0x0000_0002
"""Rights of MQQUEUEACCESSMASK. Spec: MS-MQMQ 2.2.24."""
SHORT_TIME_TO_REACH_QUEUE_FIELD = {"TimeToReachQueue": 1}
SECONDS_PER_HOUR = 3_600
LARGE_BODY_REPEAT_COUNT = 2_000


@needs("queue_control")
@covers("MQDMPR-3.1.1-01", "MQDMPR-3.1.1-02", "MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-D01")
@varied("queue journaling", "queue quota", "queue privacy")
def test_queue_properties_survive_restart(peer, sut, judge):
    """Queues keep all properties across two restarts, even those that only the data model shows. A deleted queue stays
    deleted, and a new queue gets an unused private number.
    """
    deleted = sut.new_queue("deleted")  # before the others: the highest number has to be that of a queue that is kept
    names = [sut.new_queue("Kept", **properties) for properties in QUEUE_PROPERTY_CASES]
    sut.control.call("delete_queue", name=deleted)
    numbers = [sut.private_format_name(name) for name in names]
    judge("MQDMPR-3.1.1.2-D01", expected=distinct_values("private format names", len(names)), observed=numbers)
    peer.pass_time(2_000)  # ModifyTime counts seconds, and is to differ from CreateTime
    for label, quota_kb in (("changed", 76), ("changed again", 77)):
        sut.control.call("set_queue", name=names[-1], label=label, journaling=True, quota_kb=quota_kb)

    def read_queue_properties() -> list[dict[str, Any]]:
        shown = [sut.inspect_queue(name) if sut.has("inspect") else {} for name in names]
        attributes = [{name: one[name] for name in PERSISTENT_QUEUE_ATTRIBUTES if name in one} for one in shown]
        properties = [sut.control.call("get_queue", name=name) for name in names]
        return [{**one, **more} for one, more in zip(properties, attributes, strict=True)]

    properties_before = read_queue_properties()
    for time in ("first", "second"):
        sut.restart()
        try:
            properties_after = read_queue_properties()
        except ControlRefused as refused:
            properties_after = [{"refused": str(refused)}]
        different = [
            f"{name} {new.get(name)} for {value}"
            for old, new in zip(properties_before, properties_after, strict=False)
            for name, value in old.items()
            if name not in ("id", "ok") and new.get(name) != value
        ]
        judge(
            "MQDMPR-3.1.1-01",
            "MQDMPR-3.1.1-02",
            "MQDMPR-3.1.1.2-01",
            expected=none("property whose value has changed"),
            observed=different,
            case=f"queues after the {time} restart",
        )
        judge(
            "MQDMPR-3.1.1-01",
            expected=Outcome.REFUSED,
            observed=sut.attempt("get_queue", name=deleted),
            case="query of the deleted queue",
        )
    names.append(sut.new_queue("later"))
    numbers = [sut.private_format_name(name) for name in names]
    judge("MQDMPR-3.1.1.2-D01", expected=distinct_values("private format names", len(names)), observed=numbers)


@needs("send")
@covers("MQDMPR-3.1.1-01", "MQDMPR-3.1.1.3-D01", "MQDMPR-3.1.1.12-20")
def test_messages_of_each_outgoing_queue_survive_restart(peer, sut, judge):
    """Applications of the SUT send an express, a recoverable and a large recoverable message to each of three queues of
    a peer that does not accept connections until the SUT has restarted. All recoverable messages arrive, each at its
    destination.
    """
    names = {number: peer.direct_name(f"mqc-kept-{number}") for number in (1, 2, 3)}
    for tag in range(1, 7):
        if tag % 2:
            sut.send(names[(tag + 1) // 2], body="express", application_tag=10 + tag)
        body = f"kept {tag}" if tag % 2 else f"kept {tag}" * LARGE_BODY_REPEAT_COUNT
        sut.send(names[(tag + 1) // 2], body=body, application_tag=tag, delivery="recoverable")
    for number, name in names.items():
        sut.send(name, body="transactional", application_tag=6 + number, delivery="transactional")
    sut.restart()
    peer.listen(ignore_incoming=True)
    came = peer.inbox.wait(lambda frame: read_application_tag(frame) in range(1, 10), 9)
    peer.inbox.acknowledge()
    by_destination: dict[str, list[int]] = {}
    for frame in came:
        destination = str(Layout(frame).fields.get("UserHeader.DestinationQueue"))
        by_destination.setdefault(destination, []).append(read_application_tag(frame))
    judge.all(
        expected=any_order([1, 2, 7], [3, 4, 8], [5, 6, 9]),
        observed=[sorted(set(tags)) for tags in by_destination.values()],
        evidence=came,
        case="ApplicationTags of the messages for each destination",
    )


@needs("queue_control")
@covers("MQDMPR-3.1.1-02", "MQDMPR-3.1.1.2-01")
def test_security_descriptors_of_queues_survive_restart(sut, judge):
    """Two queues have different security descriptors: each queue has its own descriptor after a restart."""
    queues: dict[str, str] = {}
    for right in (PEEK_RIGHT_MASK, PEEK_RIGHT_MASK | WRITE_RIGHT_MASK):
        given = descriptors.build_security_descriptor(
            granted=((descriptors.EVERYONE_SID, right), (SECOND_USER_SID, WRITE_RIGHT_MASK))
        )
        try:
            queue = sut.new_queue("secured", security_base64=base64.b64encode(given).decode())
        except ControlRefused as refused:
            judge.end_unobservable(f"the control channel cannot create a queue with a security descriptor: {refused}")
            return
        queues[f"queue with right {right}"] = queue
    before = {kind: descriptors.read_security_descriptor_of_queue(sut, name) for kind, name in queues.items()}
    sut.restart()
    after = {kind: descriptors.read_security_descriptor_of_queue(sut, name) for kind, name in queues.items()}
    judge.all(
        expected={kind: one.entries for kind, one in before.items()},
        observed={kind: one.entries for kind, one in after.items()},
        case="SID and rights of each entry",
    )


@needs("receive", "queues")
@covers("MQDMPR-3.1.1-04")
@varied("positive journaling", acknowledgments=("none", "of arrival"), body=("short", "5,000 bytes"))
def test_volatile_elements_end_with_restart(peer, sut, judge):
    """After a restart, the express message, the open handle, the cursor and the pending read no longer exist. A message
    that arrives later stays in its queue.
    """
    queue, other = sut.new_queue("reader"), sut.new_queue("express")
    connection = peer.open_raw()
    connection.send(peer.message({"DM": 0}, label="express", destination=rf"TCP:{sut.address}\{other}"))
    connection.require_session_ack_for_message()
    if not peer.eventually(lambda: sut.labels(other) == ["express"]):
        raise ConformanceFailure("the express message did not arrive in its queue")
    handle = sut.control.call("open_queue", queue=queue, access="receive", deny_receive=True)["handle"]
    cursor = sut.control.call("open_cursor", handle=handle)["cursor"]
    sut.control.begin("receive", handle=handle, timeout_ms=LONG_READ_TIMEOUT_MS)
    sut.restart()
    later = peer.open_raw()
    later.send(peer.recoverable_message(label="later", destination=rf"TCP:{sut.address}\{queue}"))
    later.require_session_ack_for_message()
    peer.eventually(lambda: sut.labels(queue) == ["later"])
    judge(
        "MQDMPR-3.1.1-04",
        expected={
            "express messages": in_queue(),
            "message that arrives after the restart": holds(
                "stored in its queue", otherwise="received by the pending read"
            ),
            "peek by the old handle": Outcome.REFUSED,
            "peek by the old cursor": Outcome.REFUSED,
            "peek by queue name": Outcome.DONE,
        },
        observed={
            "express messages": sut.labels(other),
            "message that arrives after the restart": "later" in sut.labels(queue),
            "peek by the old handle": sut.attempt("peek_message", handle=handle, timeout_ms=0),
            "peek by the old cursor": sut.attempt("peek_message", cursor=cursor, timeout_ms=0),
            "peek by queue name": sut.attempt("peek_message", queue=queue, timeout_ms=0),
        },
    )


@needs("receive", "queue_control")
@covers("MQDMPR-3.1.1-04", "MQSO-5.5.1-06")
@pytest.mark.parametrize(
    "place",
    [
        "queue of an application",
        "journal of the queue",
        "dead-letter queue",
        pytest.param("subqueue", marks=needs("subqueues")),
        pytest.param("queue with a message of the SUT", marks=needs("send")),
        pytest.param("dead-letter queue of the sender", marks=needs("send")),
    ],
)
def test_express_message_is_in_no_place_after_restart(peer, sut, judge, place):
    """An express and a recoverable message are in the same queue, subqueue, journal or dead-letter queue. After a
    restart, only the recoverable message is still there.
    """
    rules = ("MQDMPR-3.1.1-04", "MQSO-5.5.1-06")
    application = Application(peer, sut)
    queue, names = application.queue, [f"{one} {sut.own}" for one in ("express", "recoverable")]
    application.call("set_queue", name=queue, journaling=True)
    shown = {
        "subqueue": f"{queue};mqc-sub",
        "journal of the queue": f"{queue};journal",
        "dead-letter queue": "system$;deadletter",
        "dead-letter queue of the sender": "system$;deadletter",
    }.get(place, queue)
    if place == "queue with a message of the SUT":
        for name, delivery in zip(names, ("express", "recoverable"), strict=True):
            application.send(name, delivery=delivery)
    elif place == "dead-letter queue of the sender":
        for name, delivery in zip(names, ("express", "recoverable"), strict=True):
            dead = {"delivery": delivery, "journal": ["negative"], "time_to_reach_queue_s": 1}
            sut.send(peer.direct_name("mqc-unreachable"), label=name, **dead)
        peer.pass_time(4_000)
    else:
        late = {"SentTime": peer.environment.now().utc_s - SECONDS_PER_HOUR, "JN": 1}
        expired = place == "dead-letter queue"
        connection = peer.open_raw()
        for number, name in enumerate(names):
            user = {"DM": number, **(late if expired else {})}
            base = {"base": SHORT_TIME_TO_REACH_QUEUE_FIELD} if expired else {}
            connection.send(peer.message(user, label=name, destination=rf"TCP:{sut.address}\{queue}", **base))
        connection.require_session_ack_for_message()
    if place == "subqueue":
        sut.create_queue(shown)
        for name in names:
            application.call("move", queue=queue, lookup_id=application.get_lookup_ids_by_label()[name], to=shown)
    elif place == "journal of the queue":
        for _ in names:
            application.receive()

    def list_labels_of_messages() -> list[str]:
        return [one for one in sut.labels(shown) if one in names]

    if not peer.eventually(lambda: list_labels_of_messages() == names):
        judge.mark_not_exercised(*rules, reason=f"the messages are not in the {place} before the restart")
        return
    sut.restart()
    judge(*rules, expected=in_queue(names[1]), observed=list_labels_of_messages(), case=place)


@needs("send")
@covers("MQDMPR-3.1.1-04")
def test_outgoing_express_message_is_not_sent_after_restart(peer, sut, judge):
    """The SUT sends an express and a recoverable message, which the peer does not acknowledge. After a restart, the SUT
    sends only the recoverable message again.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-volatile"))
    sender.send(1, delivery="express")
    sender.send(2, delivery="recoverable")
    _, before = sender.await_first_messages(2)
    sut.restart()
    session = sender.poll_session()
    while session is not None and session.record.closed_by is not None:  # what it had before the restart
        session = sender.poll_session()
    frames = [] if session is None else sender.collect_messages_until_silence(session, 1)
    judge(
        "MQDMPR-3.1.1-04",
        expected=[2],
        observed=sorted(set(Sender.list_tags(frames))),
        evidence=[*before, *frames],
        case="numbers of the messages that are sent after a restart",
    )


@needs("receive", "qm2qm")
@covers("MQDMPR-3.1.1.11-07")
@varied("application tag", "destination", priority=("3", "7"))
def test_message_held_by_remote_reader_is_free_after_restart(remote, sut, judge):
    """A remote reader begins a receive in two phases, and the SUT restarts after the first phase. An application can
    then receive the message (erratum E141).
    """
    queue = remote.open_with_messages("first", "second")
    read = queue.start_receive()
    if read.label_or_outcome != "first":
        raise ConformanceFailure(f"the remote reader got {read.label_or_outcome}, not the first message")
    sut.restart()
    labels = [sut.read_label("receive", queue=sut.queue()) for _ in range(2)]
    judge(
        "MQDMPR-3.1.1.11-07",
        expected=["first", "second"],
        observed=labels,
        evidence=read,
        errata="E141",
        case="labels returned by the reads after a restart",
    )


@needs("receive", "queue_control", "subqueues")
@covers("MQDMPR-3.1.1.11-07", "MQDMPR-3.1.7.1.16-05")
def test_messages_keep_positions_after_restart(peer, sut, judge):
    """A restart does not change the order of recoverable messages of several priorities, nor the order of messages that
    were moved to a subqueue in an order other than their order of arrival. A message that was moved to the subqueue and
    back is in the queue. A message that was moved to the subqueue and received by a reader that waited there is in no
    queue.
    """
    queue = sut.new_queue("positions")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    connection = peer.open_raw()
    for label, priority in (("c", 1), ("g", 4), ("e", 3), ("a", 3), ("b", 6), ("f", 3), ("d", 1)):
        headers = {"destination": rf"TCP:{sut.address}\{queue}", "base": {"PR": priority}}
        connection.send(peer.recoverable_message(label=label, **headers))
    connection.require_session_ack_for_message()
    if not peer.await_label("d", queue):
        raise ConformanceFailure("the messages are not in the queue")
    known = {one["label"]: lookup_id(one) for one in sut.control.call("peek", queue=queue)["messages"]}
    read = PendingRequest(peer, "receive", queue=subqueue, timeout_ms=LONG_READ_TIMEOUT_MS)
    peer.settle()
    for label in "gfead":
        sut.control.call("move", queue=queue, lookup_id=known[label], to=subqueue)
    if (received := read.await_label()) != "g":
        raise ConformanceFailure(f"the reader that waited at the subqueue got {received}, not the first moved message")
    sut.control.call("move", queue=subqueue, lookup_id=known["d"], to=queue)
    sut.restart()
    judge.all(
        expected={"queue": in_queue("b", "c", "d"), "subqueue": in_queue("f", "e", "a")},
        observed={"queue": sut.labels(queue), "subqueue": sut.labels(subqueue)},
        evidence=connection.sent,
    )


@needs("send")
@covers("MQDMPR-3.1.1-03", "MQDMPR-3.1.1-05")
def test_sut_identifier_is_same_after_restart(peer, sut, judge):
    """Every message of the SUT has the same SourceQueueManager, before and after a restart."""
    sender = Sender(peer, sut, peer.direct_name("mqc-identifier"))
    sender.send(1)
    first_session = sender.await_session()
    sender.collect_messages(first_session, 1)
    peer.pass_time(sut.quiet_ms)
    sender.send(2)
    frames = sender.collect_messages(first_session, 2)
    first_session.acknowledge_all()
    sut.restart()
    sender.send(3)
    second_session = sender.await_session()
    later = sender.collect_messages(second_session, 1)
    second_session.acknowledge_all()
    if (len(frames), len(later)) != (2, 1):
        raise ConformanceFailure(
            f"{len(frames)} of 2 messages arrived before the restart, {len(later)} of 1 message after the restart"
        )
    sut_identifier = str(sut.guid)
    judge(
        "MQDMPR-3.1.1-05",
        expected=each(sut_identifier, "SourceQueueManager"),
        observed=_list_source_queue_managers([*frames, *later]),
        evidence=[*frames, *later],
    )
    judge(
        "MQDMPR-3.1.1-03",
        expected=[sut_identifier],
        observed=_list_source_queue_managers(later),
        evidence=later,
        case="SourceQueueManagers after a restart",
    )


def _list_source_queue_managers(frames):
    return [str(frame["UserHeader"].SourceQueueManager) for frame in frames]
