"""MS-MQQB 3.1.1.6.1 Session Acknowledgment: what the sender discards, and what it acknowledges itself."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire import session_ack
from suites.messages import a_message
from suites.mqqb.steps.opening import ACK_MS, pass_time
from suites.mqqb.steps.sequences import Outgoing

RULE = "MQQB-3.1.1.6.1-"


@needs("send")
@covers(*(f"{RULE}{number}" for number in ("01", "02", "03", "04")))
def test_what_the_session_acknowledged_is_discarded(peer, sut, judge):
    """Of express and recoverable messages the first two each are acknowledged; the next session brings the others.

    An express message of the peer is acknowledged meanwhile: nothing recoverable came of it.
    """
    outgoing = Outgoing(peer, sut, "mqc-discarded")
    sent = outgoing.send(2, "express") + outgoing.send(3, "recoverable") + outgoing.send(1, "express")
    session = outgoing.session
    own = session.send(a_message(peer))
    answer = session.expect("SessionAck", within_ms=sut.duration_ms(ACK_MS) + sut.slack_ms(ACK_MS))
    header, evidence = answer["SessionHeader"], [own, answer]
    judge(f"{RULE}03", expected=0, observed=header.RecoverableMsgAckSeqNumber, evidence=evidence)
    judge(f"{RULE}04", expected=0, observed=header.RecoverableMsgAckFlags, evidence=evidence)
    counts = {"AckSequenceNumber": 4, "UserMsgSequenceNumber": 1}
    ack = session.send(session_ack(RecoverableMsgAckSeqNumber=1, RecoverableMsgAckFlags=0b11, **counts))
    pass_time(peer, sut.quiet_ms)
    session.close()
    again = outgoing.next_session()
    while not again.quiet():
        pass
    came, evidence = outgoing.came(again), [*sent, ack, again.last]
    for rule, kind, expected in (("01", (1, 2, 6), [6]), ("02", (3, 4, 5), [5])):
        observed = [number for number in came if number in kind]
        judge(f"{RULE}{rule}", expected=str(expected), observed=str(observed), evidence=evidence)
    outgoing.on_session()
