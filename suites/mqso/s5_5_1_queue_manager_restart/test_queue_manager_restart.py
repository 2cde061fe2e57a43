"""MS-MQSO 5.5.1 Queue Manager Restart: local queues and outgoing queues."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.expectations import facts, holds, in_queue, none
from harness.run.marks import covers, malforms, needs
from harness.sut.control import ControlRefused
from harness.sut.shown import lookup_id
from harness.sut.sut import Sut
from suites.messages import Sequence
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import RETRY_INTERVAL_MS, Sender

MESSAGE_KINDS = ("express", "recoverable", "transactional")
LARGE_BODY_BYTES = 70_000
"""The size of a large body in bytes."""
COMPARED_QUEUE_PROPERTIES = (
    "label",
    "journaling",
    "quota_kb",
    "journal_quota_kb",
    "base_priority",
    "authenticated",
    "privacy",
)


def _read_create_and_modify_times(sut: Sut, *names: str) -> list[dict[str, object]]:
    """Return CreateTime and ModifyTime of each queue, or an empty list if the SUT does not show its data model."""
    if not sut.has("inspect"):
        return []
    shown = {one["Pathname"]: one for one in sut.inspect_queue_manager()["QueueCollection"]}
    return [{time: shown[name].get(time) for time in ("CreateTime", "ModifyTime")} for name in names if name in shown]


def _read_compared_queue_properties(sut: Sut, name: str) -> dict[str, object]:
    """Return the compared properties of a queue, or an empty mapping if the SUT refuses to show the queue."""
    try:
        shown = sut.control.call("get_queue", name=name)
    except ControlRefused:
        return {}
    return {one: shown[one] for one in COMPARED_QUEUE_PROPERTIES if one in shown}


@needs("send", "receive", "queue_control", "restart")
@covers(
    "MQSO-3.2.1-D01",
    "MQSO-3.2.1-D02",
    "MQSO-4.3.1-01",
    "MQSO-5.1.1.3-D01",
    "MQSO-5.5.1-01",
    "MQSO-5.5.1-03",
    "MQSO-5.5.1-05",
    "MQSO-5.5.1-06",
)
def test_stored_messages_survive_restart_except_express(peer, sut, judge):
    """Across restarts, three queues keep their properties and the recoverable and transactional messages that were not
    received, including large messages and a message that an undecided transaction has received. The express messages
    are lost, even those in the journal of a queue and in an outgoing queue. The queue that was created last is empty.
    """
    plain_queue = sut.new_queue(
        "plain", label="of the check", journaling=True, quota_kb=640, journal_quota_kb=32, base_priority=2
    )
    transactional = sut.new_queue("transactional", transactional=True, label="another")
    guarded = sut.new_queue("guarded", authenticated=True, privacy="body")
    names = (plain_queue, transactional, guarded)
    sut.send_here(plain_queue, ["express", "second express"])
    beyond = peer.direct_name("mqc-express")
    sut.send(beyond, label="express", body="express")
    sut.send_here(plain_queue, ["recoverable", "second recoverable", "third recoverable"], delivery="recoverable")
    sut.send_here(transactional, ["transactional", "second transactional"], delivery="transactional")
    for name, delivery in ((plain_queue, "recoverable"), (transactional, "transactional")):
        sut.send(sut.direct_name(name), label="large", body="x" * LARGE_BODY_BYTES, delivery=delivery)

    sut.control.call("receive", queue=plain_queue, timeout_ms=0)  # the first express message is in the journal now

    def read_properties_of_queues() -> list[dict[str, object]]:
        shown = [_read_compared_queue_properties(sut, name) for name in names]
        return shown + _read_create_and_modify_times(sut, *names)

    sut.environment.run_until(lambda: False, 2_000)
    sut.control.call("set_queue", name=plain_queue, label="changed later")
    properties_before = read_properties_of_queues()
    lists = {
        plain_queue: ["recoverable", "second recoverable", "third recoverable", "large"],
        transactional: ["transactional", "second transactional", "large"],
    }
    for _ in range(2):
        if sut.has("transactions"):
            undecided = sut.control.call("begin")["transaction"]
            sut.control.call("receive", queue=transactional, transaction=undecided, timeout_ms=0)
        sut.restart()
        judge(
            "MQSO-5.5.1-01",
            "MQSO-4.3.1-01",
            expected=properties_before,
            observed=read_properties_of_queues(),
            case="properties of each queue",
        )
        stored_labels = sut.labels(plain_queue)
        in_journal = sut.labels(f"{plain_queue};journal")
        express = [label for label in (*stored_labels, *in_journal) if "express" in label]
        outgoing = {one["format_name"].lower(): one["count"] for one in sut.control.call("list")["outgoing"]}
        waiting = outgoing.get(beyond.lower(), 0)
        judge("MQSO-5.1.1.3-D01", expected=0, observed=waiting, case="express messages in the outgoing queue")
        judge("MQSO-5.5.1-06", "MQSO-5.1.1.3-D01", "MQSO-3.2.1-D01", expected=none("express message"), observed=express)
        judge(
            "MQSO-5.5.1-05",
            "MQSO-3.2.1-D02",
            expected=lists[plain_queue],
            observed=[one for one in stored_labels if one not in express],
            case="labels in the plain queue",
        )
        judge(
            "MQSO-5.5.1-03",
            expected=lists[transactional],
            observed=sut.labels(transactional),
            case="labels in the transactional queue",
        )
        for name in lists:
            sut.control.call("receive", queue=name, timeout_ms=0)
            lists[name].pop(0)
    sut.restart()
    judge("MQSO-5.5.1-05", expected=in_queue(*lists[plain_queue]), observed=sut.labels(plain_queue))
    judge("MQSO-5.5.1-03", expected=in_queue(*lists[transactional]), observed=sut.labels(transactional))


@malforms("MQMQ-2.2.18.1.3-01", "MQMQ-2.2.19.2-01")
@needs("receive", "queues", "restart")
@covers("MQSO-3.2.1-D02", "MQSO-3.2.1-D03", "MQSO-5.5.1-01")
def test_sequences_of_two_senders_survive_restart(peer, sut, judge):
    """Two senders each send a transactional message to one queue and a recoverable message to another. Two further
    senders send transactional messages to a third queue, where they are received. After a restart, each sender repeats
    its messages and sends the next message to each queue. Each message is delivered once.
    """
    queues = {name: sut.new_queue(name, transactional=name != "plain") for name in ("sequences", "emptied", "plain")}
    sources = {"a": peer.identifier, "b": OTHER_GUID}
    further = {name: UUID(int=OTHER_GUID.int ^ number) for number, name in enumerate(sources, 1)}
    sequences = {
        (source, name): Sequence(peer, ordinal=number)
        for number, (source, name) in enumerate(((source, name) for source in sources for name in queues), 1)
    }

    def build_messages_of_each_kind(number: int):
        for (source, name), sequence in sequences.items():
            user = {"SourceQueueManager": (further if name == "emptied" else sources)[source]}
            where: dict[str, Any] = {"destination": rf"TCP:{sut.address}\{queues[name]}", "label": f"{source}{number}"}
            transactional = name != "plain"
            yield sequence.message(user, **where) if transactional else peer.recoverable_message(user, **where)

    def read_labels_by_queue() -> dict[str, list[str]]:
        return {name: sut.labels(queue) for name, queue in queues.items()}

    first = list(build_messages_of_each_kind(1))
    connection = peer.open_raw()
    for packet in first:
        connection.send(packet)
    connection.require_session_ack_for_message()
    peer.eventually(lambda: all(len(labels) == len(sources) for labels in read_labels_by_queue().values()))
    for _ in sources:
        sut.control.call("receive", queue=queues["emptied"], timeout_ms=0)
    peer.settle()
    sut.restart()
    connection = peer.open_raw()
    sent = [connection.send(packet) for packet in (*first, *build_messages_of_each_kind(2))]
    connection.require_session_ack_for_message()
    peer.eventually(lambda: sum(map(len, read_labels_by_queue().values())) >= 5 * len(sources))
    both = ["a1", "b1", "a2", "b2"]
    labels = read_labels_by_queue()
    expected = facts(sequences=both, emptied=["a2", "b2"], plain=both)
    judge("MQSO-5.5.1-01", expected=expected, observed=labels, evidence=sent)
    judge("MQSO-3.2.1-D02", expected=in_queue(*both), observed=labels["plain"], evidence=sent)
    expected = facts(sequences=both, emptied=["a2", "b2"])
    judge(
        "MQSO-3.2.1-D03",
        expected=expected,
        observed={name: labels[name] for name in ("sequences", "emptied")},
        evidence=sent,
    )


@needs("send", "queue_control", "restart")
@covers("MQSO-5.5.1-02", "MQSO-5.5.1-04", "MQSO-5.5.1-06", "MQSO-5.5.1-D01")
def test_outgoing_messages_survive_restart_until_acknowledged(peer, sut, judge):
    """After two restarts, the SUT sends its recoverable messages and its transactional message, but no express message.
    When two connections are lost before the acknowledgment, the SUT sends these messages again. After the
    acknowledgment, the SUT sends no message, not even after a further restart.
    """
    to = peer.direct_name("mqc-outlives")
    for tag, delivery in enumerate((*MESSAGE_KINDS, "recoverable"), 1):
        sut.send(to, body=delivery, application_tag=tag, delivery=delivery)
    sut.restart()
    sut.restart()
    sender = Sender(peer, sut, to)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 3)
    judge(
        "MQSO-5.5.1-06",
        expected=holds("no express message"),
        observed=1 not in Sender.list_tags(frames),
        evidence=frames,
    )
    for rule, tags in (("MQSO-5.5.1-04", (2, 4)), ("MQSO-5.5.1-02", (3,))):
        judge(
            rule,
            expected=list(tags),
            observed=[one for one in Sender.list_tags(frames) if one in tags],
            evidence=frames,
            case="ApplicationTags of the sent messages",
        )
    for _ in range(2):
        session.close()
        again = sender.poll_session(RETRY_INTERVAL_MS + sut.connect_timeout_ms)
        session = again or session
        frames = [] if again is None else sender.collect_messages_until_silence(again, 3)
        judge(
            "MQSO-5.5.1-D01",
            expected={2, 3, 4},
            observed=set(Sender.list_tags(frames)),
            evidence=frames,
            case="ApplicationTags of the messages that are sent again after a lost connection",
        )
    judge(
        "MQSO-5.5.1-D01",
        expected=3,
        observed=sut.outgoing_queue(to)["count"],
        evidence=frames,
        case="number of messages in the outgoing queue",
    )
    session.acknowledge_all()
    last = next((frame for frame in frames if frame["UserHeader"].TH), None)
    if last is not None:
        session.send(build_order_ack(peer, last))
    peer.eventually(lambda: sut.outgoing_queue(to)["count"] == 0)
    judge(
        "MQSO-5.5.1-D01",
        expected=0,
        observed=sut.outgoing_queue(to)["count"],
        evidence=[session.last],
        case="number of messages in the outgoing queue",
    )
    peer.settle()  # that it is gone has to be on disk, too: a restart may be a crash
    sut.restart()
    peer.settle()
    second_session = sender.poll_session(sut.connect_timeout_ms)
    remaining_tags = (
        [] if second_session is None else Sender.list_tags(sender.collect_messages_until_silence(second_session, 1))
    )
    for rule, tags in (("MQSO-5.5.1-D01", (2, 4)), ("MQSO-5.5.1-02", (3,))):
        resent = [one for one in remaining_tags if one in tags]
        judge(rule, expected=none("acknowledged message that is sent again"), observed=resent, evidence=frames)


@needs("send", "receive", "queue_control", "restart", "subqueues")
@covers("MQSO-5.5.1-05", "MQSO-5.5.1-06", "MQSO-5.1.1.3-D01")
def test_express_message_of_subqueue_is_lost_at_restart(sut, judge):
    """An express and a recoverable message are moved to a subqueue. After a restart, the subqueue contains only the
    recoverable message.
    """
    queue = sut.new_queue("moved")
    subqueue = f"{queue};mqc-sub"
    sut.create_queue(subqueue)
    for delivery in MESSAGE_KINDS[:2]:
        sut.send_here(queue, [delivery], delivery=delivery)
    for one in sut.control.call("peek", queue=queue, limit=10)["messages"]:
        sut.control.call("move", queue=queue, lookup_id=lookup_id(one), to=subqueue)
    sut.restart()
    judge.all(expected=in_queue("recoverable"), observed=sut.labels(subqueue))
