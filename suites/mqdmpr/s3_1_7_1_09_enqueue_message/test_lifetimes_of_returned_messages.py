"""MS-MQDMPR 3.1.7.1.9 Enqueue Message: the lifetime of a message that a reader returns to its queue."""

from __future__ import annotations

from harness.expectations import acknowledgments_of_classes, facts, in_queue
from harness.run.marks import covers, needs
from suites.applications import Application
from suites.mqqb.steps.disposition import RECEIVE_TIMEOUT, AcknowledgingReceiver

MESSAGE_LIFETIME_S = 4


@needs("queue_control", "receive", "transactions", "send")
@covers("MQDMPR-3.1.7.1.9-15")
def test_lifetime_goes_on_while_message_is_received_and_returned(peer, sut, judge):
    """In each of two transactions, an application receives messages with a short TimeToBeReceived: two messages in the
    first transaction, and one of them again in the second. Both transactions are aborted. When TimeToBeReceived has
    expired, both messages have left their queue with a negative acknowledgment. A message with a long TimeToBeReceived
    stays.
    """
    receiver = AcknowledgingReceiver(peer, sut)
    application = Application(peer, sut, transactional=True)
    for label, lifetime_s in (("one", MESSAGE_LIFETIME_S), ("other", MESSAGE_LIFETIME_S), ("long", 1_000)):
        application.send(
            label,
            delivery="transactional",
            time_to_be_received_s=lifetime_s,
            acks=["negative_receive"],
            admin_queue=peer.direct_name(),
        )
    for count in (2, 1):
        transaction = application.begin_transaction()
        for _ in range(count):
            application.receive(transaction=transaction)
        peer.pass_time(MESSAGE_LIFETIME_S * 1_000 // 4)
        application.end_transaction("abort", transaction)
    peer.pass_time((MESSAGE_LIFETIME_S + 1) * 1_000)
    labels = application.labels()
    came = receiver.await_acks(2)
    judge(
        "MQDMPR-3.1.7.1.9-15",
        expected=facts(queue=in_queue("long"), acknowledgments=acknowledgments_of_classes(*[RECEIVE_TIMEOUT] * 2)),
        observed={"queue": labels, "acknowledgments": came},
        evidence=came,
    )
    receiver.acknowledge_all()
