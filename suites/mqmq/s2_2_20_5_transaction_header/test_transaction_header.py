"""MS-MQMQ 2.2.20.5 TransactionHeader."""

from __future__ import annotations

from itertools import pairwise
from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import CLOSED_BY_SUT_TEXT, distinct_values, each, facts, holds, one_of
from harness.run.marks import covers, needs, sut_survives, varied
from suites.messages import Sequence
from suites.mqmq.steps.layout import Layout
from suites.mqqb.steps.exchanges import deliver_message
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.sender import Sender

RULE_BY_UNUSED_BIT = {
    "X1": "MQMQ-2.2.20.5-08",
    "X2": "MQMQ-2.2.20.5-09",
    "X3": "MQMQ-2.2.20.5-10",
    "X4": "MQMQ-2.2.20.5-11",
    "X5": "MQMQ-2.2.20.5-12",
    "X6": "MQMQ-2.2.20.5-13",
    "X7": "MQMQ-2.2.20.5-14",
    "X8": "MQMQ-2.2.20.5-15",
}
"""The rule about each unused bit of Flags."""
CHECKED_SEQUENCE_COUNT = 4
"""The number of sequences; the last messages of a check belong to the last sequence."""
CONNECTOR_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000cc")
SINGLE_MESSAGE_TRANSACTION_COUNT = 6
"""The number of transactions of one message in a check."""
LARGE_BODY = "large " * 1000
"""A body of more than 4 KiB."""
NAME_OF_TRANSACTIONAL_QUEUE_KIND = "transactional"
PREVIOUS_NUMBER_FIELD = "TransactionHeader.PreviousTxSequenceNumber"


@sut_survives()
@covers(*RULE_BY_UNUSED_BIT.values())
def test_unused_bit_of_transaction_header_is_accepted_or_refused(peer, sut, judge):
    """The peer sends transactional messages, each with one unused bit of Flags set. Each message is in its queue or, as
    erratum E31 allows, makes the SUT close the session.
    """
    for ordinal, (bit, rule) in enumerate(RULE_BY_UNUSED_BIT.items(), 1):
        packet = Sequence(peer, ordinal).message(transaction={bit: 1}, label=bit)
        done = deliver_message(peer, packet, bit, NAME_OF_TRANSACTIONAL_QUEUE_KIND)
        judge(
            rule,
            case="message",
            expected=one_of(done.accepted_outcome, CLOSED_BY_SUT_TEXT),
            observed=done.outcome,
            evidence=done.frames,
            errata="E31",
        )


@covers("MQMQ-2.2.20.5-21")
def test_any_connector_qm_guid_is_accepted(peer, sut, judge):
    """The peer sends transactional messages with several values of ConnectorQMGuid, the last three in one sequence.
    Each message is in its queue.
    """
    connectors = (UUID(int=0), CONNECTOR_GUID, sut.guid, CONNECTOR_GUID, peer.identifier, UUID(int=0))
    for ordinal, connector in enumerate(connectors, 1):
        label = f"connector {ordinal}"
        if ordinal <= CHECKED_SEQUENCE_COUNT:
            sequence = Sequence(peer, ordinal)
        packet = sequence.message(transaction={"ConnectorQMGuid": connector}, label=label)
        done = deliver_message(peer, packet, label, NAME_OF_TRANSACTIONAL_QUEUE_KIND)
        judge(
            "MQMQ-2.2.20.5-21",
            expected=done.accepted_outcome,
            observed=done.outcome,
            evidence=done.frames,
            case="message",
        )


