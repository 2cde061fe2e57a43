"""MS-MQDMPR 3.1.7.1.32 Serialize Message to Buffer: large packets, and packets of several transactions."""

from __future__ import annotations

from harness.expectations import holds
from harness.run.marks import covers, needs
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.sender import Sender

LARGE_BODY_LENGTHS = (66_000, 140_001)
"""Lengths of bodies for which PacketSize needs more than 16 bits."""
LARGE_MESSAGE_TAG = 31_001
MESSAGES_PER_TRANSACTION = 4


@needs("send")
@covers("MQDMPR-3.1.7.1.32-04")
def test_packet_size_of_large_message_is_whole(peer, sut, judge):
    """The SUT sends messages with bodies of more than 64 KB. They arrive whole, and a small message arrives after
    them; the PacketSize of each large message is larger than its body.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-large-packets"))
    peer.listen(ignore_incoming=True)
    for number, length in enumerate(LARGE_BODY_LENGTHS):
        sut.send(sender.to, body="x" * length, application_tag=LARGE_MESSAGE_TAG + number)
    peer.environment.run_until(
        lambda: len(peer.inbox.pieces) >= len(LARGE_BODY_LENGTHS), sut.connect_timeout_ms + sut.response_timeout_ms
    )
    frames = peer.inbox.pieces
    sizes = [Layout(frame).fields.get("BaseHeader.PacketSize", 0) for frame in frames]
    judge(
        "MQDMPR-3.1.7.1.32-04",
        expected=holds("each is larger than the body"),
        observed=(
            len(sizes) == len(LARGE_BODY_LENGTHS)
            and all(size > length for size, length in zip(sizes, LARGE_BODY_LENGTHS, strict=True))
        )
        or sizes,
        evidence=frames,
        case="PacketSize of the large messages",
    )
    peer.inbox.acknowledge()


@needs("send", "transactions")
@covers("MQDMPR-3.1.7.1.32-D04")
def test_transaction_headers_of_two_transactions_differ(peer, sut, judge):
    """The SUT sends two transactions of four messages each to one queue of the peer. The messages of a transaction have
    one transaction identifier, which differs from that of the other transaction. Only the first message of each has FM
    set, and only the last has LM set. The sequence numbers count from 1, and the sequence is the same.
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
