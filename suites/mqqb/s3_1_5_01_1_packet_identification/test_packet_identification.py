"""MS-MQQB 3.1.5.1.1 Packet Identification: each kind of packet is known by its marks."""

from __future__ import annotations

from typing import Any

import pytest

from harness.expectations import closed_unanswered, fields, packet
from harness.peer.inbox import acknowledging
from harness.run.marks import covers, malforms, needs
from harness.wire import connection_parameters
from suites.mqqb.steps.opening import await_early_close
from suites.mqqb.steps.ordering import final_ack, order_ack
from suites.mqqb.steps.sequences import Outgoing

TIMEOUTS: dict[str, Any] = {"RecoverableAckTimeout": 500, "AckTimeout": 20_000}
NO_PARAMETERS: dict[str, dict[str, Any]] = {
    "IN 0": {"base": {"IN": 0}},
    "PT 0": {"internal": {"PT": 0}},
    "PT 1": {"internal": {"PT": 1}},
    "PT 2": {"internal": {"PT": 2}},
}
AGAIN, GONE = "comes again", "does not come again"


def _other_queue(peer):
    return {"destination": rf"TCP:{peer.sut.address}\PRIVATE$\mqc-other"}


NOT_ONE = {
    "MQQB-3.1.5.1.1-04": (order_ack, lambda peer: {"base": {"PR": 3}}),
    "MQQB-3.1.5.1.1-05": (order_ack, _other_queue),
    "MQQB-3.1.5.1.1-06": (order_ack, lambda peer: {"label": "QM Ordering"}),
    "MQQB-3.1.5.1.1-07": (order_ack, lambda peer: {"longer": True}),
    "MQQB-3.1.5.1.1-08": (order_ack, lambda peer: {"MessageClass": 0x0002}),
    "MQQB-3.1.5.1.1-09": (final_ack, lambda peer: {"base": {"PR": 3}}),
    "MQQB-3.1.5.1.1-10": (final_ack, _other_queue),
    "MQQB-3.1.5.1.1-11": (final_ack, lambda peer: {"label": "QM Ordering"}),
    "MQQB-3.1.5.1.1-12": (final_ack, lambda peer: {"MessageClass": 0x0002}),
}
"""By rule: the acknowledgment that is made, and the one thing in which it is none."""


def _made(make, peer, sent, changes):
    """Make the acknowledgment; ``longer``: with four bytes more behind its body."""
    if changes.pop("longer", False):
        changes["body"] = bytes(make(peer, sent)["MessagePropertiesHeader"].MessageBody) + bytes(4)
    return make(peer, sent, **changes)


@malforms(
    "MQQB-2.2.4-01",
    "MQQB-2.2.4-05",
    "MQQB-2.2.4-07",
    "MQQB-2.2.4-08",
    "MQQB-2.2.4-10",
    "MQQB-2.2.5-01",
    "MQQB-2.2.5-06",
    "MQQB-2.2.5-08",
)
@needs("send")
@pytest.mark.parametrize("rule", [pytest.param(rule, marks=covers(rule)) for rule in NOT_ONE])
def test_what_is_no_acknowledgment_ends_nothing(peer, sut, judge, rule):
    """A message that was acknowledged is not sent again; one that what only looks like it came for is. What it is
    instead, a message, ends no session.

    Each has a session of its own: whether acknowledgments count in a session's sequence is left open (E26).
    """
    make, changes = NOT_ONE[rule]
    outgoing = Outgoing(peer, sut)
    [sent] = outgoing.send()
    session = outgoing.session
    outgoing.sender.acknowledge_all(session)
    frames = [sent, session.send(make(peer, sent))]
    acknowledged = outgoing.comes_again(1)
    session.close()
    [other] = outgoing.send()
    session = outgoing.session
    outgoing.sender.acknowledge_all(session)
    frames += [other, session.send(_made(make, peer, other, changes(peer)))]
    peer.settle()
    goes_on = session.record.closed_by is None
    observed = {"acknowledged": acknowledged, "session goes on": goes_on, "other": outgoing.comes_again(2)}
    expected = fields({"acknowledged": GONE, "session goes on": True, "other": AGAIN})
    judge(rule, expected=expected, observed=observed, evidence=frames)


@malforms("MQQB-2.2.1-02")
@covers("MQQB-3.1.5.1.1-02", "MQQB-3.1.5.1-03")
def test_connection_parameters_are_known_by_in_and_pt(peer, judge):
    """Parameters are answered as such; the same bytes with IN clear, or another PT, are not."""
    good = peer.request_session()
    asked = good.send(connection_parameters(**TIMEOUTS))
    answer = good.poll("ConnectionParameters")
    judge.all(expected=packet("ConnectionParameters"), observed=answer, case="whole", evidence=[asked, answer])
    for flaw, changes in NO_PARAMETERS.items():
        connection = peer.request_session()
        sent = connection.send(connection_parameters(**TIMEOUTS, **changes))
        observed = await_early_close(peer, connection)
        judge.all(expected=closed_unanswered(1), observed=observed, case=flaw, evidence=[sent, connection.last])


@malforms("MQQB-2.2.1-02")
@covers("MQQB-3.1.5.1.1-03", "MQQB-3.1.5.1-03")
@pytest.mark.parametrize(
    ("base", "packet_type"),
    [({"IN": 0, "PacketSize": 20}, 1), ({"SH": 0}, 1), ({}, 0), ({}, 4), ({}, 9)],
    ids=["IN-0", "SH-0", "PT-0", "PT-4", "PT-9"],
)
def test_a_session_ack_is_known_by_in_sh_and_pt(peer, judge, base, packet_type):
    """A session acknowledgment is taken as one; the same bytes with IN or SH clear, or another PT, end the session."""
    connection = peer.open_raw()
    connection.send(acknowledging(connection, base={"PacketSize": 20}))
    connection.check_alive()
    before = len(connection.received)
    counts = {"UserMsgSequenceNumber": 1, "RecoverableMsgSeqNumber": 1}
    sent = connection.send(acknowledging(connection, base=base, internal={"PT": packet_type}, **counts))
    observed = await_early_close(peer, connection)
    judge.all(expected=closed_unanswered(before), observed=observed, evidence=[sent, connection.last])


@covers("MQQB-3.1.5.1.1-13")
def test_a_user_message_is_known_by_in_and_its_class(peer, judge):
    """A packet with IN clear and the class NORMAL is counted and acknowledged as a message."""
    connection = peer.open_raw()
    sent = connection.send(peer.recoverable_message())
    answer = connection.poll_packet(2)
    expected = packet("SessionAck", {"SessionHeader.AckSequenceNumber": 1})
    judge("MQQB-3.1.5.1.1-13", expected=expected, observed=answer or connection, evidence=[sent, answer])
