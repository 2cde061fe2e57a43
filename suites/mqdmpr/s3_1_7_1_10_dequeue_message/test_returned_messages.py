"""MS-MQDMPR 3.1.7.1.10, 3.1.7.1.13, 3.1.7.3.2: receives of messages that earlier receives returned to their queue."""

from __future__ import annotations

import pytest

from harness.expectations import facts, in_queue
from harness.peer.association import Call
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Action, LookupId

pytestmark = needs("qm2qm")

RULE_BY_KIND_OF_RECEIVE = {"receive": "MQDMPR-3.1.7.1.10-02", "lookup": "MQDMPR-3.1.7.1.13-04"}


@pytest.mark.parametrize(
    "way", [pytest.param(way, marks=covers(rule), id=way) for way, rule in RULE_BY_KIND_OF_RECEIVE.items()]
)
@covers("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.3.2-09")
def test_returned_message_keeps_its_place(remote, judge, way):
    """A reader receives the first of three messages, by a receive or by a lookup, and returns it to the queue. The
    message is again in front of the others, and the next receive returns it. Then the first two messages are locked,
    and the first is returned: again, the next receive returns it. A receive also returns a message without a body.
    """
    queue, other = remote.open_with_messages("a", "b", "c"), remote.open()

    def receive() -> Call:
        if way == "lookup":
            return queue.look_up(Action.LOOKUP_RECEIVE_NEXT, LookupId.BEFORE_FIRST).expect_success()
        return queue.start_receive().expect_success()

    taken = [receive()]
    queue.put_message_back(taken[0])
    labels = queue.labels()
    if way == "lookup" and "a" not in labels:
        reason = "a receive by LookupIdentifier removes the message at once (erratum E57)"
        judge.mark_not_exercised(RULE_BY_KIND_OF_RECEIVE[way], reason=reason, evidence=taken[0])
        judge.mark_not_exercised("MQDMPR-3.1.7.1.10-D07", "MQDMPR-3.1.7.3.2-09", reason=reason, evidence=taken[0])
        return
    again = queue.start_receive()
    judge(
        "MQDMPR-3.1.7.1.10-D07",
        expected="a",
        observed=again.label_or_outcome,
        evidence=[*taken, again],
        case="receive of a returned message",
    )
    judge("MQDMPR-3.1.7.3.2-09", expected="a", observed=again.label_or_outcome, evidence=again, case="first message")
    queue.put_message_back(again)
    first, second = other.start_receive(), other.start_receive()
    other.put_message_back(first)
    in_front = queue.start_receive()
    judge(
        "MQDMPR-3.1.7.3.2-09",
        expected=["a", "b", "a"],
        observed=[read.label_or_outcome for read in (first, second, in_front)],
        evidence=[first, second, in_front],
        case="receives from the start of the queue",
    )
    for reader, read in ((queue, in_front), (other, second)):
        reader.put_message_back(read)
    judge(
        RULE_BY_KIND_OF_RECEIVE[way],
        expected=facts(after_the_first_return=in_queue("a", "b", "c"), after_all_returns=in_queue("a", "b", "c")),
        observed={"after_the_first_return": labels, "after_all_returns": queue.labels()},
        evidence=taken,
    )
    queue.purge().expect_success()
    remote.send_messages_and_require_acks([remote.peer.recoverable_message(label="without a body", body=b"")])
    bodiless = queue.start_receive()
    judge(
        "MQDMPR-3.1.7.1.10-D07",
        expected="without a body",
        observed=bodiless.label_or_outcome,
        evidence=bodiless,
        case="receive of a message without a body",
    )
