"""MS-MQQB 3.1.1.6.1 Session Acknowledgment: what the sender discards, and what it acknowledges itself."""

from __future__ import annotations

import pytest

from harness.wire import session_ack
from suites.messages import a_message
from suites.mqqb.opening import ACK_MS, pass_time
from suites.mqqb.sender import Sender, tags

RULE = "MQQB-3.1.1.6.1-"


@pytest.mark.needs("send")
@pytest.mark.covers(*(f"{RULE}{number}" for number in ("01", "02", "03", "04")))
def test_what_the_session_acknowledged_is_discarded(peer, sut, judge):
    """Of express and recoverable messages the first two each are acknowledged; the next session brings the others.

    An express message of the peer is acknowledged meanwhile: nothing recoverable came of it.
    """
    sender = Sender(peer, sut)
    sender.send(1, 2)
    sender.send(3, 4, 5, delivery="recoverable")
    sender.send(6)
    session, sent = sender.first(6)
    own = session.send(a_message(peer))
    answer = session.expect("SessionAck", within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS))
    header, evidence = answer["SessionHeader"], [own, answer]
    judge(f"{RULE}03", expected=0, observed=header.RecoverableMsgAckSeqNumber, evidence=evidence)
    judge(f"{RULE}04", expected=0, observed=header.RecoverableMsgAckFlags, evidence=evidence)
    ack = session.send(session_ack(AckSequenceNumber=4, RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b11))
    pass_time(peer, sut.quiet_ms)
    session.close()
    again = sender.session()
    came = tags(sender.collect_all(again, 2))
    express, recoverable = [tag for tag in came if tag in (1, 2, 6)], [tag for tag in came if tag in (3, 4, 5)]
    evidence = [*sent, ack, again.last]
    judge(f"{RULE}01", expected="[6]", observed=str(express), evidence=evidence)
    judge(f"{RULE}02", expected="[5]", observed=str(recoverable), evidence=evidence)
    sender.acknowledge_all(again)
