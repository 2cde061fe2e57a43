"""MS-MQQB 2.2.5 FinalAck Packet: a transactional message that is refused or leaves its queue causes a FinalAck."""

from __future__ import annotations

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class, facts
from harness.run.marks import covers, needs, sut_survives, varied
from harness.wire import PrivateQueueFormatNameId
from suites.messages import Sequence
from suites.mqqb.steps.disposition import delete, purge_queue, receive_first_message
from suites.mqqb.steps.ordering import (
    ADMIN_AND_RESPONSE_QUEUES_OF_PEER,
    Receiver,
    get_private_queue_number,
    read_acknowledged_sequence_position,
)

DESTINATION_TYPE_DQ_OF_PRIVATE_NAME = 3
RECOVERABLE_ACK_TIMEOUT_MS = 2_000
RULES_OF_FINAL_ACK_BODY = (
    "MQQB-2.2.5-07",
    "MQQB-2.2.5-24",
    "MQQB-2.2.5.1-01",
    "MQMQ-2.2.18.1.2-D01",
    "MQQB-2.2.5.1-02",
    "MQQB-2.2.5.1-03",
    "MQQB-2.2.5.1-D01",
)
"""Rules of the body and the destination of every FinalAck."""
LARGE_MESSAGE_ID = 0x7654_0000
"""A number that is added to a MessageID and does not fit into 16 bits."""
TRANSACTION_HEADER_OF_MESSAGE_5_AFTER_1 = {"TxSequenceNumber": 5, "PreviousTxSequenceNumber": 1}
"""TransactionHeader fields of message 5 of a sequence, whose predecessor is message 1."""


def judge_final_ack_body(judge, receiver, frame, sent, previous):
    """Judge the rules of ``RULES_OF_FINAL_ACK_BODY`` by the FinalAck of a sent message; ``previous``: the number of the
    message before it in the sequence.
    """
    evidence = [sent, frame]
    header, found = sent["TransactionHeader"], read_acknowledged_sequence_position(frame)
    identifier, number = header.TxSequenceID, int(header.TxSequenceNumber)
    expected = (int(identifier.Ordinal), int(identifier.TimeStamp), number, previous)
    judge(
        "MQQB-2.2.5-24",
        expected=expected,
        observed=tuple(found),
        case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
        evidence=evidence,
    )
    judge(
        "MQQB-2.2.5.1-01",
        "MQMQ-2.2.18.1.2-D01",
        expected=expected[:2],
        observed=tuple(found[:2]),
        case="Ordinal and TimeStamp of TxSequenceID",
        evidence=evidence,
    )
    judge(
        "MQQB-2.2.5.1-02",
        expected=number,
        observed=found.TxSequenceNumber,
        case="TxSequenceNumber of the FinalAck",
        evidence=evidence,
    )
    judge(
        "MQQB-2.2.5.1-03",
        expected=previous,
        observed=found.TxPreviousSequenceNumber,
        case="TxPreviousSequenceNumber of the FinalAck",
        evidence=evidence,
    )
    identified, user = bytes(frame["MessagePropertiesHeader"].MessageBody)[16:], sent["UserHeader"]
    source = receiver.peer.identifier.bytes_le + int(user.MessageID).to_bytes(4, "little")
    complete = (*expected, source.hex())
    judge(
        "MQQB-2.2.5.1-D01",
        expected=complete,
        observed=(*found, identified.hex()),
        case="TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber, SourceGUID with MessageID",
        evidence=evidence,
    )
    name = str(frame["UserHeader"].DestinationQueue.DirectFormatName)
    address = f"TCP:{receiver.peer.address}"
    judge(
        "MQQB-2.2.5-07",
        expected=address,
        observed=name.partition("\\")[0],
        case="host in the destination of the FinalAck",
        evidence=evidence,
    )


