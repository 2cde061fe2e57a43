"""MS-MQMQ 2.2.20.6 SecurityHeader: the unused bits of Flags."""

from __future__ import annotations

from harness.run.marks import covers, sut_survives
from suites.mqqb.steps.exchanges import deliver_message

UNUSED = {
    "X12": "MQMQ-2.2.20.6-10",
    "X13": "MQMQ-2.2.20.6-11",
    "X14": "MQMQ-2.2.20.6-12",
    "X15": "MQMQ-2.2.20.6-13",
}
"""The unused bits of Flags and the rule of each."""


@sut_survives()
@covers(*UNUSED.values())
def test_any_unused_bit_of_security_header_is_accepted(peer, sut, judge):
    """The peer sends unsigned messages with each unused bit of SecurityHeader.Flags set: each
    message is in its queue.
    """
    sender = {"ST": 2, "SecurityID": peer.identifier.bytes_le}
    for bit, rule in UNUSED.items():
        done = deliver_message(peer, peer.recoverable_message(security=sender | {bit: 1}, label=bit), bit)
        judge(rule, expected=done.accepted_outcome, observed=done.outcome, evidence=done.frames, case="message")
