"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: transactions of several messages."""

from __future__ import annotations

from harness.run.marks import covers, needs
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header

MESSAGE_COUNTS = (3, 1, 2)
"""The number of messages of each transaction."""


@needs("send", "transactions")
@covers("MQQB-3.1.7.1.3-03")
def test_each_message_of_transaction_names_message_before_it(peer, sut, judge):
    """The SUT sends three transactions, of which two have several messages. In every message, PreviousTxSequenceNumber
    is one less than TxSequenceNumber.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-{sut.own}-transactions"))
    for at, count in enumerate(MESSAGE_COUNTS):
        transaction = sut.control.call("begin")["transaction"]
        for number in range(count):
            sender.send(10 * at + number + 1, transaction=transaction)
        sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(sum(MESSAGE_COUNTS))
    headers = [get_transaction_header(frame) for frame in sent]
    judge.all(
        expected=[(int(header.TxSequenceNumber), int(header.TxSequenceNumber) - 1) for header in headers],
        observed=[(int(header.TxSequenceNumber), int(header.PreviousTxSequenceNumber)) for header in headers],
        case="TxSequenceNumber and PreviousTxSequenceNumber of each message",
        evidence=sent,
    )
    session.acknowledge_all()
    session.send(build_order_ack(peer, sent[-1]))
    peer.settle()
