"""MS-MQQB 2.2.4 OrderAck Packet: the SUT sends an OrderAck for transactional messages, and ignores Reserved in a
received OrderAck.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import holds, one_of
from harness.peer.timeouts import ACK_TIMEOUT_MS
from harness.run.marks import covers, malforms, needs, sut_survives, varied
from harness.wire import PrivateQueueFormatNameId
from suites.messages import Sequence
from suites.mqqb.steps.ordering import (
    ADMIN_AND_RESPONSE_QUEUES_OF_PEER,
    Receiver,
    build_order_ack,
    get_private_queue_number,
    read_acknowledged_sequence_position,
)
from suites.mqqb.steps.provoking import make_sut_send_message
from suites.mqqb.steps.sequences import NOT_RESENT_OUTCOME, SequenceSentBySut


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers(
    "MQQB-2.2.4-06",
    "MQQB-2.2.4-12",
    "MQQB-2.2.4.1-01",
    "MQQB-2.2.4.1-02",
    "MQMQ-2.2.18-D01",
    "MQQB-3.1.1.6.2-D01",
    "MQMQ-2.2.18.1.6-01",
    "MQDMPR-3.1.1.12-D08",
)
@varied("extension", "correlation", "queue quota")
def test_order_ack_names_sequence_and_last_message_in_order(peer, sut, judge):
    """The peer sends two messages, and then a third. Each time, the SUT sends an OrderAck with the TxSequenceID of the
    sequence and the number of the latest message. The peer sends three more messages, and then a message whose
    predecessor is missing; the OrderAck has the number of the last message before this gap. Then the peer sends a
    message of a later sequence, and the OrderAck has the TxSequenceID of that sequence.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(), receiver.send()]
    for count in (2, 3):
        frame = receiver.await_last_acknowledgment(count)
        evidence = [*sent, frame]
        numbers = [read_acknowledged_sequence_position(one).TxSequenceNumber for one in receiver.list_acknowledgments()]
        if numbers:
            case = "highest TxSequenceNumber of the OrderAcks"
            judge("MQQB-3.1.1.6.2-D01", expected=count, observed=max(numbers), case=case, evidence=evidence)
        came = "nothing" if frame is None else int(frame["MessagePropertiesHeader"].MessageClass)
        judge(
            "MQMQ-2.2.18.1.6-01",
            "MQDMPR-3.1.1.12-D08",
            expected=0xFF,
            observed=came,
            case="MessageClass of the OrderAck",
            evidence=evidence,
        )
        if frame is None:
            raise ConformanceFailure("no OrderAck arrived for the transactional messages")
        identifier, found = receiver.sequence.identifier, read_acknowledged_sequence_position(frame)
        expected = (identifier.Ordinal, identifier.TimeStamp, count, count - 1)
        judge(
            "MQQB-2.2.4-12",
            "MQMQ-2.2.18-D01",
            expected=expected,
            observed=tuple(found),
            case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
            evidence=evidence,
        )
        judge(
            "MQQB-2.2.4.1-01",
            expected=expected[:2],
            observed=tuple(found[:2]),
            case="Ordinal and TimeStamp of TxSequenceID",
            evidence=evidence,
        )
        judge(
            "MQQB-2.2.4.1-02",
            expected=count,
            observed=found.TxSequenceNumber,
            case="TxSequenceNumber of the OrderAck",
            evidence=evidence,
        )
        name = str(frame["UserHeader"].DestinationQueue.DirectFormatName)
        judge(
            "MQQB-2.2.4-06",
            expected=f"TCP:{peer.address}",
            observed=name.partition("\\")[0],
            case="host in the destination of the OrderAck",
            evidence=evidence,
        )
        if count == 2:
            sent.append(receiver.send())
    sent += [receiver.send() for _ in range(3)]
    receiver.await_last_acknowledgment(6)
    sent.append(receiver.send(transaction={"TxSequenceNumber": 9, "PreviousTxSequenceNumber": 8}))
    receiver.poll_acknowledgment()
    acks = receiver.list_acknowledgments()
    highest = max(read_acknowledged_sequence_position(frame).TxSequenceNumber for frame in acks)
    judge(
        "MQQB-3.1.1.6.2-D01",
        expected=6,
        observed=highest,
        case="highest TxSequenceNumber of the OrderAcks",
        evidence=[*sent, *acks[-1:]],
    )
    later = Sequence(peer, 2)
    sent.append(receiver.session.send(later.message()))
    frame = receiver.poll_acknowledgment()
    place = "nothing" if frame is None else tuple(read_acknowledged_sequence_position(frame))
    judge(
        "MQQB-2.2.4.1-01",
        expected=(later.identifier.Ordinal, later.identifier.TimeStamp, 1, 0),
        observed=place,
        case="OrderAck of the first message of a later sequence",
        evidence=[*sent, frame],
    )


