"""MS-MQQB 2.2.6 SessionAck Packet."""

from __future__ import annotations

from harness.expectations import fields
from harness.run.marks import covers
from suites.mqqb.steps.exchanges import exchange_message
from suites.mqqb.steps.opening import read_internal_bits

SH_BIT = 1 << 4


@covers("MQQB-2.2.6-01", "MQQB-2.2.6-02")
def test_session_ack_has_in_and_sh_set_and_pt_1(peer, judge):
    """The SUT acknowledges a message with a packet that has IN and SH set and PT 1."""
    exchange = exchange_message(peer)
    answer = exchange.answers[2] if len(exchange.answers) > 2 else None
    bits = read_internal_bits(answer)
    observed = {"IN": bits["IN"], "SH": int(answer is not None and bool(answer.data[2] & SH_BIT))}
    judge("MQQB-2.2.6-01", expected=fields(IN=1, SH=1), observed=observed, evidence=[answer])
    judge("MQQB-2.2.6-02", expected=1, observed=bits["PT"], case="PT of the SessionAck", evidence=[answer])
