"""MS-MQMQ 2.2.19.1 TimeToReachQueue, 2.2.19.2 SentTime, MS-MQQB 3.1.7.1.2: a change of the system clock."""

from __future__ import annotations

import pytest

from harness.expectations import Expectation, between
from harness.run.marks import covers, needs
from suites.mqqb.steps.opening import CLOCK_S
from suites.mqqb.steps.sender import Sender, tags

HOUR_S = 3_600
SET_S = 2 * HOUR_S
AGO_S = 3 * HOUR_S
LIVES = {"over": AGO_S - HOUR_S, "in time": AGO_S + HOUR_S}
"""What was sent three hours before the time that the clock shows then; by the right time it is the other way round for
one of both."""
EXPIRES = ("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52")
SENT_TIME = ("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60")
OVER, IN_TIME, SENT_THEN = 1, 2, 3


@needs("environment", "receive")
@covers(*EXPIRES)
@pytest.mark.parametrize("fast_s", [SET_S, -SET_S], ids=["fast", "slow"])
def test_receiver_checks_time_to_reach_queue_by_changed_clock(peer, sut, judge, fast_s):
    """The clock of the SUT is set two hours ahead or back: it ignores the message that is expired by that clock, and
    accepts the other.
    """
    sut.change_environment(clock=fast_s)
    connection = peer.open_raw()
    sent_s = peer.environment.now().utc_s + fast_s - AGO_S
    sent = [
        connection.send(peer.message(base={"TimeToReachQueue": life_s}, user={"SentTime": sent_s}, label=label))
        for label, life_s in LIVES.items()
    ]
    connection.check_alive()
    there = [message["label"] for message in sut.messages() if message["label"] in LIVES]
    judge.all(expected=["in time"], observed=there, evidence=sent)


@needs("environment", "send")
@covers(*EXPIRES, "MQQB-3.1.7.1.2-D01", *SENT_TIME)
def test_sender_checks_and_sets_times_by_changed_clock(peer, sut, judge):
    """Two messages wait for an unreachable peer, and the clock is set two hours ahead: the one with an hour is not
    sent, the other keeps its SentTime. A message sent afterwards has the SentTime of the changed clock.
    """
    to = peer.direct_name()

    def send(tag: int, life_s: int) -> Expectation:
        before_s = peer.environment.now().utc_s
        sut.send(to, body=f"message {tag}", application_tag=tag, time_to_reach_queue_s=life_s)
        return between(before_s - CLOCK_S, peer.environment.now().utc_s + CLOCK_S)

    send(OVER, SET_S - HOUR_S)
    before = send(IN_TIME, SET_S + HOUR_S)
    sut.change_environment(clock=SET_S)
    send(SENT_THEN, HOUR_S)
    after_s = peer.environment.now().utc_s + SET_S
    sender = Sender(peer, sut, to)
    session = sender.session()
    came = sender.collect_all(session, 2)
    judge(*EXPIRES, "MQQB-3.1.7.1.2-D01", expected=[IN_TIME, SENT_THEN], observed=tags(came), evidence=came)
    expected = {IN_TIME: before, SENT_THEN: between(after_s - CLOCK_S, after_s + CLOCK_S)}
    for frame in came:
        (tag,) = tags([frame])
        if tag in expected:
            judge(*SENT_TIME, expected=expected[tag], observed=frame["UserHeader"].SentTime, evidence=frame)
    sender.acknowledge_all(session)
