"""MS-MQSO 5.2.1.3 Subcomponent Roles: transactions that the queue manager itself coordinates."""

from __future__ import annotations

from harness.expectations import facts
from harness.run.marks import covers, needs
from harness.sut.outcomes import Outcome


@needs("transactions", "send", "receive", "queues")
@covers("MQSO-5.2.1.3-D01")
def test_internal_transaction_ends_without_vote(sut, judge):
    """Two internal transactions each receive a message and send a message. The first transaction can be aborted, and
    the second can be committed, without a prepare request.
    """
    queue = sut.queue("transactional")
    sut.send_here(queue, ["first", "second"], delivery="transactional")
    for outcome, expected in (("abort", ["first", "second"]), ("commit", ["second", "sent to commit"])):
        transaction = sut.control.call("begin")["transaction"]
        sut.read_label("receive", queue=queue, transaction=transaction)
        label = f"sent to {outcome}"
        sut.send(sut.direct_name(queue), label=label, body=label, transaction=transaction)
        answer = sut.attempt(outcome, transaction=transaction)
        observed = {"outcome": answer, "labels_in_the_queue": sut.labels(queue)}
        judge.all(
            expected=facts(outcome=Outcome.DONE, labels_in_the_queue=expected),
            observed=observed,
            case=f"{outcome} of the transaction",
        )
