"""MS-MQQB 3.1.5.8.8 Inserting a Message into a Local Queue: the quota of the queue manager is reached."""

from __future__ import annotations

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import connection_closed_by_sut, holds
from harness.run.marks import covers, needs, sut_survives
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver

QUEUE_MANAGER_QUOTA_KB = 8_192
LARGE_BODY_KB = 1_024


@sut_survives()
@covers("MQQB-3.1.5.8.8-14", "MQQB-3.1.5.8.8-15", "MQQB-3.1.5.8.8-16", "MQDMPR-3.1.7.1.9-04")
@needs("queue_manager_quota", "receive")
@pytest.mark.parametrize("recoverable", [1, 0], ids=["recoverable", "express"])
def test_message_that_exceeds_quota_after_stored_messages_closes_session(peer, sut, judge, recoverable):
    """The peer sends messages until their bodies together exceed QueueManagerQuota. The SUT closes the session when a
    message does not fit, and does not store that message. When the queue is empty again, the SUT stores a message of
    the same size as the message that did not fit.
    """
    most = sut.provide_quota_kb(QUEUE_MANAGER_QUOTA_KB) // LARGE_BODY_KB + 1
    queue, receiver = sut.queue(), AcknowledgingReceiver(peer, sut)
    sent = [_send_large_message(receiver, recoverable, 1)]
    while _is_arrival_acknowledged(receiver, sent[-1]) and len(sent) < most:
        sent.append(_send_large_message(receiver, recoverable, len(sent) + 1))
    ended = receiver.session.await_close()
    stored = f"message {len(sent)}" in sut.labels(queue)
    sut.control.call("purge", queue=queue)
    if ended.closed_by_sut:
        _require_storage_in_empty_queue(receiver, recoverable)
    judge("MQQB-3.1.5.8.8-15", expected=connection_closed_by_sut(), observed=ended, evidence=[sent[-1], ended.last])
    judge(
        "MQQB-3.1.5.8.8-14",
        "MQQB-3.1.5.8.8-16",
        "MQDMPR-3.1.7.1.9-04",
        expected=holds("the SUT did not store the message", otherwise="the SUT stored the message in its queue"),
        observed=not stored,
        evidence=[sent[-1]],
    )


def _send_large_message(receiver: AcknowledgingReceiver, recoverable: int, number: int) -> Frame:
    """Send a message that requests an acknowledgment of its arrival."""
    body, label = bytes(LARGE_BODY_KB * 1_024), f"message {number}"
    return receiver.send_packet(
        receiver.build_message({"DM": recoverable}, properties={"PA": 1}, body=body, label=label)
    )


def _is_arrival_acknowledged(receiver: AcknowledgingReceiver, message: Frame) -> bool:
    """Return whether the SUT acknowledged the arrival of a message before the session ended."""
    session = receiver.session

    def is_acknowledged() -> bool:
        return bool(receiver.list_acks_of_class(AckClass.REACH_QUEUE, message))

    receiver.peer.wait(lambda: is_acknowledged() or session.record.closed_by is not None, None, "an acknowledgment")
    receiver.peer.inbox.acknowledge(spare=session)
    return is_acknowledged()


def _require_storage_in_empty_queue(receiver: AcknowledgingReceiver, recoverable: int) -> None:
    """Raise ConformanceFailure unless the SUT stores a large message in its empty queue. If it does not, the quota was
    not the reason why it refused the last message.
    """
    receiver.session = receiver.peer.open_raw()
    if not _is_arrival_acknowledged(receiver, _send_large_message(receiver, recoverable, 0)):
        raise ConformanceFailure("the SUT does not store a large message even when its queue is empty")