@needs("send")
@covers(
    "MQMQ-2.2.20.5-04",
    "MQDMPR-3.1.1.12-D58",
    "MQMQ-2.2.20.5-05",
    "MQDMPR-3.1.1.12-D59",
    "MQMQ-2.2.20.5-07",
    "MQMQ-2.2.20.5-16",
    "MQMQ-2.2.20.5-17",
    "MQMQ-2.2.20.5-18",
    "MQMQ-2.2.20.5-19",
)
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of receipt"))
def test_transactions_of_one_message_have_fm_and_lm_and_ids(peer, sut, judge):
    """The SUT sends six transactions of one message each. Each message has FM and LM set and a unique ID.
    TxSequenceNumber is 1 to 6, and PreviousTxSequenceNumber is 0 to 5.
    """
    sender = Sender(peer, sut, peer.direct_name(f"mqc-{sut.own}-single"))  # an earlier run had another sequence
    sender.send(*range(1, SINGLE_MESSAGE_TRANSACTION_COUNT + 1), delivery="transactional")
    session, sent = sender.await_first_messages(SINGLE_MESSAGE_TRANSACTION_COUNT)
    try:
        headers = [frame["TransactionHeader"] for frame in sent]
    except IndexError:
        raise ConformanceFailure("the SUT's transactional messages have no TransactionHeader") from None
    judge(
        "MQMQ-2.2.20.5-04",
        "MQDMPR-3.1.1.12-D58",
        expected=[1] * SINGLE_MESSAGE_TRANSACTION_COUNT,
        case="FM of each message",
        observed=[each.FM for each in headers],
        evidence=sent,
    )
    judge(
        "MQMQ-2.2.20.5-05",
        "MQDMPR-3.1.1.12-D59",
        expected=[1] * SINGLE_MESSAGE_TRANSACTION_COUNT,
        case="LM of each message",
        observed=[each.LM for each in headers],
        evidence=sent,
    )
    identifiers = [int(each.ID) for each in headers]
    judge(
        "MQMQ-2.2.20.5-07",
        expected=distinct_values("IDs", SINGLE_MESSAGE_TRANSACTION_COUNT),
        observed=identifiers,
        evidence=sent,
    )
    numbers = [each.TxSequenceNumber for each in headers]
    before = [each.PreviousTxSequenceNumber for each in headers]
    judge(
        "MQMQ-2.2.20.5-16",
        expected=[1] * (SINGLE_MESSAGE_TRANSACTION_COUNT - 1),
        case="increases of TxSequenceNumber",
        observed=[b - a for a, b in pairwise(numbers)],
        evidence=sent,
    )
    judge(
        "MQMQ-2.2.20.5-17", expected=1, case="TxSequenceNumber of the first message", observed=numbers[0], evidence=sent
    )
    judge(
        "MQMQ-2.2.20.5-18",
        expected=numbers[:-1],
        case="PreviousTxSequenceNumber of the other messages",
        observed=before[1:],
        evidence=sent,
    )
    judge(
        "MQMQ-2.2.20.5-19",
        expected=0,
        case="PreviousTxSequenceNumber of the first message",
        observed=before[0],
        evidence=sent,
    )
    session.acknowledge_all()


@needs("send", "transactions")
@covers(
    "MQMQ-2.2.20.5-04",
    "MQMQ-2.2.20.5-05",
    "MQDMPR-3.1.1.12-D59",
    "MQMQ-2.2.20.5-D01",
    "MQDMPR-3.1.7.1.30-D01",
    "MQDMPR-3.1.7.1.32-D04",
    "MQDMPR-3.1.1.12-D58",
    "MQDMPR-3.1.4.3-06",
    "MQDMPR-3.1.4.3-07",
)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of receipt"))
def test_fm_and_lm_mark_first_and_last_message_of_transaction(peer, sut, judge, count):
    """The SUT sends a transaction of several messages, of which the first and the last have a large body. Each message
    has a TransactionHeader, and TH is set. Only the first message has FM set, and only the last has LM set.
    TxSequenceNumber counts from 1.
    """
    transaction = sut.control.call("begin")["transaction"]
    sender = Sender(peer, sut, peer.direct_name(f"mqc-{sut.own}-first-{count}"))
    for tag in range(1, count + 1):
        large = {"body": LARGE_BODY} if tag in (1, count) else {}
        sender.send(tag, transaction=transaction, **large)
    sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(count)
    found = [Layout(frame) for frame in sent]
    first, last = ([one.fields.get(f"TransactionHeader.Flags.{bit}") for one in found] for bit in ("FM", "LM"))
    judge(
        "MQDMPR-3.1.7.1.30-D01",
        expected=each({"TH": 1, "has a TransactionHeader": True}, "message"),
        observed=[
            {"TH": one.fields.get("UserHeader.Flags.TH"), "has a TransactionHeader": bit is not None}
            for one, bit in zip(found, first, strict=True)
        ],
        evidence=sent,
    )
    ends = [int(number == 0) for number in range(count)], [int(number == count - 1) for number in range(count)]
    judge(
        "MQMQ-2.2.20.5-04",
        "MQDMPR-3.1.1.12-D58",
        "MQDMPR-3.1.4.3-06",
        expected=ends[0],
        case="FM of each message",
        observed=first,
        evidence=sent,
    )
    judge(
        "MQMQ-2.2.20.5-05",
        "MQDMPR-3.1.1.12-D59",
        "MQDMPR-3.1.4.3-07",
        expected=ends[1],
        case="LM of each message",
        observed=last,
        evidence=sent,
    )
    numbers = [
        (one.fields.get("TransactionHeader.TxSequenceNumber"), one.fields.get(PREVIOUS_NUMBER_FIELD)) for one in found
    ]
    judge(
        "MQMQ-2.2.20.5-D01",
        "MQDMPR-3.1.7.1.32-D04",
        expected=[(n + 1, n) for n in range(count)],
        case="TxSequenceNumber and PreviousTxSequenceNumber of each message",
        observed=numbers,
        evidence=sent,
    )
    for number in range(1, 3):
        next_transaction = sut.control.call("begin")["transaction"]
        for tag in (count + 2 * number - 1, count + 2 * number):
            sender.send(tag, transaction=next_transaction)
        sut.control.call("commit", transaction=next_transaction)
    later = [Layout(frame) for frame in sender.collect_messages(session, count + 4)[count:]]
    for bit, marks, rules in (
        ("FM", [1, 0, 1, 0], ("MQDMPR-3.1.1.12-D58", "MQDMPR-3.1.4.3-06")),
        ("LM", [0, 1, 0, 1], ("MQDMPR-3.1.1.12-D59", "MQDMPR-3.1.4.3-07")),
    ):
        judge(
            *rules,
            expected=marks,
            observed=[one.fields.get(f"TransactionHeader.Flags.{bit}") for one in later],
            case=f"{bit} of each message of two later transactions",
            evidence=session.messages,
        )
    identifiers = {one.fields.get("TransactionHeader.Flags.ID") for one in found}
    judge(
        "MQDMPR-3.1.7.1.32-D04",
        expected=holds("all messages of the transaction have the same transaction identifier"),
        observed=len(identifiers) == 1,
        evidence=sent,
    )
    session.acknowledge_all()