@covers(*RULES_OF_FINAL_ACK_BODY)
@pytest.mark.parametrize(
    ("rule", "message_class", "wrong"),
    [
        pytest.param(
            "MQQB-2.2.5-13", 0x8009, {"queue": "plain"}, marks=covers("MQQB-2.2.5-13"), id="not_transactional_q"
        ),
        pytest.param(
            "MQQB-2.2.5-14",
            0x8000,
            {"destination": r"TCP:{address}\private$\mqc-nowhere"},
            marks=covers("MQQB-2.2.5-14"),
            id="bad_dst_q",
        ),
    ],
)
@sut_survives()
@varied("application tag", "extension", "correlation")
def test_message_that_the_queue_refuses_causes_negative_final_ack(peer, sut, judge, rule, message_class, wrong):
    """The second message of a sequence has number 5, and the SUT refuses it because of its destination. The FinalAck
    has the class of this refusal, and the number 5.
    """
    receiver = Receiver(peer, sut)
    receiver.send()
    wrong = {name: value.format(address=sut.address) for name, value in wrong.items()}
    sent = receiver.send(
        {"MessageID": LARGE_MESSAGE_ID | peer.next_message_id()},
        transaction=TRANSACTION_HEADER_OF_MESSAGE_5_AFTER_1,
        **wrong,
    )
    frame = receiver.await_acknowledgment(final=True)
    judge_final_ack_body(judge, receiver, frame, sent, 1)
    judge(
        rule,
        expected=acknowledgment_of_class(message_class),
        observed=frame,
        case="class of the FinalAck",
        evidence=[sent, frame],
    )


@needs("queues", "private_names")
@covers("MQQB-2.2.5-05", "MQQB-2.2.5-24")
@varied("queue journaling", "queue quota", "queue privacy")
def test_final_ack_for_a_private_name_goes_to_private_queue_4(peer, sut, judge):
    """The peer sends two transactional messages to a private format name; the second names private queues of the peer
    as administration queue and response queue. The SUT refuses both messages, and sends both FinalAcks to private queue
    4 of the peer.
    """
    peer.try_to_open_session()
    receiver = Receiver(peer, sut)
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=get_private_queue_number(sut, sut.queue()))
    for case, names in (
        ("message without further names", {}),
        ("message that names private queues", ADMIN_AND_RESPONSE_QUEUES_OF_PEER),
    ):
        sent = receiver.send(
            {"QueueManagerAddress": sut.guid, **names}, destination=queue, properties={"NR": 1} if names else {}
        )
        frame = receiver.await_acknowledgment(final=True)
        user = frame["UserHeader"]
        if user.DQ != DESTINATION_TYPE_DQ_OF_PRIVATE_NAME:
            raise ConformanceFailure(f"the FinalAck for a message to a private name has DQ {user.DQ} instead of 3")
        judge(
            "MQQB-2.2.5-05",
            expected=(peer.identifier, 4),
            observed=(user.QueueManagerAddress, user.DestinationQueue.PrivateQueueIdentifier),
            case=f"queue manager and number of the destination queue of the FinalAck of a {case}",
            evidence=[sent, frame],
        )
        judge_source_guid_and_message_id_in_final_ack(peer, judge, sent, frame)


def judge_source_guid_and_message_id_in_final_ack(peer, judge, sent, frame):
    """Judge that bytes 16 to 35 of the body are the SourceGUID and the MessageID of the acknowledged message."""
    body = bytes(frame["MessagePropertiesHeader"].MessageBody)
    number = int(sent["UserHeader"].MessageID)
    judge(
        "MQQB-2.2.5-24",
        expected=(peer.identifier.bytes_le + number.to_bytes(4, "little")).hex(),
        observed=body[16:].hex(),
        case="SourceGUID and MessageID in the body of the FinalAck",
        evidence=[sent, frame],
    )


