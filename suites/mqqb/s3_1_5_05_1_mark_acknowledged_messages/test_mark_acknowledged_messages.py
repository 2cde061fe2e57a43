"""MS-MQQB 3.1.5.5.1 Mark Acknowledged Messages: an acknowledgment makes room in the window of the sender."""

from __future__ import annotations

import itertools

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.acknowledging import (
    MESSAGE_AS_HEADER_CARRIER,
    SESSION_ACK_AS_HEADER_CARRIER,
    send_session_header_in_carrier,
)
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender, require_session_not_timed_out
from suites.mqqb.steps.sequences import SequenceSentBySut

ACKNOWLEDGED_MESSAGE_COUNT = 10
MESSAGE_COUNT_OF_SECOND_ACK = 35
"""The number of messages that the second acknowledgment covers; it is greater than the number of bits of a flags field.
"""
HELD_BACK_MESSAGE_COUNT = 60
"""The number of messages that exceed the window. This number is greater than the number of messages that the peer
acknowledges first.
"""
DELIVERY_MODES = ("express", "recoverable", "transactional")
COUNT_OF_DIFFERENT_BODY_SIZES = 10
"""The number of different body sizes; messages that follow each other have different sizes."""
LARGEST_WINDOW_SIZE = 512
"""The largest window that the check fills: more messages would take too long."""
GREATEST_TIMER_SPEED_UP = 4
"""The greatest speed-up of timers at which a window is filled before the SUT closes the unacknowledged session."""


