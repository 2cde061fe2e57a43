"""MS-MQQB 3.1.7.1.6, 3.1.7.16: messages that the SUT sends again, and messages that it must not send again."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import FIRST_RESEND_INTERVAL_MS, SequenceSentBySut
from suites.mqqb.steps.two_destinations import TwoDestinations


@needs("send")
@covers("MQQB-3.1.7.1.6-01")
@pytest.mark.parametrize("where", ["on the next session", "on the same session"])
def test_repeated_messages_arrive_at_their_own_destination(peer, second_host, sut, judge, where):
    """The SUT sends transactional messages to the peer and to a second queue manager on open sessions. The peer closes
    its session, or acknowledges no message by an OrderAck: the SUT sends the messages again to the peer.
    """
    two = TwoDestinations(peer, second_host, sut)
    two.send_messages_alternately((2, 1), delivery="transactional")
    first, second = two.both_destinations
    second.acknowledge_transactional_messages()
    if where == "on the next session":
        first.session.close()
        copies = first.sender.collect_messages_until_silence(first.await_next_session(), len(first.tags))
    else:
        known = len(first.session.messages)
        first.session.acknowledge_all()
        due_ms = sut.duration_ms(FIRST_RESEND_INTERVAL_MS) + sut.slack_ms(FIRST_RESEND_INTERVAL_MS)
        peer.environment.run_until(
            lambda: len(first.session.messages) >= known + len(first.tags), due_ms + sut.connect_timeout_ms
        )
        copies = first.session.messages[known:]
    judge(
        "MQQB-3.1.7.1.6-01",
        expected=first.tags,
        observed=Sender.list_tags(copies),
        case="tags of the messages that arrive again at the peer",
        evidence=copies,
    )
    first.acknowledge_transactional_messages()


@needs("send")
@covers("MQQB-3.1.7.16-06")
def test_urgent_message_repeats_no_earlier_message(peer, sut, judge):
    """The SUT has sent two unacknowledged messages of low priority, and then sends a message of priority 7. Each
    message arrives once.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2, priority=0)
    session, _ = sender.await_first_messages(2)
    sender.send(3, priority=7)
    came = sender.collect_messages_until_silence(session, 3)
    judge(
        "MQQB-3.1.7.16-06",
        expected=[1, 2, 3],
        observed=Sender.list_tags(came),
        case="numbers of the messages on the session",
        evidence=came,
    )
    session.acknowledge_all()


@needs("send")
@covers("MQQB-3.1.7.16-06")
def test_order_ack_of_first_message_repeats_no_later_message(peer, sut, judge):
    """The SUT sends three transactional messages. The peer acknowledges the first one by an OrderAck. The SUT does not
    resend the other messages before their resend time.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-ordered")
    sent = outgoing.send(3)
    ack = outgoing.send_order_ack(1)
    outgoing.session.stays_quiet()
    judge(
        "MQQB-3.1.7.16-06",
        expected=[1, 1, 1],
        observed=[len(outgoing.copies(number)) for number in (1, 2, 3)],
        case="number of copies of each message",
        evidence=[*sent, ack],
    )
    outgoing.acknowledge_all()