@needs("receive", "queues")
@covers(*RULES_OF_FINAL_ACK_BODY, "MQMQ-2.2.18.1.6-D01")
@pytest.mark.parametrize(
    ("rule", "message_class", "remove"),
    [
        pytest.param("MQQB-2.2.5-11", 0x4000, receive_first_message, marks=covers("MQQB-2.2.5-11"), id="receive"),
        pytest.param("MQQB-2.2.5-21", 0xC001, purge_queue, marks=covers("MQQB-2.2.5-21"), id="q_purged"),
        pytest.param(
            "MQQB-2.2.5-20", 0xC000, delete, marks=[covers("MQQB-2.2.5-20"), needs("queue_control")], id="q_deleted"
        ),
    ],
)
@varied("queue quota", "queue privacy", read_by=("queue", "cursor"))
def test_final_ack_of_a_message_that_left_its_queue_names_the_reason(peer, sut, judge, rule, message_class, remove):
    """A message with JP and JN is received, purged or deleted at the SUT. Its FinalAck has the class of that event, and
    the numbers of the message. This message is the second of three, and has number 5; the third message begins a new
    sequence.
    """
    receiver = Receiver(peer, sut)
    receiver.send()
    sent = receiver.send({"JN": 1, "JP": 1}, transaction=TRANSACTION_HEADER_OF_MESSAGE_5_AFTER_1)
    receiver.await_acknowledgment()
    receiver.sequence = Sequence(peer, ordinal=2)
    receiver.send()
    peer.eventually(lambda: len(sut.messages("transactional")) == 3)
    for _ in range(3 if remove is receive_first_message else 1):
        remove(sut, sut.queue("transactional"))
    frame = receiver.await_acknowledgment(final=True)
    judge_final_ack_body(judge, receiver, frame, sent, 1)
    judge_source_guid_and_message_id_in_final_ack(peer, judge, sent, frame)
    judge(
        rule,
        "MQMQ-2.2.18.1.6-D01",
        expected=acknowledgment_of_class(message_class),
        observed=frame,
        case="class of the FinalAck",
        evidence=[sent, frame],
    )


