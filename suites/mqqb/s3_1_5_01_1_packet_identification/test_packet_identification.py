"""MS-MQQB 3.1.5.1.1 Packet Identification: what makes a message an OrderAck or a FinalAck; 3.1.5.5.3, 3.1.5.5.5."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import Ordered, final_ack, order_ack
from suites.mqqb.steps.sender import messages, tags

RULE = "MQQB-3.1.5.1.1-"
AGAIN, GONE = "comes again", "does not come again"


def _other_queue(peer):
    return {"destination": rf"TCP:{peer.sut.address}\PRIVATE$\mqc-other"}


NOT_ONE = {
    "04": (order_ack, lambda peer: {"base": {"PR": 3}}),
    "05": (order_ack, _other_queue),
    "06": (order_ack, lambda peer: {"label": "QM Ordering"}),
    "07": (order_ack, lambda peer: {"longer": True}),
    "08": (order_ack, lambda peer: {"MessageClass": 0x0002}),
    "09": (final_ack, lambda peer: {"base": {"PR": 3}}),
    "10": (final_ack, _other_queue),
    "11": (final_ack, lambda peer: {"label": "QM Ordering"}),
    "12": (final_ack, lambda peer: {"MessageClass": 0x0002}),
}
"""By the number of the rule: what is made, and the one thing in which it is none."""


def _made(make, peer, sent, changes):
    """Make the acknowledgment; ``longer``: with four bytes more behind its body."""
    if changes.pop("longer", False):
        changes["body"] = bytes(make(peer, sent)["MessagePropertiesHeader"].MessageBody) + bytes(4)
    return make(peer, sent, **changes)


@needs("send")
@pytest.mark.parametrize("number", [pytest.param(number, marks=covers(f"{RULE}{number}")) for number in NOT_ONE])
def test_what_is_no_acknowledgment_ends_nothing(peer, sut, judge, number):
    """A message that was acknowledged is not sent again; one that what only looks like it came for is.

    Each has a session of its own: whether acknowledgments count in a session's sequence is left open (E26).
    """
    make, changes = NOT_ONE[number]
    ordered = Ordered(peer, sut)
    sent = ordered.send()
    session = _session_of(peer, sent)
    ordered.sender.acknowledge_all(session)
    frames = [sent, session.send(make(peer, sent))]
    observed = [ordered.comes_again(1)]
    session.close()
    other = ordered.send()
    session = _session_of(peer, other)
    ordered.sender.acknowledge_all(session)
    frames += [other, session.send(_made(make, peer, other, changes(peer)))]
    observed.append(ordered.comes_again(2))
    judge(f"{RULE}{number}", expected=[GONE, AGAIN], observed=observed, evidence=frames)


@needs("send")
@covers("MQQB-3.1.5.5.5-03")
def test_a_session_acknowledgment_alone_does_not_end_a_transactional_message(peer, sut, judge):
    """A transactional message that is acknowledged on the session, but not in order, is sent again."""
    ordered = Ordered(peer, sut)
    sent = ordered.send()
    ack = ordered.sender.acknowledge_all(_session_of(peer, sent))
    judge("MQQB-3.1.5.5.5-03", expected=AGAIN, observed=ordered.comes_again(1), evidence=[sent, ack])


@needs("send")
@covers("MQQB-3.1.5.5.3-03")
def test_a_message_acknowledged_in_order_and_then_on_the_session_is_deleted(peer, sut, judge):
    """The OrderAck comes first, the SessionAck with its bit second: the next session does not bring the message."""
    ordered = Ordered(peer, sut)
    sent = ordered.send()
    session = _session_of(peer, sent)
    frames = [sent, session.send(order_ack(peer, sent)), ordered.sender.acknowledge_all(session)]
    session.quiet()
    session.close()
    other = ordered.send()
    again = _session_of(peer, other)
    again.quiet()
    came = messages(again)
    numbers = [ordered.tags.index(tag) + 1 for tag in tags(came) if tag in ordered.tags]
    judge("MQQB-3.1.5.5.3-03", expected=[2], observed=numbers, evidence=[*frames, *came])
    ordered.sender.acknowledge_all(again)


def _session_of(peer, frame):
    return next(session for session in peer.sessions.values() if session.record is frame.connection)
