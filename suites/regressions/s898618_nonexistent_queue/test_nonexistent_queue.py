"""REGRESSIONS 898618: both sides of a transactional message whose queue does not exist."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import BAD_DST_Q, NOWHERE, AcknowledgingReceiver, message_class
from suites.mqqb.steps.sequences import DEAD, Outgoing, kept


@needs("send", "receive")
@covers("REGRESSIONS-898618-01")
@pytest.mark.parametrize("ordered", [True, False], ids=["after-order-ack", "before-order-ack"])
def test_a_message_to_no_queue_is_a_dead_letter(peer, sut, judge, ordered):
    """A sender makes a message whose queue does not exist a dead letter, and sends it on no later session.

    Another message does come there, so the session is not missed.
    """
    outgoing = Outgoing(peer, sut, f"mqc-no-queue-{int(ordered)}")
    outgoing.send(1, journal=["negative"])
    frames = [outgoing.on_session()]
    if ordered:
        frames.append(outgoing.acknowledge(1))
        peer.settle()
    frames.append(outgoing.finish(1, MessageClass=BAD_DST_Q))
    peer.eventually(lambda: kept(sut, DEAD, outgoing.identifiers) == [1])
    dead = kept(sut, DEAD, outgoing.identifiers)
    outgoing.session.close()
    outgoing.send(1)
    came = outgoing.came(outgoing.session)
    judge(
        "REGRESSIONS-898618-01",
        expected=facts(dead_letters=[1], next_session=[2]),
        observed={"dead_letters": dead, "next_session": came},
        evidence=[*outgoing.sent, *frames],
    )
    outgoing.settle()


@covers("REGRESSIONS-898618-02")
def test_the_sender_of_a_message_to_no_queue_is_told_so(peer, sut, judge):
    """A receiver answers a transactional message for a queue that does not exist with a FinalAck of that class."""
    receiver = AcknowledgingReceiver(peer, sut)
    sent = receiver.send(destination=rf"TCP:{sut.address}\{NOWHERE}")
    receiver.poll_acknowledgment(final=True)
    seen = receiver.shown_to_receive()
    found = receiver.final_acks()
    classes = [message_class(frame) for frame in found]
    judge.all(expected=[BAD_DST_Q], observed=classes, case="MessageClass", evidence=[sent, seen, *found])
    receiver.end()
