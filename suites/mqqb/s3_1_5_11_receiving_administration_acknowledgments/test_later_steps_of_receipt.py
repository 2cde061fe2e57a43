"""MS-MQQB 3.1.5.11 Receiving Administration Acknowledgments: the later steps of 3.1.5.8."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import in_queue
from harness.run.marks import covers, needs
from harness.sut.sut_file import PEER_PUBLIC_QUEUE
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqb.steps.tracing import Report

SMALL_QUOTA_KB = 2
BODY_BYTES = 1_500
"""The size of a body in bytes. Two messages with such bodies exceed the quota, one message does not."""


@needs("queues", "receive")
@covers("MQQB-3.1.5.11-01")
def test_repeated_administration_acknowledgment_is_stored_once(peer, sut, judge):
    """The peer sends each of two administration acknowledgments twice. The SUT stores each of them once."""
    queue = sut.new_queue("repeated")
    receiver = AcknowledgingReceiver(peer, sut)
    packets = [
        _build_acknowledgment(receiver, queue, label, DM=recoverable)
        for recoverable, label in enumerate(("express", "recoverable"))
    ]
    sent = [receiver.send_packet(packet) for packet in (*packets, *packets)]
    evidence = [*sent, receiver.require_session_ack()]
    judge.all(expected=in_queue("express", "recoverable"), observed=sut.labels(queue), case="labels", evidence=evidence)


@needs("queues", "receive")
@covers("MQQB-3.1.5.11-01")
def test_administration_acknowledgment_above_quota_is_not_stored(peer, sut, judge):
    """The peer sends two administration acknowledgments to a queue whose quota is enough for one. The SUT stores only
    the first one.
    """
    queue = sut.new_queue("full", quota_kb=SMALL_QUOTA_KB)
    receiver = AcknowledgingReceiver(peer, sut)
    sent = [
        receiver.send_packet(_build_acknowledgment(receiver, queue, label, body=bytes(BODY_BYTES)))
        for label in ("first", "second")
    ]
    evidence = [*sent, receiver.require_session_ack()]
    judge.all(expected=in_queue("first"), observed=sut.labels(queue), case="labels", evidence=evidence)


@needs("public_names")
@covers("MQQB-3.1.5.11-01")
def test_traced_administration_acknowledgment_is_reported_like_a_message(peer, sut, judge):
    """The peer sends a traced message and a traced administration acknowledgment. If the SUT sends a report on the
    message, it also sends a report on the acknowledgment.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    traced: dict[str, Any] = {"base": {"TR": 1}, "debug": {"QueueIdentifier": PEER_PUBLIC_QUEUE}, "queue": "admin"}
    sent = [
        receiver.send_packet(receiver.build_message(MessageClass=value, **traced))
        for value in (AckClass.NORMAL, AckClass.REACH_QUEUE)
    ]
    came = receiver.await_messages_of_sut(receiver.list_reports, len(sent))
    counts = [sum(Report(frame).is_about_message(message) for frame in came) for message in sent]
    receiver.acknowledge_all()
    if not counts[0]:
        raise ConformanceFailure("the SUT sent no report on a traced message")
    judge.all(expected=[1, 1], observed=counts, case="reports on each traced packet", evidence=[*sent, *came])


def _build_acknowledgment(receiver, queue, label, *, body=b"", **user):
    """Build an administration acknowledgment for a queue of the SUT."""
    destination = rf"TCP:{receiver.sut.address}\{queue}"
    return receiver.build_message(
        user, MessageClass=AckClass.REACH_QUEUE, destination=destination, label=label, body=body
    )
