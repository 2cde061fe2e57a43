"""MS-MQQP 3.1.4.2 RemoteQMEndReceive: a receive is acknowledged, or given back."""

from __future__ import annotations

import pytest

from harness.expectations import each, facts
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import Ack, Method
from harness.wire.rpc_stub import NULL_HANDLE
from suites.mqqp.steps.reading import fill_queue

pytestmark = needs("qm2qm")

INVALID_HANDLE = "MQ_ERROR_INVALID_HANDLE"
UNKNOWN = "fault nca_s_fault_context_mismatch"


@covers(
    "MQQP-3.1.4.2-01",
    "MQQP-3.1.4.2-06",
    "MQQP-3.1.4.2-07",
    "MQQP-3.1.4.2-08",
    "MQQP-3.1.4.2-12",
    "MQQP-3.1.4.2-16",
    "MQQP-3.1.4.2-D01",
    "MQDMPR-3.1.7.1.10-02",
    "MQDMPR-3.1.7.1.12-13",
    "MQDMPR-3.1.7.1.12-18",
    "MQDMPR-3.1.7.1.12-21",
)
@pytest.mark.parametrize("by", [Method.START_RECEIVE, Method.START_RECEIVE2])
@pytest.mark.parametrize("kind", ["plain", "transactional"])
def test_nack_gives_the_message_back_and_ack_takes_it(remote, judge, by, kind):
    """After Ack.RR_NACK anybody receives the same message; after Ack.RR_ACK the next one. The handle is NULL, and no more."""
    queue, other = remote.open(kind), remote.open(kind)
    fill_queue(remote, kind, "first", "second")
    first = queue.start_receive(by=by)
    hidden = other.peek().label_or_outcome
    refused = queue.give_back(first)
    place = queue.labels()
    elsewhere = other.start_receive(by=by)
    other.give_back(elsewhere)
    back = queue.start_receive(by=by)
    seen = {
        "first": first.label_or_outcome,
        "while_it_is_held": hidden,
        "nack": refused.outcome,
        "queue": place,
        "elsewhere": elsewhere.label_or_outcome,
        "back": back.label_or_outcome,
    }
    expected = facts(
        first="first",
        while_it_is_held="second",
        nack="MQ_OK",
        queue=["first", "second"],
        elsewhere="first",
        back="first",
    )
    judge(
        "MQQP-3.1.4.2-06",
        "MQDMPR-3.1.7.1.10-02",
        "MQDMPR-3.1.7.1.12-18",
        expected=expected,
        observed=seen,
        evidence=[refused, back],
    )
    taken = queue.acknowledge(back)
    left = [queue.labels(), other.labels()]
    gone = each(["second"])
    judge(
        "MQQP-3.1.4.2-01",
        "MQQP-3.1.4.2-07",
        "MQDMPR-3.1.7.1.12-13",
        expected=facts(ack="MQ_OK", queue=gone),
        observed={"ack": taken.outcome, "queue": left},
        evidence=taken.evidence,
    )
    again = queue.acknowledge(back)
    judge(
        "MQQP-3.1.4.2-08",
        "MQQP-3.1.4.2-D01",
        "MQDMPR-3.1.7.1.12-21",
        expected=facts(nack="MQ_OK", ack="MQ_OK"),
        observed={"nack": refused.outcome, "ack": taken.outcome},
        evidence=[refused, taken],
    )
    nulls = [call.out is not None and bytes(call.out.pphContext) == NULL_HANDLE for call in (refused, taken)]
    judge(
        "MQQP-3.1.4.2-16",
        expected=facts(is_null=each(True), used_again=UNKNOWN),
        observed={"is_null": nulls, "used_again": again.outcome},
        evidence=[taken, again],
    )
    seen = {"first": first.label_or_outcome, "back": back.label_or_outcome, "queue": left}
    judge(
        "MQQP-3.1.4.2-12",
        expected=facts(first="first", back="first", queue=gone),
        observed=seen,
        evidence=taken.evidence,
    )


@covers("MQQP-3.1.4.2-10")
@goes_on()
def test_without_a_handle_nothing_is_ended(remote, judge):
    """NULL brings MQ_ERROR_INVALID_HANDLE, whether a queue was opened or not."""
    association = remote.associate()
    before = association.call("RemoteQMEndReceive", pphContext=NULL_HANDLE, dwAck=Ack.RR_ACK)
    queue = remote.open_with_messages("first", association=association)
    opened = association.call("RemoteQMEndReceive", pphContext=NULL_HANDLE, dwAck=Ack.RR_ACK)
    observed = {"before": before.outcome, "opened": opened.outcome, "read": queue.peek().label_or_outcome}
    expected = facts(before=INVALID_HANDLE, opened=INVALID_HANDLE, read="first")
    judge("MQQP-3.1.4.2-10", expected=expected, observed=observed, evidence=[before, opened])


@covers("MQQP-3.1.4.2-11")
@pytest.mark.parametrize("ended_first", [0, 1, 2], ids=["first", "middle", "last"])
def test_the_handle_says_which_receive_is_ended(remote, judge, ended_first):
    """Of three receives one is given back, while the others are still locked; these are taken."""
    labels = ["first", "second", "third"]
    queue = remote.open_with_messages(*labels)
    reads = [queue.start_receive() for _ in labels]
    ended = queue.give_back(reads[ended_first])
    free = queue.labels()
    others = [queue.acknowledge(read).outcome for number, read in enumerate(reads) if number != ended_first]
    back = [labels[ended_first]]
    seen = {
        "read": [read.label_or_outcome for read in reads],
        "nack": ended.outcome,
        "free": free,
        "acks": others,
        "left": queue.labels(),
    }
    expected = facts(read=labels, nack="MQ_OK", free=back, acks=["MQ_OK", "MQ_OK"], left=back)
    judge("MQQP-3.1.4.2-11", expected=expected, observed=seen, evidence=ended.evidence)
