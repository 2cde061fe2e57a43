"""MS-MQQP 3.1.4.2 RemoteQMEndReceive: a receive is acknowledged, or given back."""

from __future__ import annotations

from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT, RECEIVE, RR_ACK, RR_NACK
from harness.wire.rpc_stub import NULL_HANDLE
from suites.mqqp.steps.reading import FIRST, SECOND, brought, filled, frames

pytestmark = needs("qm2qm")

INVALID_HANDLE = "MQ_ERROR_INVALID_HANDLE"
UNKNOWN = "fault nca_s_fault_context_mismatch"


@covers(
    "MQQP-3.1.4.2-01", "MQQP-3.1.4.2-06", "MQQP-3.1.4.2-07", "MQQP-3.1.4.2-08", "MQQP-3.1.4.2-12", "MQQP-3.1.4.2-16"
)
def test_nack_gives_the_message_back_and_ack_takes_it(remote, judge):
    """After RR_NACK the same message is received; after RR_ACK the next one. The handle is NULL, and no more."""
    queue = filled(remote, FIRST, SECOND)
    first = queue.read(RECEIVE)
    refused = queue.end(first, RR_NACK)
    back = queue.read(RECEIVE)
    judge(
        "MQQP-3.1.4.2-06",
        expected=[FIRST, "MQ_OK", FIRST],
        observed=[brought(first), refused.outcome, brought(back)],
        evidence=refused.evidence,
    )
    taken = queue.end(back, RR_ACK)
    left = queue.labels()
    after = [taken.outcome, left]
    for rule in ("MQQP-3.1.4.2-01", "MQQP-3.1.4.2-07"):
        judge(rule, expected=["MQ_OK", [SECOND]], observed=after, evidence=taken.evidence)
    again = queue.end(back, RR_ACK)
    judge(
        "MQQP-3.1.4.2-08",
        expected=["MQ_OK", "MQ_OK"],
        observed=[refused.outcome, taken.outcome],
        evidence=[*refused.evidence, *taken.evidence],
    )
    nulls = [call.out is not None and bytes(call.out.pphContext) == NULL_HANDLE for call in (refused, taken)]
    judge(
        "MQQP-3.1.4.2-16",
        expected=f"NULL, then {UNKNOWN}",
        observed=f"{'NULL' if all(nulls) else 'a handle'}, then {again.outcome}",
        evidence=[*taken.evidence, *again.evidence],
    )
    expected = [FIRST, FIRST, [SECOND]]
    judge("MQQP-3.1.4.2-12", expected=expected, observed=[brought(first), brought(back), left], evidence=taken.evidence)


@covers("MQQP-3.1.4.2-10")
def test_without_a_handle_nothing_is_ended(remote, judge):
    """NULL brings MQ_ERROR_INVALID_HANDLE, whether a queue was opened or not."""
    association = remote.associate()
    before = association.call("RemoteQMEndReceive", pphContext=NULL_HANDLE, dwAck=RR_ACK)
    queue = filled(remote, FIRST, association=association)
    opened = association.call("RemoteQMEndReceive", pphContext=NULL_HANDLE, dwAck=RR_ACK)
    observed = [before.outcome, opened.outcome, brought(queue.read(PEEK_CURRENT))]
    expected = [INVALID_HANDLE, INVALID_HANDLE, FIRST]
    judge("MQQP-3.1.4.2-10", expected=expected, observed=observed, evidence=frames([before, opened]))


@covers("MQQP-3.1.4.2-11")
def test_the_handle_says_which_receive_is_ended(remote, judge):
    """Of two receives the second is given back, while the first is still locked."""
    queue = filled(remote, FIRST, SECOND)
    first, second = queue.read(RECEIVE), queue.read(RECEIVE)
    ended = queue.end(second, RR_NACK)
    free = brought(queue.read(PEEK_CURRENT))
    queue.end(first, RR_ACK)
    seen = [brought(first), brought(second), ended.outcome, free, queue.labels()]
    judge(
        "MQQP-3.1.4.2-11", expected=[FIRST, SECOND, "MQ_OK", SECOND, [SECOND]], observed=seen, evidence=ended.evidence
    )
