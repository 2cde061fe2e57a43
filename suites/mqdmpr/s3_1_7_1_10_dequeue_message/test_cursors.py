"""MS-MQDMPR 3.1.7.1.10 Dequeue Message: several pending receives."""

from __future__ import annotations

import pytest

from harness.expectations import any_order, each, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, Method
from suites.mqqp.steps.methods import parametrize_by_method_with_rules

LONG_READ_TIMEOUT_MS = 60_000


@needs("qm2qm")
@parametrize_by_method_with_rules(
    {
        Method.START_RECEIVE: {"receive": ["MQQP-3.1.4.1-D15"], "waits": ["MQQP-3.1.4.1-D02"]},
        Method.START_RECEIVE2: {
            "receive": ["MQQP-3.1.4.10-31", "MQDMPR-3.1.7.2.1-05"],
            "waits": ["MQQP-3.1.4.10-D01", "MQDMPR-3.1.7.2.2-11", "MQDMPR-3.1.7.2.2-12"],
        },
    }
)
@pytest.mark.parametrize(
    ("with_cursor", "events"),
    [
        pytest.param(with_cursor, events, marks=covers(*events), id=name)
        for with_cursor, events, name in (
            (False, ("MQDMPR-3.1.7.1.10-D01", "MQDMPR-3.1.7.1.10-D02"), "plain"),
            (True, ("MQDMPR-3.1.7.1.10-22", "MQDMPR-3.1.7.1.10-23", "MQDMPR-3.1.7.1.10-30"), "by cursors"),
        )
    ],
)
def test_each_arriving_message_completes_one_pending_receive(remote, judge, by, rules, with_cursor, events):
    """While three receives are pending, two arriving messages complete two of them, but do not complete a peek that
    began to wait later. The remaining receive waits until a third message arrives.
    """
    queue = remote.open_with_messages()
    cursors = [queue.open_cursor() if with_cursor else 0 for _ in range(3)]
    reads = [queue.begin(Action.RECEIVE, by=by, hCursor=cursor, ulTimeout=LONG_READ_TIMEOUT_MS) for cursor in cursors]
    states_before = [read.state_after_silence() for read in reads]
    peek = queue.begin(Action.PEEK_CURRENT, by=by, ulTimeout=LONG_READ_TIMEOUT_MS)
    peek.state_after_silence()
    remote.deliver(["first", "second"])
    states_between = [read.state_after_silence() for read in reads]
    state_of_peek = peek.state_after_silence()
    remote.deliver(["third"])
    labels_after = [read.wait().label_or_outcome for read in reads]
    ends = [queue.acknowledge(read).outcome for read in reads]
    judge(
        *rules["waits"],
        expected={
            "receives before messages arrive": each(Call.WAITING),
            "receives after two messages have arrived": any_order("first", "second", Call.WAITING),
            "later peek": Call.WAITING,
        },
        observed={
            "receives before messages arrive": states_before,
            "receives after two messages have arrived": states_between,
            "later peek": state_of_peek,
        },
        evidence=reads,
    )
    judge(
        *rules["receive"],
        *events,
        expected={
            "labels received": any_order("first", "second", "third"),
            "ends of the receives": each("MQ_OK"),
            "queue": in_queue(),
        },
        observed={"labels received": labels_after, "ends of the receives": ends, "queue": queue.labels()},
        evidence=reads,
    )
