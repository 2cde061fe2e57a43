"""MS-MQQB 3.1.5.7 Receiving a FinalAck Packet."""

from __future__ import annotations

import pytest

from harness.run.marks import covers, goes_on, needs
from suites.mqqb.steps.opening import settle
from suites.mqqb.steps.ordering import ACK_RECEIVE, BAD_DST_Q, acknowledgment_of_nothing, sent_before_open
from suites.mqqb.steps.sender import eventually
from suites.mqqb.steps.sequences import DEAD, JOURNAL, Outgoing, kept


@goes_on()
@covers("MQQB-3.1.5.7-01")
def test_a_final_ack_before_the_session_is_open_closes_it(peer, judge):
    """The same FinalAck ends a session that waits for ConnectionParameters, and leaves one that is open as it is."""
    observed, evidence = sent_before_open(peer, acknowledgment_of_nothing(peer, final=True))
    judge("MQQB-3.1.5.7-01", expected="closed before, open after", observed=observed, evidence=evidence)


@needs("send", "receive")
@covers("MQQB-3.1.5.7-02", "MQQB-3.1.5.7-04", "MQQB-3.1.5.7-05", "MQQB-3.1.5.7-07")
@pytest.mark.parametrize("ordered", [True, False], ids=["after-order-ack", "before-order-ack"])
def test_a_final_ack_says_what_becomes_of_a_message(peer, sut, judge, ordered):
    """Six messages, with JP, JN or neither, received or refused: with JP received and with JN refused they are kept."""
    outgoing = Outgoing(peer, sut, f"mqc-final-{int(ordered)}")
    for journal in (["positive"], ["negative"], [], ["positive"], ["negative"], []):
        outgoing.send(journal=journal)
    frames = [outgoing.on_session()]
    if ordered:
        frames.append(outgoing.acknowledge(6))
        settle(peer)
    for number in range(1, 7):
        value = ACK_RECEIVE if number <= 3 else BAD_DST_Q
        frames.append(outgoing.finish(number, MessageClass=value))
    eventually(peer, lambda: bool(kept(sut, DEAD, outgoing.identifiers)))
    journaled, dead = kept(sut, JOURNAL, outgoing.identifiers), kept(sut, DEAD, outgoing.identifiers)
    for rule, expected, observed in (
        ("MQQB-3.1.5.7-02", "journaled [1]", f"journaled {journaled}"),
        ("MQQB-3.1.5.7-04", "message 1 in the system journal", "message 1 " + _where(journaled, 1)),
        ("MQQB-3.1.5.7-05", "dead letters [5]", f"dead letters {dead}"),
        (
            "MQQB-3.1.5.7-07",
            "message 5 in the transactional dead letters",
            "message 5 " + _where(dead, 5, "transactional dead letters"),
        ),
    ):
        judge(rule, expected=expected, observed=observed, evidence=[*outgoing.sent, *frames])
    outgoing.settle()


def _where(found: list[int], number: int, place: str = "system journal") -> str:
    return f"in the {place}" if number in found else f"not in the {place}"
