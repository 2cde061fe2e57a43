"""MS-MQQB 3.1.1.6.2 Transactional Acknowledgment: events after which the sender keeps messages without an OrderAck."""

from __future__ import annotations

import pytest

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import SequenceSentBySut


def _close_session(beside, outgoing):
    outgoing.session.close()


def _pause_and_resume_queue(beside, outgoing):
    outgoing.sut.pause(outgoing.to)
    outgoing.sut.resume(outgoing.to)


def _acknowledge_messages_of_other_queue(beside, outgoing):
    beside.send(3)
    beside.acknowledge_all()


def _acknowledge_first_message(beside, outgoing):
    """Acknowledge the first message by an OrderAck, and then a second message only by a SessionAck."""
    outgoing.send()
    outgoing.send_order_ack(1)
    outgoing.send_session_ack()


@needs("send")
@covers("MQQB-3.1.1.6.2-10")
@pytest.mark.parametrize(
    ("cause", "number"),
    [
        pytest.param(_close_session, 1, id="session_ended"),
        pytest.param(_pause_and_resume_queue, 1, id="queue_paused", marks=needs("pause")),
        pytest.param(_acknowledge_messages_of_other_queue, 1, id="other_queue_acknowledged"),
        pytest.param(_acknowledge_first_message, 2, id="first_message_acknowledged"),
    ],
)
def test_message_without_order_ack_is_kept_after_event(peer, sut, judge, cause, number):
    """The peer acknowledges a transactional message only by a SessionAck. Then the session ends, an application pauses
    and resumes the queue, the peer acknowledges messages of another queue, or it acknowledges the preceding message.
    The SUT still resends the message.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-kept")
    beside = outgoing.start_second_sequence("mqc-kept-beside")
    outgoing.send()
    outgoing.send_session_ack()
    cause(beside, outgoing)
    peer.settle()
    outgoing.await_resend(number)
    copies = outgoing.copies(number)
    judge(
        "MQQB-3.1.1.6.2-10",
        expected=holds("the message comes again", otherwise="the message does not come again"),
        observed=len(copies) > 1,
        evidence=copies,
    )
    outgoing.await_session()
    outgoing.acknowledge_all()
