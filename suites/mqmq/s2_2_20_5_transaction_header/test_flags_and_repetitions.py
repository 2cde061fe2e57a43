"""MS-MQMQ 2.2.20.5 TransactionHeader: unused bits and FA on receipt, and messages that are sent again."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.expectations import CLOSED_BY_SUT_TEXT, facts, one_of
from harness.run.marks import covers, needs
from suites.messages import Sequence
from suites.mqqb.steps.disposition import get_final_ack_identifier, identifier, receive_first_message
from suites.mqqb.steps.ordering import Receiver
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import get_transaction_header

UNUSED_BIT_BY_RULE = {
    "MQMQ-2.2.20.5-08": "X1",
    "MQMQ-2.2.20.5-09": "X2",
    "MQMQ-2.2.20.5-10": "X3",
    "MQMQ-2.2.20.5-11": "X4",
    "MQMQ-2.2.20.5-12": "X5",
    "MQMQ-2.2.20.5-13": "X6",
    "MQMQ-2.2.20.5-14": "X7",
    "MQMQ-2.2.20.5-15": "X8",
}
"""The unused bit of Flags that each rule is about."""
CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000cb")
LARGE_BODY = bytes(range(256)) * 20
"""A body of more than 4 KiB."""


@needs("receive")
@covers(*UNUSED_BIT_BY_RULE)
def test_unused_bits_change_neither_order_nor_final_acks(peer, sut, judge):
    """Two messages of a sequence arrive with one unused bit of Flags set, and then two messages with all unused bits
    set. All are received in order, and only the messages with FA get a FinalAck. As erratum E31 allows, the SUT may
    close the session instead.
    """
    queue = sut.queue("transactional")
    receiver = Receiver(peer, sut)
    cases = [*((bit, [bit]) for bit in UNUSED_BIT_BY_RULE.values()), ("all", list(UNUSED_BIT_BY_RULE.values()))]
    observed: dict[str, Any] = {}
    evidence: dict[str, list[Any]] = {}
    for ordinal, (name, bits) in enumerate(cases, 2):
        session, sequence = peer.open_raw(), Sequence(peer, ordinal)
        flags = dict.fromkeys(bits, 1)
        second = {"FA": 0, "ID": 0xFFFFF, "ConnectorQMGuid": CONNECTOR_GUID}
        packets = [
            sequence.message(transaction=flags | {"FA": 1}, label=f"{name} 1"),
            sequence.message(transaction=flags | second, label=f"{name} 2", body=LARGE_BODY),
        ]
        sent = [session.send(packet) for packet in packets]
        labels = [f"{name} 1", f"{name} 2"]
        peer.eventually(
            lambda labels=labels, session=session: session.closed_by_sut or are_labels_in_queue(sut, queue, labels)
        )
        if session.closed_by_sut:
            observed[name] = CLOSED_BY_SUT_TEXT
            evidence[name] = sent
            continue
        arrived = [label for label in sut.labels(queue) if label in labels]
        for _ in arrived:
            receive_first_message(sut, queue)
        receiver.poll_acknowledgment(final=True)
        answered = {get_final_ack_identifier(frame) for frame in receiver.list_acknowledgments(final=True)}
        observed[name] = {
            "labels": arrived,
            "messages_with_a_final_ack": [number for number, one in enumerate(sent, 1) if identifier(one) in answered],
        }
        evidence[name] = [*sent, *receiver.list_acknowledgments(final=True)]
    for rule, bit in UNUSED_BIT_BY_RULE.items():
        for name in (bit, "all"):
            judge(
                rule,
                expected=one_of(
                    facts(labels=[f"{name} 1", f"{name} 2"], messages_with_a_final_ack=[1]), CLOSED_BY_SUT_TEXT
                ),
                observed=observed[name],
                case=f"messages with unused bits ({name})",
                evidence=evidence[name],
                errata="E31",
            )


def are_labels_in_queue(sut, queue, labels):
    """Return whether the messages with the given labels are in a queue."""
    return set(labels) <= set(sut.labels(queue))


@covers("MQMQ-2.2.20.5-D02")
def test_refused_message_with_fa_gets_final_ack(peer, sut, judge):
    """A transactional message with FA set arrives for a queue that does not exist: the SUT sends a FinalAck."""
    receiver = Receiver(peer, sut)
    sent = receiver.send(destination=rf"TCP:{sut.address}\private$\mqc-missing", transaction={"FA": 1})
    receiver.poll_acknowledgment(final=True)
    acks = receiver.list_acknowledgments(final=True)
    judge.all(
        expected=[identifier(sent)],
        case="messages with a FinalAck",
        observed=[get_final_ack_identifier(frame) for frame in acks],
        evidence=[sent, *acks],
    )


@needs("send", "transactions")
@covers("MQMQ-2.2.20.5-04", "MQMQ-2.2.20.5-05", "MQMQ-2.2.20.5-06", "MQMQ-2.2.20.5-16")
def test_repeated_messages_keep_their_transaction_headers(peer, sut, judge):
    """The SUT sends a transaction of three messages, and the peer closes the session without an acknowledgment. On the
    next session, each message has the same FM, LM, ID and TxSequenceNumber as before.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-repeated"))
    transaction = sut.control.call("begin")["transaction"]
    sender.send(1, 2, 3, transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(3)
    session.close()
    session = sender.await_session()
    again = sender.collect_messages_until_silence(session, 3)
    session.acknowledge_all()
    for rule, name in (
        ("MQMQ-2.2.20.5-04", "FM"),
        ("MQMQ-2.2.20.5-05", "LM"),
        ("MQMQ-2.2.20.5-06", "ID"),
        ("MQMQ-2.2.20.5-16", "TxSequenceNumber"),
    ):
        before, after = (
            {
                tag: int(getattr(get_transaction_header(frame), name))
                for tag, frame in zip(sender.list_tags(one), one, strict=True)
            }
            for one in (sent, again)
        )
        judge(rule, expected=before, observed=after, case=f"{name} of each repeated message", evidence=[*sent, *again])
