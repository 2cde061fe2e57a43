"""MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer: packets of several transactions."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

MESSAGES_PER_TRANSACTION = 4


@needs("send", "transactions")
@covers("MQDMPR-3.1.7.1.32-D04")
def test_transaction_headers_of_two_transactions_differ(peer, sut, judge):
    """The SUT sends two transactions of four messages each to one queue of the peer. The messages of a transaction have
    one transaction identifier, which differs from that of the other transaction. Only the first message of each
    transaction has FM set, and only the last has LM set. All eight messages belong to one sequence, and their sequence
    numbers count from 1.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-{sut.own}-transactions"))
    count = 2 * MESSAGES_PER_TRANSACTION
    for number in range(2):
        transaction = sut.control.call("begin")["transaction"]
        for tag in range(1, MESSAGES_PER_TRANSACTION + 1):
            sender.send(number * MESSAGES_PER_TRANSACTION + tag, transaction=transaction)
        sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(count)
    found = [Layout(frame).fields for frame in sent]
    identifiers = [one.get("TransactionHeader.Flags.ID") for one in found]
    halves = identifiers[:MESSAGES_PER_TRANSACTION], identifiers[MESSAGES_PER_TRANSACTION:]
    marks = [(one.get("TransactionHeader.Flags.FM"), one.get("TransactionHeader.Flags.LM")) for one in found]
    numbers = [one.get("TransactionHeader.TxSequenceNumber") for one in found]
    sequences = {
        (one.get("TransactionHeader.TxSequenceID.Ordinal"), one.get("TransactionHeader.TxSequenceID.TimeStamp"))
        for one in found
    }
    judge(
        "MQDMPR-3.1.7.1.32-D04",
        expected={
            "transaction identifiers": holds("one for each transaction"),
            "FM and LM": [(1, 0), (0, 0), (0, 0), (0, 1)] * 2,
            "TxSequenceNumber": [*range(1, count + 1)],
            "number of sequences": 1,
        },
        observed={
            "transaction identifiers": ([len({*half}) for half in halves] == [1, 1] and halves[0][0] != halves[1][0])
            or identifiers,
            "FM and LM": marks,
            "TxSequenceNumber": numbers,
            "number of sequences": len(sequences),
        },
        evidence=sent,
    )
    session.acknowledge_all()
