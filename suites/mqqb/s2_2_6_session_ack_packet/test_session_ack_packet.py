"""MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.expectations import fields
from harness.run.marks import covers
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import read_in_flag_and_packet_type
from suites.mqqb.steps.outgoing_session import await_session_of_sut

SH_BIT = 1 << 4
SESSION_ACK_SIZE_BYTES = 36
"""The size of a SessionAck: BaseHeader (16), InternalHeader (4) and SessionHeader (16)."""


@covers("MQQB-2.2.6-01", "MQQB-2.2.6-02")
def test_session_ack_has_in_and_sh_set_and_pt_1(peer, judge):
    """The SUT acknowledges a message with a packet that has IN and SH set and PT 1."""
    exchange = exchange_message(peer)
    answer = exchange.answers[2] if len(exchange.answers) > 2 else None
    bits = read_in_flag_and_packet_type(answer)
    observed = {"IN": bits["IN"], "SH": int(answer is not None and bool(answer.data[2] & SH_BIT))}
    judge("MQQB-2.2.6-01", expected=fields(IN=1, SH=1), observed=observed, evidence=[answer])
    judge("MQQB-2.2.6-02", expected=1, observed=bits["PT"], case="PT of the SessionAck", evidence=[answer])


def _make_acknowledged_count_condition(count):
    """Return a condition for a SessionAck that acknowledges a given number of messages."""
    return lambda frame: frame["SessionHeader"].AckSequenceNumber == count


@covers("MQQB-2.2.6-D01", "MQQB-2.2.6-02")
def test_session_acks_of_both_roles_have_36_bytes(peer, sut, judge):
    """While another session is open, the SUT acknowledges two messages from the peer one after the other, and then a
    message on a session that the SUT opened. Each SessionAck has 36 bytes and PT 1.
    """
    peer.try_to_open_session()
    accepted = peer.open_raw()
    for connection, count, case in (
        (accepted, 1, "first SessionAck"),
        (accepted, 2, "second SessionAck"),
        (await_session_of_sut(peer, sut), 1, "SessionAck of the SUT as initiator"),
    ):
        sent = connection.send(peer.recoverable_message())
        answer = connection.poll("SessionAck", _make_acknowledged_count_condition(count))
        judge(
            "MQQB-2.2.6-D01",
            expected=SESSION_ACK_SIZE_BYTES,
            observed="nothing" if answer is None else len(answer.data),
            case=f"size of the {case}",
            evidence=[sent, answer],
        )
        bits = read_in_flag_and_packet_type(answer)
        judge("MQQB-2.2.6-02", expected=1, observed=bits["PT"], case=f"PT of the {case}", evidence=[sent, answer])
