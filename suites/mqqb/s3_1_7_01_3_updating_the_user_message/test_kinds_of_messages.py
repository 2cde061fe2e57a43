"""MS-MQQB 3.1.7.1.3 Updating the UserMessage Packet: messages of different kinds to the second of two queues."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import build_order_ack
from suites.mqqb.steps.pinging import read_data_model_element
from suites.mqqb.steps.provoking import SecondQueueManager
from suites.mqqb.steps.sender import Sender
from suites.mqqb.steps.sequences import (
    RESENT_OUTCOME,
    SequenceSentBySut,
    get_sequence_id_number,
    get_transaction_header,
    list_sequence_numbers,
    read_sequence_id,
)

LARGE_BODY = "a large body " * 800
SAME_TX_SEQUENCE_ID_OUTCOME = "the messages have the TxSequenceID with which they were first sent"
LONGEST_WAIT_IN_TIMEOUTS = 8
"""The number of AckWaitTimeouts for which the check waits for the end of a session (note <46>)."""


@needs("send")
@covers("MQQB-3.1.7.1.3-11", "MQQB-3.1.7.1.3-13")
def test_session_counts_messages_of_every_kind(peer, sut, judge):
    """The SUT sends an urgent message, messages with large bodies, a transactional message and an acknowledgment on one
    session: the counts in its SessionAck include each message.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-counted"))
    sender.send(1, priority=7)
    session, _ = sender.await_first_messages(1)
    sender.send(2, body=LARGE_BODY)
    sender.send(3, body=LARGE_BODY, delivery="recoverable")
    sender.send(4, delivery="transactional")
    SecondQueueManager(peer, sender.to).send(5)
    sent = sender.collect_messages_until_silence(session, 5)
    ack = session.request_acknowledgment()
    recoverable = sum(frame["UserHeader"].DM == 1 for frame in session.messages)
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-11", "UserMsgSequenceNumber", len(session.messages)),
        ("MQQB-3.1.7.1.3-13", "RecoverableMsgSeqNumber", recoverable),
    ):
        counted = fields({f"SessionHeader.{name}": expected})
        judge(rule, expected=counted, observed=ack, evidence=[*sent, ack])
    session.acknowledge_all()
    send_order_ack_of_last_message(peer, session)


def send_order_ack_of_last_message(peer, session) -> None:
    """Send the OrderAck of the last transactional message on a session."""
    for frame in [one for one in session.messages if one["UserHeader"].TH][-1:]:
        session.send(build_order_ack(peer, frame))
        peer.settle()


