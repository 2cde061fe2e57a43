"""MS-MQQB 3.1.3.2 Session Initialization: the resend interval of a new session."""

from __future__ import annotations

import itertools

from harness.run.marks import covers, needs
from suites.mqqb.steps.sequences import FIRST_RESEND_INTERVAL_MS, RESENT_OUTCOME, SequenceSentBySut

SHORT_RESEND_ENTRY_COUNT = 3
"""The number of equal entries at the beginning of ResendTimerTable."""


@needs("send")
@covers("MQQB-3.1.2.6-01", "MQQB-3.1.3.1-02", "MQQB-3.1.3.2-19", "MQQB-3.1.3.2-20")
def test_message_without_order_ack_is_resent_after_equal_intervals(peer, sut, judge):
    """One sequence to the second of two queues has ended, and the peer sends no OrderAck for the first message of the
    next sequence. The SUT resends this message three times, each time after the first entry of ResendTimerTable.
    """
    beside = SequenceSentBySut(peer, sut, "mqc-resend-beside")
    beside.send()
    beside.acknowledge_all()
    outgoing = beside.start_second_sequence("mqc-resend-short")
    outgoing.send()
    outgoing.acknowledge_all()
    outgoing.send()
    for _ in range(SHORT_RESEND_ENTRY_COUNT):
        outgoing.send_session_ack()
        if outgoing.await_resend(2) != RESENT_OUTCOME:
            break
    copies = outgoing.copies(2)[: SHORT_RESEND_ENTRY_COUNT + 1]
    waits = [peer.measure_duration(earlier, later) for earlier, later in itertools.pairwise(copies)]
    intervals = [
        wait.describe_expiry(FIRST_RESEND_INTERVAL_MS, "the first resend time").removeprefix("after ") for wait in waits
    ]
    judge.all(
        expected=["the first resend time"] * SHORT_RESEND_ENTRY_COUNT,
        observed=intervals,
        case="time before each further copy of the message",
        evidence=copies,
    )
    outgoing.send_session_ack()
    outgoing.acknowledge_all()
