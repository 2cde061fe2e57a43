"""MS-MQDMPR 3.1.1.12 Message."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.sender import Sender
from suites.whole_messages import SAME, differences

JOURNAL, DEAD_LETTERS = "system$;journal", "system$;deadletter"


SHORT_S, LONG_S = 1, 9_000


@needs("send", "receive")
@covers("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-23", "MQDMPR-3.1.1.12-21", "MQDMPR-3.1.1.2-17")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_a_delivered_message_with_jp_is_journaled(peer, sut, judge, delivery):
    """Of two delivered messages, the one with JP is in the sender's journal, whole; one with JN is not."""
    sender = Sender(peer, sut)
    names = [
        *sender.send(1, delivery=delivery, journal=["positive"], label="journaled", priority=5),
        *sender.send(2, delivery=delivery, journal=["negative"]),
    ]
    session, sent = sender.first(2)
    sender.acknowledge_all(session)
    kept = _kept(peer, sut, JOURNAL, names)
    judge(
        "MQMQ-2.2.19.2-14",
        "MQDMPR-3.1.1.12-21",
        "MQDMPR-3.1.1.2-17",
        expected=[True, False],
        observed=kept,
        evidence=sent,
    )
    judge("MQDMPR-3.1.1.12-23", expected=False, observed=kept[1], case="journaled", evidence=sent)
    found = next((one for one in sut.kept(JOURNAL) if one["message_id"] == names[0]), None)
    observed = differences(sent[0], found, sut.guid)
    judge("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21", expected=SAME, observed=observed, evidence=sent)


@needs("send", "receive")
@covers("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-D46", "MQDMPR-3.1.1.12-26", "MQDMPR-3.1.1.12-24", "MQDMPR-3.1.1.2-17")
@pytest.mark.parametrize("delivery", ["express", "recoverable"])
def test_an_undelivered_message_with_jn_is_a_dead_letter(peer, sut, judge, delivery):
    """Of two messages whose time was over before the peer could be reached, that with JN is in the dead letters."""
    to = peer.direct_name()
    limits = {"time_to_reach_queue_s": SHORT_S, "delivery": delivery}
    names = [
        sut.send(to, body="late", label="late", journal=journal, **limits) for journal in (["negative"], ["positive"])
    ]
    peer.pass_time((SHORT_S + 2) * 1_000)
    sender = Sender(peer, sut)
    sender.send(1)
    session = sender.session()
    sent = sender.collect(session, 1)
    kept = _kept(peer, sut, DEAD_LETTERS, names)
    judge(
        "MQMQ-2.2.19.2-13",
        "MQDMPR-3.1.1.12-24",
        "MQDMPR-3.1.1.12-D46",
        "MQDMPR-3.1.1.2-17",
        expected=[True, False],
        observed=kept,
        evidence=sent,
    )
    judge("MQDMPR-3.1.1.12-26", expected=False, observed=kept[1], case="a dead letter", evidence=sent)
    sender.acknowledge_all(session)


def _kept(peer, sut, queue, names):
    """Return which messages are in a system queue; the first is waited for."""

    def found():
        return [message["message_id"] for message in sut.kept(queue)]

    peer.eventually(lambda: names[0] in found())
    return [name in found() for name in names]