@needs("receive")
@covers("MQQB-2.2.5-24")
def test_final_ack_after_end_of_session_names_its_message(peer, sut, judge):
    """The peer sends a transactional message with JP and closes the session; then an application receives the message.
    The FinalAck, which the SUT sends on another session, contains the place and the identifier of the message.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send({"JP": 1})
    receiver.await_acknowledgment()
    peer.eventually(lambda: bool(sut.messages("transactional")))
    receiver.session.close()
    peer.settle()
    receive_first_message(sut, sut.queue("transactional"))
    frame = receiver.await_acknowledgment(final=True)
    identifier = sent["TransactionHeader"].TxSequenceID
    judge(
        "MQQB-2.2.5-24",
        expected=(int(identifier.Ordinal), int(identifier.TimeStamp), 1, 0),
        observed=tuple(read_acknowledged_sequence_position(frame)),
        case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
        evidence=[sent, frame],
    )
    judge_source_guid_and_message_id_in_final_ack(peer, judge, sent, frame)


@covers("MQQB-2.2.5.1-D02")
@pytest.mark.parametrize("number", [1, 0x8000_0000, 0xFFFF_FFFF])
def test_final_ack_has_the_number_of_the_refused_message(peer, sut, judge, number):
    """The peer sends a transactional message to a private format name, and the SUT refuses it. The FinalAck that the
    SUT sends to private queue 4 has the number of the message.
    """
    receiver = Receiver(peer, sut)
    place_in_sequence = {"TxSequenceNumber": number, "PreviousTxSequenceNumber": number - 1}
    sent = receiver.send(queue="plain", transaction=place_in_sequence)
    frame = receiver.await_acknowledgment(final=True)
    judge(
        "MQQB-2.2.5.1-D02",
        expected=number,
        observed=read_acknowledged_sequence_position(frame).TxSequenceNumber,
        case="TxSequenceNumber of the FinalAck",
        evidence=[sent, frame],
    )


@needs("receive")
@covers("MQQB-2.2.5-D01", "MQQB-2.2.5.1-D01")
@pytest.mark.parametrize(
    ("rule", "message_class", "remove"),
    [
        pytest.param("MQQB-2.2.5-11", 0x4000, receive_first_message, marks=covers("MQQB-2.2.5-11"), id="receive"),
        pytest.param("MQQB-2.2.5-21", 0xC001, purge_queue, marks=covers("MQQB-2.2.5-21"), id="q_purged"),
    ],
)
@varied("destination", "queue quota")
def test_final_ack_is_sent_only_for_journaled_or_refused_messages(peer, sut, judge, rule, message_class, remove):
    """The peer sends four messages: without JN and JP, with only JN, with only JP, and with both. An application
    receives or purges these messages. The SUT refuses a fifth message, which has no journaling. The SUT sends a
    FinalAck for each of the five messages except the first, but not before the message is removed. Each FinalAck has
    the MessageID of its message.
    """
    receiver = Receiver(peer, sut)
    journaling: tuple[dict[str, int], ...] = ({}, {"JN": 1}, {"JP": 1}, {"JN": 1, "JP": 1})
    sent = [receiver.send(flags) for flags in journaling]
    receiver.await_last_acknowledgment(len(journaling))
    early = [
        read_acknowledged_sequence_position(frame).TxSequenceNumber
        for frame in receiver.list_acknowledgments(final=True)
    ]
    for _ in journaling if remove is receive_first_message else journaling[:1]:
        remove(sut, sut.queue("transactional"))
    sent.append(receiver.send(queue="plain"))
    while receiver.poll_acknowledgment(final=True) is not None:
        pass
    finals = receiver.list_acknowledgments(final=True)
    numbers = [read_acknowledged_sequence_position(frame).TxSequenceNumber for frame in finals]
    evidence = [*sent, *finals]
    judge(
        "MQQB-2.2.5-D01",
        expected=facts(before_the_removal=[], in_all=[2, 3, 4, 5]),
        observed={"before_the_removal": early, "in_all": sorted(set(numbers))},
        case="numbers of the messages with a FinalAck",
        evidence=evidence,
    )
    judge.conclude("MQQB-2.2.5-D01")
    message_ids = {int(one["TransactionHeader"].TxSequenceNumber): int(one["UserHeader"].MessageID) for one in sent}
    for number, frame in zip(numbers, finals, strict=True):
        named = int.from_bytes(bytes(frame["MessagePropertiesHeader"].MessageBody)[32:36], "little")
        judge(
            "MQQB-2.2.5.1-D01",
            expected=message_ids.get(number, "the MessageID of a sent message"),
            observed=named,
            case=f"MessageID in the FinalAck of message {number}",
            evidence=[*sent, frame],
        )
        if number < len(sent):
            case = f"class of the FinalAck of message {number}"
            judge(
                rule,
                expected=acknowledgment_of_class(message_class),
                observed=frame,
                case=case,
                evidence=[*sent, frame],
            )
    if len(set(numbers)) < 2:
        judge.mark_not_exercised("MQQB-2.2.5.1-D01", rule, reason="the SUT sent fewer than two FinalAcks")


@covers("MQQB-2.2.5-01")
def test_final_ack_contains_no_session_acknowledgment(peer, sut, judge):
    """The peer sends a recoverable message, and waits for 90 % of the delay after which the SUT would acknowledge it.
    Then the SUT refuses a second message, and sends a FinalAck for it: no bit of BaseHeader.Flags is set in this
    FinalAck.
    """
    receiver = Receiver(peer, sut)
    receiver.session = peer.open_raw(RecoverableAckTimeout=RECOVERABLE_ACK_TIMEOUT_MS)
    receiver.send()
    peer.pass_time(sut.duration_ms(RECOVERABLE_ACK_TIMEOUT_MS * 9 // 10))
    sent = receiver.send(queue="plain")
    frame = receiver.await_acknowledgment(final=True)
    flags = int(frame["BaseHeader"].Flags)
    case = "BaseHeader.Flags of the FinalAck"
    judge("MQQB-2.2.5-01", expected=0, observed=flags, case=case, evidence=[sent, frame])
