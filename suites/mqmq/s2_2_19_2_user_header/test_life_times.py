"""MS-MQMQ 2.2.19.2 UserHeader: TimeToBeReceived and SentTime."""

from __future__ import annotations

from functools import partial

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import between, fields, holds, in_queue
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqmq.steps.outgoing import Outgoing
from suites.mqqb.steps.opening import CLOCK_S
from suites.mqqb.steps.sender import Sender

FOREVER = 0xFFFF_FFFF
HOUR_S = 3_600
DECADE_S = 10 * 365 * 24 * HOUR_S
SHORT_S = 2
WAIT_S = 5
LIVES = (
    *("MQMQ-2.2.19.2-D03", "MQMQ-2.2.19.2-D04", "MQMQ-2.2.19.2-05"),
    *("MQDMPR-3.1.2.4-01", "MQDMPR-3.1.2.4-D01", "MQDMPR-3.1.1.12-D53"),
)
"""Rules of how long a message stays in its queue."""


@needs("send")
@covers("MQMQ-2.2.19.2-D03", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60", "MQMQ-2.2.19.2-06")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_times_are_sent_in_seconds(peer, sut, judge, delivery):
    """TimeToBeReceived has the seconds that the application gave, SentTime the second of the sending."""
    outgoing = Outgoing(peer, sut)
    for life_s in (HOUR_S, 0x0102_0304):
        before_s = peer.environment.now().utc_s
        frame = outgoing.send(body="alive", delivery=delivery, time_to_be_received_s=life_s)
        after_s = peer.environment.now().utc_s
        found = Layout(frame)
        judge(
            "MQMQ-2.2.19.2-D03",
            expected=fields({"UserHeader.TimeToBeReceived": life_s}),
            observed=found,
            evidence=frame,
        )
        judge(
            "MQMQ-2.2.19.2-D05",
            "MQDMPR-3.1.1.12-D60",
            "MQMQ-2.2.19.2-06",
            expected=fields({"UserHeader.SentTime": between(before_s - CLOCK_S, after_s + CLOCK_S)}),
            observed=found,
            evidence=frame,
        )
    outgoing.end()


@needs("receive")
@covers(*LIVES, "MQDMPR-3.1.2.4-D02")
@pytest.mark.parametrize("delivery", ["express", "recoverable", "transactional"])
def test_a_message_lives_as_many_seconds_as_it_says(peer, sut, judge, delivery):
    """Messages stay in the queue until their seconds are over, those without an end for ever.

    They count from the sending or from the arrival (E109): a message is never gone before its time since the sending
    is over, and no more there when its time since the arrival is. One of the SUT's own has an hour to reach its queue.
    """
    if sut.has("send"):
        sender = Sender(peer, sut)
        sender.send(1, time_to_reach_queue_s=HOUR_S)
        session, _ = sender.first(1)
        sender.acknowledge_all(session)
    now = peer.environment.now().utc_s
    stay = {
        "without an end, from long ago": (DECADE_S, FOREVER),
        "the longest but one": (HOUR_S, FOREVER - 1),
        "an hour is left of two": (HOUR_S, 2 * HOUR_S),
    }
    leave = {"some seconds": (0, SHORT_S + WAIT_S), "no second": (0, 0)}
    queue = "transactional" if delivery == "transactional" else "plain"
    make = _maker(peer, delivery)
    connection = peer.open_raw()
    sent = [
        connection.send(make({"SentTime": now - ago_s, "TimeToBeReceived": life_s}, label=label))
        for label, (ago_s, life_s) in (stay | leave).items()
    ]
    connection.check_alive()
    there = partial(_there, sut, stay | leave, queue)
    if "some seconds" not in there():
        raise ConformanceFailure("the message that lives some seconds did not come in time to be seen")
    judge(
        "MQDMPR-3.1.2.4-D02",
        expected=holds("a message without time is gone at once"),
        observed=bool(peer.eventually(lambda: "no second" not in there())),
        evidence=sent,
    )
    judge.conclude("MQDMPR-3.1.2.4-D02")
    peer.pass_time((SHORT_S + WAIT_S + 1) * 1_000)
    peer.eventually(lambda: there() == sorted(stay))
    judge(*LIVES, expected=sorted(stay), observed=there(), evidence=sent)


def _maker(peer, delivery):
    """Return what makes the messages of a delivery; transactional ones follow each other in one sequence."""
    if delivery == "transactional":
        return Sequence(peer).message
    return lambda user, **headers: peer.message(user | {"DM": int(delivery == "recoverable")}, **headers)


@needs("restart", "receive")
@covers("MQMQ-2.2.19.2-05", "MQDMPR-3.1.1.12-D53")
@pytest.mark.parametrize("delivery", ["recoverable", "transactional"])
def test_a_restart_does_not_lengthen_the_life_of_a_message(peer, sut, judge, delivery):
    """Of two messages that were in their queue before a restart one is gone when its seconds are over."""
    queue = "transactional" if delivery == "transactional" else "plain"
    make = _maker(peer, delivery)
    connection = peer.open_raw()
    lives = {"an hour": HOUR_S, "some seconds": SHORT_S + WAIT_S}
    sent = [connection.send(make({"TimeToBeReceived": life_s}, label=label)) for label, life_s in lives.items()]
    connection.check_alive()
    there = partial(_there, sut, lives, queue)
    if there() != sorted(lives):
        raise ConformanceFailure("the messages did not come in time to be seen")
    sut.restart()
    peer.pass_time((SHORT_S + WAIT_S + 1) * 1_000)
    peer.eventually(lambda: there() == ["an hour"])
    judge.all(expected=in_queue("an hour"), observed=there(), evidence=sent)


def _there(sut, labels, queue):
    return sorted(message["label"] for message in sut.messages(queue) if message["label"] in labels)
