"""MS-MQMQ 2.2.19.1 TimeToReachQueue, 2.2.19.2 SentTime, MS-MQQB 3.1.7.1.2: a change of the system clock."""

from __future__ import annotations

import pytest

from harness.expectations import between
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import CLOCK_TOLERANCE_S
from suites.mqqb.steps.sender import Sender

SECONDS_PER_HOUR = 3_600
CLOCK_CHANGE_S = 2 * SECONDS_PER_HOUR
MESSAGE_AGE_S = 3 * SECONDS_PER_HOUR
LIFETIME_S_BY_CASE = {"expired": MESSAGE_AGE_S - SECONDS_PER_HOUR, "unexpired": MESSAGE_AGE_S + SECONDS_PER_HOUR}
"""Values of TimeToReachQueue in s, for messages that are sent three hours before the time of the changed clock. For one
of the messages, the changed and the unchanged clock differ about whether the message has expired.
"""
EXPIRATION_RULES = ("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
SENT_TIME_RULES = ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60")
EXPIRED_MESSAGE_TAG, UNEXPIRED_MESSAGE_TAG, LATER_MESSAGE_TAG = 1, 2, 3
"""ApplicationTags of the messages."""


@needs("environment", "receive")
@covers(*EXPIRATION_RULES)
@pytest.mark.parametrize("change_s", [CLOCK_CHANGE_S, -CLOCK_CHANGE_S], ids=["fast", "slow"])
def test_receiver_checks_time_to_reach_queue_by_changed_clock(peer, sut, judge, change_s):
    """The clock of the SUT is set two hours ahead or back, and two messages arrive. The SUT discards the message that
    has expired according to the changed clock, and accepts the message that has not expired.
    """
    sut.change_environment(clock=change_s)
    connection = peer.open_raw()
    sent_s = peer.environment.now().utc_s + change_s - MESSAGE_AGE_S
    sent = [
        connection.send(peer.message(base={"TimeToReachQueue": time_s}, user={"SentTime": sent_s}, label=label))
        for label, time_s in LIFETIME_S_BY_CASE.items()
    ]
    connection.require_session_ack_for_message()
    labels = [message["label"] for message in sut.messages() if message["label"] in LIFETIME_S_BY_CASE]
    judge.all(expected=["unexpired"], case="messages in the queue", observed=labels, evidence=sent)


@needs("environment", "send")
@covers(*EXPIRATION_RULES, "MQQB-3.1.7.1.2-D01", *SENT_TIME_RULES)
def test_sender_checks_and_sets_times_by_changed_clock(peer, sut, judge):
    """Two messages wait for an unreachable peer, and the clock is set two hours ahead. The SUT does not send the
    message with a lifetime of one hour. It sends the message with a lifetime of three hours, whose SentTime is
    unchanged. A message that is sent afterwards has the SentTime of the changed clock.
    """
    to = peer.direct_name()

    def send_message_with_lifetime(tag, time_s):
        before_s = peer.environment.now().utc_s
        sut.send(to, body=f"message {tag}", application_tag=tag, time_to_reach_queue_s=time_s)
        return between(before_s - CLOCK_TOLERANCE_S, peer.environment.now().utc_s + CLOCK_TOLERANCE_S)

    send_message_with_lifetime(EXPIRED_MESSAGE_TAG, CLOCK_CHANGE_S - SECONDS_PER_HOUR)
    before = send_message_with_lifetime(UNEXPIRED_MESSAGE_TAG, CLOCK_CHANGE_S + SECONDS_PER_HOUR)
    sut.change_environment(clock=CLOCK_CHANGE_S)
    send_message_with_lifetime(LATER_MESSAGE_TAG, SECONDS_PER_HOUR)
    after_s = peer.environment.now().utc_s + CLOCK_CHANGE_S
    sender = Sender(peer, sut, to)
    session = sender.await_session()
    frames = sender.collect_messages_until_silence(session, 2)
    judge(
        *EXPIRATION_RULES,
        "MQQB-3.1.7.1.2-D01",
        expected=[UNEXPIRED_MESSAGE_TAG, LATER_MESSAGE_TAG],
        case="ApplicationTags of the sent messages",
        observed=sender.list_tags(frames),
        evidence=frames,
    )
    expected = {
        UNEXPIRED_MESSAGE_TAG: before,
        LATER_MESSAGE_TAG: between(after_s - CLOCK_TOLERANCE_S, after_s + CLOCK_TOLERANCE_S),
    }
    for frame in frames:
        (tag,) = sender.list_tags([frame])
        if tag in expected:
            judge(
                *SENT_TIME_RULES,
                expected=expected[tag],
                case="SentTime",
                observed=frame["UserHeader"].SentTime,
                evidence=frame,
            )
    session.acknowledge_all()
