"""MS-MQQB 3.1.5.8 Receiving a UserMessage Packet, 3.1.5.8.4 SessionHeader Processing.

The other steps of 3.1.5.8 are judged where their subsections are.
"""

from __future__ import annotations

import pytest

from harness.peer.conversation import Conversation
from harness.run.marks import covers, goes_on, needs
from harness.sut.sut import Sut
from suites.messages import Sequence, a_message, recoverable_message
from suites.mqqb.steps.disposition import REACH_QUEUE, AcknowledgingReceiver, classes, labels, named
from suites.mqqb.steps.opening import check_alive, established, opened

CLOSED = "closed by the message"
EARLY_MS = 20_000
"""Well before the Session Initialization Timer (60 s, note <43>) would close the session."""
FAR = 0x4000
"""A count of messages that no reading can take for the right one (E20)."""
LONG_AGO_S = 3_600
UNLISTED_LEVEL = 0x99


@goes_on()
@covers("MQQB-3.1.5.8-01")
@pytest.mark.parametrize("state", ["WAITING_EC_MSG", "WAITING_CP_MSG"])
def test_a_message_before_the_session_is_open_closes_it(peer, sut, judge, state):
    """A message that an open session takes ends one that is still being set up."""
    check_alive(opened(peer))
    early = peer.connect() if state == "WAITING_EC_MSG" else established(peer)
    sent = early.send(recoverable_message(peer))
    judge("MQQB-3.1.5.8-01", expected=CLOSED, observed=_ending(early, sut), evidence=[sent, early.last])


@covers("MQQB-3.1.5.8-05")
def test_the_security_of_a_message_is_looked_at(peer, sut, judge):
    """A message encrypted with a PrivacyLevel that there is not asks for a positive acknowledgment: none comes."""
    receiver = AcknowledgingReceiver(peer, sut)
    broken = receiver.asking(security={"EB": 1}, properties={"PA": 1, "PrivacyLevel": UNLISTED_LEVEL})
    sent = [receiver.give(broken), receiver.give(receiver.asking(properties={"PA": 1}))]
    came = receiver.await_acks(1)
    judge("MQQB-3.1.5.8-05", expected=named(REACH_QUEUE), observed=classes(came), evidence=[*sent, *came])


@covers("MQQB-3.1.5.8-07")
@needs("receive")
def test_an_expired_message_is_not_put_into_its_queue(peer, sut, judge):
    """Of two messages sent an hour ago the one with a minute to reach its queue is not there."""
    session = opened(peer)
    sent_at = {"SentTime": peer.environment.now().utc_s - LONG_AGO_S}
    sent = [
        session.send(recoverable_message(peer, sent_at, base={"TimeToReachQueue": life_s}, label=label))
        for life_s, label in ((60, "expired"), (2 * LONG_AGO_S, "in time"))
    ]
    check_alive(session)
    found = [label for label in labels(sut, sut.queue()) if label in ("expired", "in time")]
    judge("MQQB-3.1.5.8-07", expected=["in time"], observed=found, evidence=sent)


@covers("MQQB-3.1.5.8-08")
@needs("receive")
def test_a_transactional_message_out_of_sequence_is_not_put_into_its_queue(peer, sut, judge):
    """After the first message of a sequence comes the third, which follows on a second that did not come."""
    session = opened(peer)
    sequence = Sequence(peer)
    sent = [session.send(sequence.message(label="first"))]
    sequence.message()
    sent.append(session.send(sequence.message(label="third")))
    check_alive(session)
    found = labels(sut, sut.queue("transactional"))
    judge("MQQB-3.1.5.8-08", expected=["first"], observed=found, evidence=sent)


@covers("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01")
def test_the_session_header_of_a_message_is_processed(peer, sut, judge):
    """A message is taken; one that counts messages of the peer that were not sent ends the session."""
    session = opened(peer)
    check_alive(session)
    sent = session.send(a_message(peer, session={"UserMsgSequenceNumber": FAR, "WindowSize": 64}))
    for rule in ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"):
        judge(rule, expected=CLOSED, observed=_ending(session, sut), evidence=[sent, session.last])


def _ending(session: Conversation, sut: Sut) -> str:
    within_ms = min(sut.response_timeout_ms, sut.duration_ms(EARLY_MS))
    return CLOSED if session.wait_closed(within_ms) else session.outcome()