@needs("send", "inspect")
@covers(
    "MQQB-3.1.7.1.3-05",
    "MQQB-3.1.7.1.3-06",
    "MQQB-3.1.7.1.3-07",
    "MQQB-3.1.7.1.3-12",
    "MQQB-3.1.7.1.3-26",
    "MQQB-3.1.7.1.3-28",
)
def test_data_model_has_values_of_messages_of_every_kind(peer, sut, judge):
    """The SUT sends an express message, two transactional messages, a recoverable message and an acknowledgment to the
    second of two queues, and resends the transactional messages: OutgoingMessageTable, UnackedSequence and
    SessionActive have the values of these messages.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-noted-kinds")
    outgoing.sender.send_to_other_queue("transactional")
    sent = []
    for delivery in ("express", "transactional", "transactional", "recoverable", "acknowledgment"):
        if delivery == "acknowledgment":
            SecondQueueManager(peer, outgoing.to).send(peer.next_message_id())
            peer.inbox.wait(lambda frame: frame["MessagePropertiesHeader"].MessageClass == AckClass.REACH_QUEUE)
        else:
            sent += outgoing.send(delivery=delivery)
        judge(
            "MQQB-3.1.7.1.3-28",
            expected=True,
            observed=read_data_model_element(outgoing.shown(), "SessionActive"),
            case=f"SessionActive after the message of kind {delivery}",
            evidence=sent,
        )
    positions = read_data_model_element(outgoing.shown(), "OutgoingMessageTable")
    for rule, name, expected in (
        ("MQQB-3.1.7.1.3-05", "TxSequenceNumber", [0, 1, 2, 0, 0]),
        ("MQQB-3.1.7.1.3-12", "SequenceNumber", [1, 2, 3, 4, 5]),
        ("MQQB-3.1.7.1.3-26", "AwaitingAck", [True] * 5),
    ):
        found = [read_data_model_element(position, name) for position in positions]
        judge(rule, expected=expected, observed=found, case=f"{name} of the messages", evidence=sent)
    noted = outgoing.list_unacknowledged_numbers()
    judge("MQQB-3.1.7.1.3-06", expected=[1, 2], observed=noted, case="numbers in UnackedSequence", evidence=sent)
    infos = [
        tuple(one[name] for name in ("SeqID", "SeqNo", "PrevNo"))
        for one in read_data_model_element(outgoing.read_sequence(), "UnackedSequence")
    ]
    places = [(get_sequence_id_number(frame), number, number - 1) for number, frame in enumerate(sent[1:3], 1)]
    judge("MQQB-3.1.7.1.3-07", expected=places, observed=infos, case="SEQUENCE_INFOs in UnackedSequence", evidence=sent)
    outgoing.send_session_ack()
    if outgoing.await_resend(3) != RESENT_OUTCOME:
        raise ConformanceFailure("the SUT did not resend its transactional messages")
    noted = outgoing.list_unacknowledged_numbers()
    judge("MQQB-3.1.7.1.3-06", expected=[1, 2], observed=noted, case="numbers after the resend", evidence=sent)
    found = [
        read_data_model_element(one, "SequenceNumber")
        for one in read_data_model_element(outgoing.shown(), "OutgoingMessageTable")
    ]
    judge("MQQB-3.1.7.1.3-12", expected=[6, 7], observed=found, case="SequenceNumber after the resend", evidence=sent)
    outgoing.send_session_ack()
    outgoing.send_order_ack(3)
    peer.settle()


@needs("send")
@covers(
    "MQQB-3.1.7.1.3-01",
    "MQQB-3.1.7.1.3-02",
    "MQQB-3.1.7.1.3-09",
    "MQQB-3.1.7.1.3-10",
    "MQQB-3.1.7.1.3-11",
    "MQQB-3.1.7.1.3-13",
)
def test_resent_transactional_messages_of_second_queue_keep_their_places(peer, sut, judge):
    """The SUT sends three transactional messages to the second of two queues, and the peer acknowledges them only with
    SessionAcks. The SUT resends the messages on the same session, and again on the next session. Each time, the
    messages have the same places in the sequence, and the session counts them.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-resent-kinds")
    outgoing.sender.send_to_other_queue("transactional")
    sent = outgoing.send(3)
    places = list(map(read_sequence_id, sent))
    for turn, session_name in enumerate(("first", "next")):
        if turn:
            outgoing.session.close()
            outgoing.await_session()
            peer.environment.run_until(lambda: len(outgoing.copies(3)) > 2, sut.response_timeout_ms)
        outgoing.send_session_ack()
        known = {number: len(outgoing.copies(number)) for number in (1, 2, 3)}
        judge(
            "MQQB-3.1.7.1.3-09",
            expected=RESENT_OUTCOME,
            observed=outgoing.await_resend(3),
            case=f"message 3 on the {session_name} session",
            evidence=sent,
        )
        judge.conclude("MQQB-3.1.7.1.3-09")
        again = [outgoing.copies(number)[-1] for number in (1, 2, 3)]
        if any(len(outgoing.copies(number)) == known[number] for number in (1, 2, 3)):
            raise ConformanceFailure("the SUT did not resend the three messages")
        evidence = [*sent, *again]
        case = f"messages resent on the {session_name} session"
        judge(
            "MQQB-3.1.7.1.3-01",
            expected=[1, 2, 3],
            observed=list_sequence_numbers(again),
            case=f"TxSequenceNumbers of the {case}",
            evidence=evidence,
        )
        kept = list(map(read_sequence_id, again)) == places
        judge(
            "MQQB-3.1.7.1.3-02",
            expected=holds(SAME_TX_SEQUENCE_ID_OUTCOME),
            observed=kept,
            case=f"TxSequenceIDs of the {case}",
            evidence=evidence,
        )
        judge(
            "MQQB-3.1.7.1.3-10",
            expected=[1, 2],
            observed=[int(get_transaction_header(frame).PreviousTxSequenceNumber) for frame in again[1:]],
            case=f"PreviousTxSequenceNumbers of the {case}, without the first message",
            evidence=evidence,
        )
        session = outgoing.session
        ack = session.request_acknowledgment()
        for rule, name in (
            ("MQQB-3.1.7.1.3-11", "UserMsgSequenceNumber"),
            ("MQQB-3.1.7.1.3-13", "RecoverableMsgSeqNumber"),
        ):
            counted = fields({f"SessionHeader.{name}": len(session.messages)})
            judge(rule, expected=counted, observed=ack, evidence=[*evidence, ack])
    outgoing.acknowledge_all()


@needs("send", "transactions")
@covers("MQQB-3.1.7.1.3-04", "MQQB-3.1.7.1.3-08")
def test_each_message_of_a_transaction_has_its_own_number(peer, sut, judge):
    """An application sends two messages in one transaction, and a third message after the commit: the messages have
    the TxSequenceNumbers 1, 2 and 3.
    """
    outgoing = SequenceSentBySut(peer, sut, "mqc-one-transaction")
    transaction = sut.control.call("begin")["transaction"]
    for _ in range(2):
        sut.send(outgoing.to, body="in a transaction", transaction=transaction)
    sut.control.call("commit", transaction=transaction)
    sut.send(outgoing.to, body="after the transaction", delivery="transactional")
    session, sent = outgoing.sender.await_first_messages(3)
    judge(
        "MQQB-3.1.7.1.3-04",
        "MQQB-3.1.7.1.3-08",
        expected=[1, 2, 3],
        observed=list_sequence_numbers(sent),
        case="TxSequenceNumbers",
        evidence=sent,
    )
    session.acknowledge_all()
    send_order_ack_of_last_message(peer, session)


@covers("MQQB-3.1.7.1.3-27")
@pytest.mark.parametrize("kind", [pytest.param("transactional", marks=needs("send")), "acknowledgment"])
def test_session_without_acknowledgment_of_message_of_kind_is_closed(peer, sut, judge, kind):
    """The SUT sends a transactional message, or an acknowledgment, to the second of two queues, and the peer does not
    acknowledge it. The SUT closes the session.
    """
    sender = Sender(peer, sut, peer.direct_name("mqc-unanswered"), own=kind == "acknowledgment")
    sender.send_to_other_queue()
    sender.send(1, **{} if kind == "acknowledgment" else {"delivery": kind})
    session, sent = sender.await_first_messages(1)
    timeout_ms = session.received[1]["ConnectionParametersHeader"].AckTimeout
    session.wait_closed(within_ms=sut.duration_ms(LONGEST_WAIT_IN_TIMEOUTS * timeout_ms) + sut.slack_ms(timeout_ms))
    judge(
        "MQQB-3.1.7.1.3-27",
        expected=holds("closed", otherwise="open"),
        observed=bool(session.closed_by_sut),
        evidence=sent,
        case="session",
    )
    again = sender.await_session()
    sender.collect_messages(again, 1)
    again.acknowledge_all()
    send_order_ack_of_last_message(peer, again)