@needs("queues")
@covers("MQQB-2.2.4.1-01", "MQQB-2.2.4.1-02", "MQQB-3.1.7.17-D03", "MQQB-3.1.7.17-D04")
def test_order_acks_of_two_sequences_have_their_own_numbers(peer, sut, judge):
    """On one session, the peer sends three messages of a sequence to one queue, and one message of a later sequence to
    a different queue. The OrderAck of each sequence has the number of its last message. A receiver that keeps one
    sequence for each sender acknowledges only the later sequence (erratum E41).
    """
    receiver, later = Receiver(peer, sut), Sequence(peer, 2)
    destination = rf"TCP:{sut.address}\{sut.new_queue('other', transactional=True)}"
    sent = [*(receiver.send() for _ in range(3)), receiver.session.send(later.message(destination=destination))]
    identifiers = {"first": receiver.sequence.identifier, "later": later.identifier}
    names = {(one.Ordinal, one.TimeStamp): name for name, one in identifiers.items()}

    def list_highest_numbers():
        places = sorted(map(read_acknowledged_sequence_position, receiver.list_acknowledgments()))
        return {names.get(place[:2], "unknown"): place.TxSequenceNumber for place in places}

    both = {"first": 3, "later": 1}
    within_ms = sut.duration_ms(ACK_TIMEOUT_MS) + sut.slack_ms(ACK_TIMEOUT_MS)
    peer.environment.run_until(lambda: list_highest_numbers() == both, within_ms)
    judge.all(
        expected=one_of(both, {"later": 1}),
        observed=list_highest_numbers(),
        case="highest TxSequenceNumber by sequence",
        evidence=[*sent, *receiver.list_acknowledgments()],
    )


@covers("MQQB-2.2.4.1-02", "MQQB-2.2.4.1-D01", "MQQB-2.2.4.1-D02", "MQQB-2.2.4-09", "MQQB-3.1.6.9-01")
@pytest.mark.parametrize("number", [1, 0x8000_0000, 0xFFFF_FFFF])
def test_order_ack_has_the_number_of_the_first_message(peer, sut, judge, number):
    """The peer begins a sequence with TxSequenceNumber 1, 0x80000000 or 0xFFFFFFFF, and the first message requests
    administration acknowledgments. The OrderAck has the number of this message, a body of 36 bytes, and no bit set in
    MessagePropertiesHeader.Flags.
    """
    receiver = Receiver(peer, sut)
    sent = receiver.send(
        transaction={"TxSequenceNumber": number, "PreviousTxSequenceNumber": 0},
        properties={"PA": 1, "NR": 1},
    )
    frame = _await_order_ack(receiver, judge, sent)
    found, body = read_acknowledged_sequence_position(frame), bytes(frame["MessagePropertiesHeader"].MessageBody)
    evidence = [sent, frame]
    flags = int(frame["MessagePropertiesHeader"].Flags)
    judge("MQQB-2.2.4-09", expected=0, observed=flags, case="Flags of the OrderAck's properties", evidence=evidence)
    judge(
        "MQQB-2.2.4.1-02",
        "MQQB-2.2.4.1-D02",
        expected=number,
        observed=found.TxSequenceNumber,
        case="TxSequenceNumber of the OrderAck",
        evidence=evidence,
    )
    identifier = receiver.sequence.identifier
    expected = (identifier.Ordinal, identifier.TimeStamp, number, number - 1, 36)
    judge(
        "MQQB-2.2.4.1-D01",
        expected=expected,
        observed=(*found, len(body)),
        case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber, body size",
        evidence=evidence,
    )


