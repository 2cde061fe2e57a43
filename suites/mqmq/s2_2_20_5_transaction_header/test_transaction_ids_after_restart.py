"""MS-MQMQ 2.2.20.5 TransactionHeader: IDs of transactions before and after a restart."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import distinct_values
from harness.run.marks import covers, needs, varied
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header


@needs("send", "restart", "transactions")
@covers("MQMQ-2.2.20.5-07")
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of receipt"))
def test_transactions_before_and_after_restart_have_distinct_ids(peer, sut, judge):
    """The SUT sends two transactions before a restart and two after it. The four values of TransactionHeader.Flags.ID
    differ.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-ids"))
    came = []
    for first in (1, 3):
        for tag in (first, first + 1):
            transaction = sut.control.call("begin")["transaction"]
            sender.send(tag, transaction=transaction)
            sut.control.call("commit", transaction=transaction)
        session = sender.await_session()
        came += sender.collect_messages_until_silence(session, 2)
        session.acknowledge_all()
        session.send(build_order_ack(peer, came[-1]))
        peer.settle()
        if first == 1:
            sut.restart()
    if sorted(set(sender.list_tags(came))) != [1, 2, 3, 4]:
        raise ConformanceFailure(f"the SUT sent only messages {sender.list_tags(came)}")
    by_tag = {
        tag: int(get_transaction_header(frame).ID) for tag, frame in zip(sender.list_tags(came), came, strict=True)
    }
    judge(
        "MQMQ-2.2.20.5-07",
        expected=distinct_values("IDs", 4),
        observed=list(by_tag.values()),
        evidence=came,
    )