@covers(
    "MQQB-3.1.5.5-03",
    "MQQB-3.1.5.5.1-01",
    "MQQB-3.1.5.5.1-02",
    "MQQB-3.1.5.5.1-03",
    "MQQB-3.1.5.5.1-04",
)
def test_window_opens_by_the_number_of_acknowledged_messages(peer, sut, judge):
    """The SUT fills its window with messages of each delivery mode (express, recoverable, transactional). Then the peer
    sends a SessionAck, or a message with a SessionHeader. The SUT sends as many further messages as the acknowledgment
    newly covers, and sends all messages in order.

    The check only measures the size of the window; the checks of 3.1.7.1 judge that size.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    sender = Sender(peer, sut)
    sender.send(1)
    session = sender.await_session()
    window = session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > LARGEST_WINDOW_SIZE:
        raise ConformanceFailure(f"the SUT's window of {window} is too large to fill with messages")
    total = window + HELD_BACK_MESSAGE_COUNT
    _send_with_alternating_delivery(sender, range(2, total + 1))
    filled = len(sender.collect_messages_until_silence(session, window))
    require_session_not_timed_out(session)
    if filled > total - 2 * ACKNOWLEDGED_MESSAGE_COUNT:
        raise ConformanceFailure(f"the SUT's window never filled: {filled} messages are unacknowledged")

    first_ack = send_session_header_in_carrier(
        MESSAGE_AS_HEADER_CARRIER, session, AckSequenceNumber=ACKNOWLEDGED_MESSAGE_COUNT
    )
    freed = (
        len(set(Sender.list_tags(sender.collect_messages_until_silence(session, filled + ACKNOWLEDGED_MESSAGE_COUNT))))
        - filled
    )  # some may come again (E65)
    require_session_not_timed_out(session)
    judge(
        "MQQB-3.1.5.5-03",
        "MQQB-3.1.5.5.1-01",
        "MQQB-3.1.5.5.1-02",
        expected=ACKNOWLEDGED_MESSAGE_COUNT,
        observed=freed,
        case=f"number of further messages sent after AckSequenceNumber {ACKNOWLEDGED_MESSAGE_COUNT}",
        evidence=[first_ack, session.last],
    )

    repeated_ack = send_session_header_in_carrier(
        SESSION_ACK_AS_HEADER_CARRIER, session, AckSequenceNumber=ACKNOWLEDGED_MESSAGE_COUNT
    )
    freed = len(set(Sender.list_tags(sender.collect_messages_until_silence(session, 0)))) - filled - freed
    require_session_not_timed_out(session)
    judge(
        "MQQB-3.1.5.5.1-02",
        expected=0,
        observed=freed,
        case="number of further messages sent after the repeated acknowledgment",
        evidence=[repeated_ack, session.last],
    )

    came_before = sender.collect_messages_until_silence(session, 0)
    if (
        len(came_before) == filled + ACKNOWLEDGED_MESSAGE_COUNT
    ):  # else some came again, and have other numbers now (E65)
        many = min(MESSAGE_COUNT_OF_SECOND_ACK, filled)
        acknowledged = ACKNOWLEDGED_MESSAGE_COUNT + many
        second_ack = send_session_header_in_carrier(
            SESSION_ACK_AS_HEADER_CARRIER, session, AckSequenceNumber=acknowledged
        )
        freed = len(sender.collect_messages_until_silence(session, filled + acknowledged)) - len(came_before)
        require_session_not_timed_out(session)
        judge(
            "MQQB-3.1.5.5-03",
            "MQQB-3.1.5.5.1-01",
            "MQQB-3.1.5.5.1-02",
            expected=many,
            observed=freed,
            case=f"number of further messages after AckSequenceNumber {acknowledged}",
            evidence=[second_ack, session.last],
        )

    last_ack = send_session_header_in_carrier(
        MESSAGE_AS_HEADER_CARRIER, session, AckSequenceNumber=len(session.messages)
    )
    came = list(dict.fromkeys(Sender.list_tags(sender.collect_messages_until_silence(session, total))))
    require_session_not_timed_out(session)
    judge(
        "MQQB-3.1.5.5.1-03",
        expected=holds(f"the SUT sends all {total} messages when each sent message is acknowledged"),
        observed=len(came) == total or f"{len(came)} of {total} messages",
        evidence=[last_ack, session.last],
    )
    disorder = next((pair for pair in itertools.pairwise(came) if pair[0] > pair[1]), None)
    judge(
        "MQQB-3.1.5.5.1-04",
        expected=holds("the SUT sends the messages in the order of the queue"),
        observed=disorder is None or f"message {disorder[0]} before message {disorder[1]}",
        evidence=[last_ack, session.last],
    )
    session.acknowledge_all()
    for last in [frame for frame in session.messages if frame["UserHeader"].TH][-1:]:
        session.send(build_order_ack(peer, last))
    peer.settle()


def _send_with_alternating_delivery(sender, tags):
    """Let the SUT send messages with priority 0, with bodies of several sizes, and in turn with each delivery mode that
    it supports.
    """
    if not sender.sut.has("send"):
        sender.send(*tags)
        return
    for tag in tags:
        body = "body" * (1 + 7 * tag % COUNT_OF_DIFFERENT_BODY_SIZES)
        sender.send(tag, priority=0, delivery=DELIVERY_MODES[tag % len(DELIVERY_MODES)], body=body)


@needs("send")
@covers("MQQB-3.1.5.5.1-01")
def test_window_opens_after_refused_messages_are_acknowledged(peer, sut, judge):
    """The SUT has sent one full window of transactional messages. The peer refuses them with FinalAcks, and
    acknowledges them on the session. The SUT sends a further window of messages.
    """
    sut.limit_time_scale(GREATEST_TIMER_SPEED_UP)
    outgoing = SequenceSentBySut(peer, sut, "mqc-refused-window")
    sent = outgoing.send()
    window = outgoing.session.received[1]["ConnectionParametersHeader"].WindowSize
    if window > LARGEST_WINDOW_SIZE:
        raise ConformanceFailure(f"the SUT's window of {window} is too large to fill with messages")
    sent += outgoing.send(window - 1)
    for number in range(1, window + 1):
        outgoing.send_final_ack(number)
    peer.settle()
    freed = outgoing.send_session_ack()
    more = {peer.next_message_id() for _ in range(window)}  # the refused messages may come again before their FinalAcks
    outgoing.sender.send(*more)
    session = outgoing.session
    peer.wait(
        lambda: more <= {*Sender.list_tags(session.messages)} or session.record.closed_by is not None,
        None,
        "a window of messages",
    )
    require_session_not_timed_out(session)
    came = len(more & {*Sender.list_tags(session.messages)})
    judge(
        "MQQB-3.1.5.5.1-01",
        expected=window,
        observed=came,
        case="number of further messages sent",
        evidence=[*sent, freed, session.last],
    )
    session.acknowledge_all()