@needs("queues", "private_names")
@covers("MQQB-2.2.4-04", "MQQB-2.2.4-12", "MQQB-3.1.3.2-29", "MQQB-3.1.6.9-01", "MQDMPR-3.1.1.12-D08")
@varied("queue journaling", "queue quota", "queue privacy")
def test_order_ack_for_a_private_name_goes_to_private_queue_4(peer, sut, judge):
    """The peer sends two messages to a private format name; the second names private queues of the peer as
    administration queue and response queue. The SUT sends both OrderAcks to private queue 4 of the peer.

    An earlier session for direct names, which is closed, and a session that is still being set up have no influence on
    the destination.
    """
    earlier = peer.open_raw()
    earlier.require_session_ack_for_message()
    earlier.close()
    peer.request_session()
    receiver = Receiver(peer, sut)
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=get_private_queue_number(sut, sut.queue("transactional")))
    sent = receiver.send({"QueueManagerAddress": sut.guid}, destination=queue)
    frame = _await_order_ack(receiver, judge, sent, "MQDMPR-3.1.1.12-D08")
    user = frame["UserHeader"]
    judge("MQQB-3.1.3.2-29", expected=3, observed=user.DQ, case="DQ of the OrderAck", evidence=[sent, frame])
    judge.conclude("MQQB-3.1.3.2-29")
    if user.DQ != 3:
        raise ConformanceFailure(f"the OrderAck for messages to a private name has DQ {user.DQ} instead of 3")
    sent_later = receiver.send(
        {"QueueManagerAddress": sut.guid, **ADMIN_AND_RESPONSE_QUEUES_OF_PEER}, destination=queue, properties={"NR": 1}
    )
    later = receiver.await_last_acknowledgment(2)
    if later is None or later["UserHeader"].DQ != 3:
        raise ConformanceFailure("no OrderAck to a private name arrived for the message that names private queues")
    for case, message, ack in (
        ("message without further names", sent, frame),
        ("message that names private queues", sent_later, later),
    ):
        user = ack["UserHeader"]
        judge(
            "MQQB-2.2.4-04",
            expected=(UUID(str(peer.identifier)), 4),
            observed=(user.QueueManagerAddress, user.DestinationQueue.PrivateQueueIdentifier),
            case=f"queue manager and number of the destination queue of the OrderAck of a {case}",
            evidence=[message, ack],
        )
        identifier, number = receiver.sequence.identifier, int(message["TransactionHeader"].TxSequenceNumber)
        judge(
            "MQQB-2.2.4-12",
            expected=(identifier.Ordinal, identifier.TimeStamp, number, number - 1),
            observed=tuple(read_acknowledged_sequence_position(ack)),
            case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
            evidence=[message, ack],
        )


@covers("MQQB-2.2.4-05", "MQQB-2.2.4-06", "MQQB-2.2.4-12", "MQQB-2.2.5-07")
def test_acknowledgments_beside_open_session_name_order_queue_of_peer(peer, sut, judge):
    """While another session of the peer is open, the SUT accepts one transactional message and refuses another. The
    direct format names to which the OrderAck and the FinalAck are addressed contain the address and the order queue of
    the peer.
    """
    peer.try_to_open_session()
    receiver = Receiver(peer, sut)
    sent = [receiver.send()]
    ack = _await_ack_or_mark_field_rules_not_exercised(receiver, judge, sent)
    if ack is None:
        return
    name = str(ack["UserHeader"].DestinationQueue.DirectFormatName)
    judge(
        "MQQB-2.2.4-05",
        "MQQB-2.2.4-06",
        expected=f"TCP:{peer.address}\\private$\\order_queue$".lower(),
        observed=name.lower(),
        case="destination of the OrderAck",
        evidence=[*sent, ack],
    )
    identifier = receiver.sequence.identifier
    judge(
        "MQQB-2.2.4-12",
        expected=(identifier.Ordinal, identifier.TimeStamp, 1, 0),
        observed=tuple(read_acknowledged_sequence_position(ack)),
        case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
        evidence=[*sent, ack],
    )
    judge.conclude("MQQB-2.2.4-05", "MQQB-2.2.4-06", "MQQB-2.2.4-12")
    sent.append(receiver.send(destination=peer.format_name_of_missing_queue))
    final = receiver.await_acknowledgment(final=True)
    judge(
        "MQQB-2.2.5-07",
        expected=f"TCP:{peer.address}".lower(),
        observed=str(final["UserHeader"].DestinationQueue.DirectFormatName).partition("\\")[0].lower(),
        case="host in the destination of the FinalAck",
        evidence=[*sent, final],
    )