@needs("send", "transactions", "receive")
@covers("MQMQ-2.2.20.5-06")
@varied("response queue", "time to be received")
def test_messages_of_transaction_to_two_queues_have_one_id(peer, sut, judge):
    """The SUT sends the messages of a transaction to two queues of the peer: all messages have the same ID."""
    transaction = sut.control.call("begin")["transaction"]
    peer.listen(ignore_incoming=True)
    for tag, queue in enumerate(("mqc-one-id", "mqc-other-id", "mqc-one-id"), 1):
        sut.send(peer.direct_name(queue), body="b", application_tag=tag, transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    sent = peer.inbox.wait(lambda frame: Sender.list_tags([frame])[0] in (1, 2, 3), 3)
    peer.inbox.acknowledge()
    found = {int(frame["TransactionHeader"].ID) for frame in sent if frame["UserHeader"].TH}
    observed = {"number_of_messages": len(sent), "number_of_different_IDs": len(found)}
    judge.all(expected=facts(number_of_messages=3, number_of_different_IDs=1), observed=observed, evidence=sent)


@needs("send", "restart")
@covers("MQMQ-2.2.20.5-07", "MQMQ-2.2.19.2-07")
def test_transaction_ids_do_not_repeat_after_restart(peer, sut, judge):
    """The SUT sends three transactions before a restart and three after it. All six transaction IDs differ, and so do
    the MessageIDs of the messages.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-ids-before"))
    sender.send(1, 2, 3, delivery="transactional")
    session, sent = sender.await_first_messages(3)
    session.acknowledge_all()
    session.send(build_order_ack(peer, sent[-1]))
    peer.settle()
    sut.restart()
    sender.to = peer.direct_name("mqc-ids-after")
    sender.send(4, 5, 6, delivery="transactional")
    session, later = sender.await_first_messages(3)
    session.acknowledge_all()
    found = [int(frame["TransactionHeader"].ID) for frame in (*sent, *later) if frame["UserHeader"].TH]
    judge("MQMQ-2.2.20.5-07", expected=distinct_values("IDs", 6), observed=found, evidence=[*sent, *later])
    numbers = [frame["UserHeader"].MessageID for frame in (*sent, *later)]
    judge("MQMQ-2.2.19.2-07", expected=distinct_values("MessageIDs", 6), observed=numbers, evidence=[*sent, *later])


@needs("send", "transactions")
@covers("MQMQ-2.2.20.5-06")
@varied("positive journaling", "negative journaling", acknowledgments=("none", "of receipt"))
def test_messages_of_transaction_share_its_id(peer, sut, judge):
    """The SUT sends two transactions of two messages each. Both messages of a transaction have the same ID, and the IDs
    of the two transactions differ.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-transactions"))
    for first in (1, 3):
        transaction = sut.control.call("begin")["transaction"]
        sender.send(first, transaction=transaction)
        sender.send(first + 1, transaction=transaction, body=LARGE_BODY)
        sut.control.call("commit", transaction=transaction)
    session, sent = sender.await_first_messages(4)
    found = [int(frame["TransactionHeader"].ID) for frame in sent if frame["UserHeader"].TH]
    judge(
        "MQMQ-2.2.20.5-06",
        expected=holds("the ID of the last two messages differs from the ID of the first two messages"),
        observed=bool(len(set(found)) == 2 and found[0] == found[1] and found[2] == found[3]) or str(found),
        evidence=sent,
    )
    session.acknowledge_all()