def _await_ack_or_mark_field_rules_not_exercised(receiver, judge, sent):
    """Return the OrderAck of a message; if there is none, mark the rules about its fields as not exercised."""
    frame = receiver.poll_acknowledgment()
    if frame is None:
        rules = ("MQQB-2.2.4-05", "MQQB-2.2.4-06", "MQQB-2.2.4-12", "MQQB-2.2.5-07")
        judge.mark_not_exercised(*rules, reason="no OrderAck arrived", evidence=sent)
    return frame


@needs("queues", "private_names")
@covers("MQQB-3.1.3.2-29")
def test_order_ack_on_later_session_of_initiator_goes_to_private_queue_4(peer, sut, judge):
    """On a session of the SUT, the peer sends a message to a direct name. On the SUT's next session for the same queue,
    the peer sends a transactional message to a private name. The OrderAck is addressed to a private queue.
    """
    receiver = Receiver(peer, sut)
    make_sut_send_message(peer, sut, peer.direct_name(), delivery="recoverable")
    _await_session_of_sut(peer, 1).send(peer.message())
    peer.settle()
    peer.inbox.accepted[0].close()
    receiver.session = _await_session_of_sut(peer, 2)
    queue = PrivateQueueFormatNameId(PrivateQueueIdentifier=get_private_queue_number(sut, sut.queue("transactional")))
    sent = receiver.send({"QueueManagerAddress": sut.guid}, destination=queue)
    frame = receiver.await_acknowledgment()
    judge(
        "MQQB-3.1.3.2-29",
        expected=3,
        observed=frame["UserHeader"].DQ,
        case="DQ of the OrderAck",
        evidence=[sent, frame],
    )
    receiver.session.acknowledge_all()


def _await_session_of_sut(peer, count: int):
    """Wait until the SUT has opened the session with the given number, and has sent a message on it; return the
    session.
    """
    accepted = peer.inbox.accepted
    peer.environment.run_until(
        lambda: len(accepted) >= count and bool(accepted[count - 1].messages), peer.sut.connect_timeout_ms
    )
    if len(accepted) < count:
        raise ConformanceFailure(f"the SUT opened {len(accepted)} of {count} sessions")
    return accepted[count - 1]


@sut_survives()
@needs("send")
@covers("MQQB-2.2.4.1-04")
def test_order_ack_with_reserved_bytes_stops_resending(peer, sut, judge):
    """The peer sends an OrderAck with 0xA7 in all bytes of Reserved. The SUT stops resending its message."""
    outgoing = SequenceSentBySut(peer, sut)
    [sent] = outgoing.send()
    session = outgoing.session
    outgoing.sender.acknowledge_all(session)
    packet = build_order_ack(peer, sent)
    body = bytes(packet["MessagePropertiesHeader"].MessageBody)[:16] + b"\xa7" * 20
    answer = session.send(build_order_ack(peer, sent, body=body))
    judge(
        "MQQB-2.2.4.1-04",
        expected=NOT_RESENT_OUTCOME,
        observed=outgoing.await_resend(1),
        case="message after its OrderAck",
        evidence=[sent, answer],
    )


def _await_order_ack(receiver, judge, sent, *more_rules):
    """Return the OrderAck of a message. Judge MQQB-3.1.6.9-01 and ``more_rules`` by whether the OrderAck arrives."""
    frame = receiver.poll_acknowledgment()
    judge(
        "MQQB-3.1.6.9-01",
        *more_rules,
        expected=holds("the SUT sent an OrderAck", otherwise="the SUT sent no OrderAck"),
        observed=frame is not None,
        evidence=[sent, frame],
    )
    judge.conclude("MQQB-3.1.6.9-01")
    if frame is None:
        raise ConformanceFailure("no OrderAck arrived for the transactional message")
    return frame
