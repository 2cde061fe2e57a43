"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: the body, the delivery and the destination of the
acknowledgment.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import acknowledgment_of_class, fields, holds
from harness.run.marks import covers, malforms, needs, varied
from harness.wire import FinalAckBody, OrderAckBody
from suites.messages import Sequence
from suites.mqqb.s3_1_7_17_send_transactional_acknowledgment.attributes import (
    FINAL_ACK_ATTRIBUTES,
    get_attributes_of_acknowledgment,
)
from suites.mqqb.steps.disposition import AckClass, QueueType, delete, purge_queue, receive_first_message
from suites.mqqb.steps.opening import OTHER_GUID, format_guid
from suites.mqqb.steps.ordering import (
    ADMIN_AND_RESPONSE_QUEUES_OF_PEER,
    ORDERING_ACK_LABEL,
    Receiver,
    get_private_queue_number,
    is_order_or_final_ack,
    read_acknowledged_sequence_position,
)

ORDER_QUEUE_NUMBER = 4
MISSING_QUEUE_NUMBER = 0x0ABB_CCDD
"""The number of a private queue that the SUT does not have."""
SHORT_LIFETIME_S = 2
"""The TimeToBeReceived, in seconds, for which the check waits."""


def _read_body_fields(frame: Frame, body: type) -> dict[str, str]:
    """Return the fields of the body of an acknowledgment as text."""
    data = bytes(frame["MessagePropertiesHeader"].MessageBody)
    found = body(data)
    identifier = found.TxSequenceID
    shown = {
        "TxSequenceID": f"{identifier.Ordinal} {identifier.TimeStamp}",
        "TxSequenceNumber": str(found.TxSequenceNumber),
        "TxPreviousSequenceNumber": str(found.TxPreviousSequenceNumber),
    }
    if body is FinalAckBody:
        shown |= {"SourceGUID": str(UUID(str(found.SourceGUID))), "MessageID": str(found.MessageID)}
    return shown


HIGHEST_U32_BIT = 0x8000_0000
CLEAR_BODY_EXPECTATION = fields(PrivacyLevel=0, encrypted=False)


def read_privacy_level_and_encryption(frame: Frame) -> dict[str, Any]:
    """Return PrivacyLevel of an acknowledgment, and whether its body is encrypted."""
    encrypted = bool(frame["UserHeader"].SH and frame["SecurityHeader"].EB)
    return {"PrivacyLevel": frame["MessagePropertiesHeader"].PrivacyLevel, "encrypted": encrypted}


@covers("MQQB-3.1.7.17-D02", "MQQB-3.1.7.17-D03", "MQQB-3.1.7.17-D04", "MQQB-3.1.7.17-06")
@pytest.mark.parametrize("count", [1, 2, 5, HIGHEST_U32_BIT + 1])
@varied("application tag", "extension", "correlation")
def test_order_ack_has_sequence_and_last_number(peer, sut, judge, count):
    """The peer sends 1, 2 or 5 messages of a sequence, or the first message of a sequence that has a large number: the
    last OrderAck has the TxSequenceID of the sequence, the number of the last message and this number minus one, and is
    not encrypted.
    """
    receiver = Receiver(peer, sut, ordinal=9)
    if count > HIGHEST_U32_BIT:
        receiver.sequence.number = count - 1
        sent = [receiver.send(transaction={"PreviousTxSequenceNumber": 0})]
        frame = receiver.poll_acknowledgment()
    else:
        sent = [receiver.send() for _ in range(count)]
        frame = receiver.await_last_acknowledgment(count)
    if frame is None:
        raise ConformanceFailure("no OrderAck arrived for the transactional messages")
    identifier, found, evidence = receiver.sequence.identifier, _read_body_fields(frame, OrderAckBody), [*sent, frame]
    whole = f"{identifier.Ordinal} {identifier.TimeStamp}"
    judge(
        "MQQB-3.1.7.17-D03",
        expected=whole,
        observed=found["TxSequenceID"],
        case="Ordinal and TimeStamp of TxSequenceID",
        evidence=evidence,
        errata="E37",
    )
    numbers = {name: found[name] for name in ("TxSequenceNumber", "TxPreviousSequenceNumber")}
    both = fields(TxSequenceNumber=str(count), TxPreviousSequenceNumber=str(count - 1))
    judge("MQQB-3.1.7.17-06", expected=both, observed=numbers, evidence=evidence)
    last = {"TxSequenceNumber": found["TxSequenceNumber"]}
    judge("MQQB-3.1.7.17-D04", expected=fields(TxSequenceNumber=str(count)), observed=last, evidence=evidence)
    for one in receiver.list_acknowledgments():
        judge(
            "MQQB-3.1.7.17-D02",
            expected=CLEAR_BODY_EXPECTATION,
            observed=read_privacy_level_and_encryption(one),
            evidence=[one],
        )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.7.17-06")
def test_order_acks_name_last_accepted_message_of_their_sequence(peer, sut, judge):
    """The peer sends three messages of a sequence, a message that does not follow them, and then the first message of
    a sequence of a second queue manager. Each OrderAck names the last message that the SUT accepted of the sequence,
    and the number before that message.
    """
    receiver = Receiver(peer, sut, ordinal=9)
    sent = [receiver.send() for _ in range(3)]
    receiver.await_last_acknowledgment(len(sent))
    receiver.sequence.number = 5
    sent.append(receiver.send(transaction={"PreviousTxSequenceNumber": 5}))
    receiver.poll_acknowledgment()
    receiver.sequence = Sequence(peer, 10)
    sent.append(receiver.send({"SourceQueueManager": OTHER_GUID, "RC": 1}))
    receiver.poll_acknowledgment()
    places = [read_acknowledged_sequence_position(frame) for frame in receiver.list_acknowledgments()]
    last = {place.Ordinal: (place.TxSequenceNumber, place.TxPreviousSequenceNumber) for place in places}
    evidence = [*sent, *receiver.list_acknowledgments()]
    if len(last) < 2:
        raise ConformanceFailure("the OrderAcks of two sequences did not arrive")
    judge(
        "MQQB-3.1.7.17-06",
        expected=[(3, 2), (1, 0)],
        observed=list(last.values()),
        case="TxSequenceNumber and TxPreviousSequenceNumber of the last OrderAck of each sequence",
        evidence=evidence,
    )


MESSAGE_FIELDS_NOT_COPIED_TO_FINAL_ACK: dict[str, Any] = {
    "properties": {"BodyType": 0x1011, "PrivacyLevel": 1},
    "base": {"TR": 1},
    "debug": {},
}
"""Headers of a message that is traced and has a BodyType and a PrivacyLevel, although its body is not encrypted."""


def _judge_direct_destination(judge, peer, sent: Frame, frame: Frame) -> None:
    """Judge that the destination of an acknowledgment is the order queue at the address of the peer."""
    named = str(getattr(frame["UserHeader"].DestinationQueue, "DirectFormatName", "no direct name"))
    judge(
        "MQQB-3.1.7.17-D11",
        expected=rf"tcp:{peer.address}\private$\order_queue$",
        observed=named.rstrip("\0").lower(),
        case="destination of the acknowledgment",
        evidence=[sent, frame],
    )


RULES_OF_EVERY_FINAL_ACK = ("MQQB-3.1.7.17-04", "MQQB-3.1.7.17-05", "MQQB-3.1.7.17-D01", "MQQB-3.1.7.17-D02")


def _judge_final_ack(judge, sent: Frame, frame: Frame, value: AckClass, rules: dict[str, str]) -> None:
    """Compare the body of a FinalAck with its message; judge that the FinalAck has the given class and the attributes
    of every FinalAck, and is recoverable and not encrypted.
    """
    header, user = sent["TransactionHeader"], sent["UserHeader"]
    expected = {
        "TxPreviousSequenceNumber": str(header.PreviousTxSequenceNumber),
        "SourceGUID": format_guid(user.SourceQueueManager),
        "MessageID": str(user.MessageID),
    }
    found = _read_body_fields(frame, FinalAckBody)
    for rule, name in rules.items():
        judge(rule, expected=fields({name: expected[name]}), observed={name: found[name]}, evidence=[sent, frame])
    judge("MQQB-3.1.7.17-D01", expected=fields({"UserHeader.DM": 1}), observed=frame, evidence=[sent, frame])
    judge(
        "MQQB-3.1.7.17-D02",
        expected=CLEAR_BODY_EXPECTATION,
        observed=read_privacy_level_and_encryption(frame),
        evidence=[sent, frame],
    )
    attributes = fields(FINAL_ACK_ATTRIBUTES | {"DM": 1, "Label": ORDERING_ACK_LABEL})
    observed = get_attributes_of_acknowledgment(frame)
    judge("MQQB-3.1.7.17-05", expected=attributes, observed=observed, evidence=[sent, frame])
    judge("MQQB-3.1.7.17-04", expected=acknowledgment_of_class(value), observed=frame, evidence=[sent, frame])


BODY_FIELD_BY_RULE_OF_REFUSAL = {
    "MQQB-3.1.7.17-D08": "TxPreviousSequenceNumber",
    "MQQB-3.1.7.17-D09": "SourceGUID",
    "MQQB-3.1.7.17-D10": "MessageID",
}


@covers(*BODY_FIELD_BY_RULE_OF_REFUSAL, *RULES_OF_EVERY_FINAL_ACK)
@pytest.mark.parametrize("reason", ["no such queue", "a plain queue"])
@pytest.mark.parametrize("routed", [False, True], ids=["of the peer", "routed by it"])
def test_final_ack_of_refused_message_has_values_of_packet(peer, sut, judge, routed, reason):
    """The peer sends two transactional messages, and then a third transactional message to a missing queue or to a
    queue that is not transactional: the FinalAck of the third message has the PreviousTxSequenceNumber, source and
    MessageID of that message.
    """
    receiver = Receiver(peer, sut)
    for _ in range(2):
        receiver.send()
    receiver.await_acknowledgment()
    number = peer.next_message_id() | HIGHEST_U32_BIT
    source = {"SourceQueueManager": OTHER_GUID, "RC": 1, "MessageID": number} if routed else {}
    receiver.sequence.number = 6
    after = {"PreviousTxSequenceNumber": 2}
    to = {"destination": peer.format_name_of_missing_queue} if reason == "no such queue" else {"queue": "plain"}
    sent = receiver.send(source, **to, transaction=after)
    value = AckClass.BAD_DST_Q if reason == "no such queue" else AckClass.NOT_TRANSACTIONAL_Q
    _judge_final_ack(judge, sent, receiver.await_acknowledgment(final=True), value, BODY_FIELD_BY_RULE_OF_REFUSAL)


BODY_FIELD_BY_RULE_OF_RECEIPT = {
    "MQQB-3.1.7.17-D05": "TxPreviousSequenceNumber",
    "MQQB-3.1.7.17-D06": "SourceGUID",
    "MQQB-3.1.7.17-D07": "MessageID",
}


@covers(*BODY_FIELD_BY_RULE_OF_RECEIPT, *RULES_OF_EVERY_FINAL_ACK, "MQQB-3.1.7.17-D11", "MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize(
    ("lifetime", "leave", "value"),
    [
        pytest.param({"TimeToBeReceived": SHORT_LIFETIME_S}, None, AckClass.RECEIVE_TIMEOUT, id="expired"),
        pytest.param({}, purge_queue, AckClass.Q_PURGED, marks=needs("receive", "queue_control"), id="purged"),
        pytest.param({}, delete, AckClass.Q_DELETED, marks=needs("receive", "queue_control"), id="deleted"),
    ],
)
def test_final_ack_of_unreceived_message_has_values_of_message(peer, sut, judge, lifetime, leave, value):
    """A transactional message with JN expires in its queue, is purged, or is deleted with its queue. The FinalAck has
    the previous number, the source and the MessageID of the message.
    """
    receiver = Receiver(peer, sut)
    queue = sut.queue("transactional") if leave is None else sut.new_queue("final", transactional=True)
    to = rf"TCP:{sut.address}\{queue}"
    receiver.send(destination=to)
    receiver.sequence.number = 6
    after = {"PreviousTxSequenceNumber": 1}
    number = peer.next_message_id() | HIGHEST_U32_BIT
    sent = receiver.send({"JN": 1, "MessageID": number, **lifetime}, destination=to, transaction=after)
    receiver.await_acknowledgment()
    if leave is None:
        peer.pass_time((SHORT_LIFETIME_S + 1) * 1_000)
    else:
        peer.eventually(lambda: len(sut.labels(queue)) == 2)
        leave(sut, queue)
    frame = receiver.poll_acknowledgment(final=True)
    arrived = holds("a FinalAck arrives", otherwise="no FinalAck arrives")
    judge("MQQB-3.1.7.2.2-01", expected=arrived, observed=frame is not None, evidence=[sent, frame])
    judge.conclude("MQQB-3.1.7.2.2-01")
    if frame is None:
        raise ConformanceFailure("no FinalAck arrived for the message that left its queue")
    _judge_final_ack(judge, sent, frame, value, BODY_FIELD_BY_RULE_OF_RECEIPT)
    _judge_direct_destination(judge, peer, sent, frame)


@needs("receive")
@covers(*BODY_FIELD_BY_RULE_OF_RECEIPT, *RULES_OF_EVERY_FINAL_ACK, "MQQB-3.1.7.17-D11")
@pytest.mark.parametrize("routed", [False, True], ids=["of the peer", "routed by it"])
def test_final_ack_of_received_message_has_values_of_message(peer, sut, judge, routed):
    """The peer sends three transactional messages, and an application receives them. The last message has JP, a
    response queue, a BodyType and a PrivacyLevel, and is traced; in one case, its source is a second queue manager.
    Only this message causes a FinalAck, which has its PreviousTxSequenceNumber, source and MessageID.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send() for _ in range(2)]
    receiver.sequence.number = 6
    source = {"SourceQueueManager": OTHER_GUID, "RC": 1} if routed else {}
    after = {"PreviousTxSequenceNumber": 0 if routed else 2}
    queues = {name: ADMIN_AND_RESPONSE_QUEUES_OF_PEER[name] for name in ("RQ", "ResponseQueue")}
    sent.append(
        receiver.send({"JP": 1, **queues, **source}, transaction=after, **MESSAGE_FIELDS_NOT_COPIED_TO_FINAL_ACK)
    )
    receiver.await_acknowledgment()
    queue = sut.queue("transactional")
    peer.eventually(lambda: len(sut.messages("transactional")) >= len(sent))
    for _ in sent:
        sut.control.call("receive", queue=queue, timeout_ms=0)
    frame = receiver.await_acknowledgment(final=True)
    _judge_final_ack(judge, sent[-1], frame, AckClass.RECEIVE, BODY_FIELD_BY_RULE_OF_RECEIPT)
    _judge_direct_destination(judge, peer, sent[-1], frame)


@covers("MQQB-3.1.7.17-D11")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of receipt"))
def test_acknowledgments_of_direct_name_go_to_order_queue_at_address(peer, sut, judge):
    """The peer sends a message that the SUT accepts and a message that the SUT refuses, to direct names. The SUT
    addresses OrderAck and FinalAck to the order queue at the peer's address.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(), receiver.send(destination=peer.format_name_of_missing_queue)]
    for message, final in zip(sent, (False, True), strict=True):
        _judge_direct_destination(judge, peer, message, receiver.await_acknowledgment(final=final))
    again = receiver.send()
    _judge_direct_destination(judge, peer, again, receiver.await_acknowledgment())


@needs("queues", "private_names")
@covers("MQQB-3.1.7.17-D13", "MQQB-3.1.7.17-07")
@varied("application tag", "queue privacy", acknowledgments=("none", "of arrival"))
def test_acknowledgments_of_private_name_go_to_private_queue_4(peer, sut, judge):
    """The peer sends two transactional messages to a private format name of the SUT and one to a private name for which
    no queue exists, and an application receives the first message. The SUT addresses the OrderAcks and FinalAcks to
    private queue 4 of the peer.
    """
    number = get_private_queue_number(sut, sut.queue("transactional"))
    receiver = Receiver(peer, sut)
    for turn in ("first", "second"):
        sent = receiver.send(peer.build_fields_for_private_destination(sut.guid, number) | {"JP": 1}, destination=None)
        frame = receiver.await_acknowledgment()
        if turn == "first" and read_acknowledged_sequence_position(frame).TxSequenceNumber != 1:
            raise ConformanceFailure("the OrderAck does not acknowledge the message of this check")
        _judge_private_destination(judge, peer, sent, frame, f"destination of the {turn} OrderAck")
    if sut.has("receive") and peer.eventually(lambda: bool(sut.messages("transactional"))):
        receive_first_message(sut, sut.queue("transactional"))
        frame = _await_final_ack_besides_admin_acks(receiver, 1)
        _judge_private_destination(judge, peer, sent, frame, "destination of the FinalAck of a received message")
    known = len(_list_final_acks(receiver))
    refused = receiver.send(peer.build_fields_for_private_destination(sut.guid, MISSING_QUEUE_NUMBER), destination=None)
    frame = _await_final_ack_besides_admin_acks(receiver, known + 1)
    _judge_private_destination(judge, peer, refused, frame, "destination of the FinalAck of a refused message")


def _list_final_acks(receiver: Receiver) -> list[Frame]:
    """Return the FinalAcks that have arrived, without administration acknowledgments of the same class."""
    return [frame for frame in receiver.list_acknowledgments(final=True) if is_order_or_final_ack(frame)]


def _await_final_ack_besides_admin_acks(receiver: Receiver, count: int) -> Frame:
    """Wait for the given number of FinalAcks; return the last FinalAck."""
    frame = receiver.poll(lambda: _list_final_acks(receiver), count - 1)
    if frame is None:
        raise ConformanceFailure("no FinalAck arrived for the transactional messages")
    return frame


def _judge_private_destination(judge, peer, sent: Frame, frame: Frame, case: str) -> None:
    """Judge that the destination of an acknowledgment is private queue 4 of the peer."""
    user = frame["UserHeader"]
    observed = {
        "DQ": user.DQ,
        "queue": getattr(user.DestinationQueue, "PrivateQueueIdentifier", None),
        "queue manager": format_guid(user.QueueManagerAddress),
    }
    own = {"queue": ORDER_QUEUE_NUMBER, "queue manager": format_guid(peer.identifier)}
    expected = fields({"DQ": QueueType.QUEUE_ON_DESTINATION, **own})
    judge.all(expected=expected, observed=observed, case=case, evidence=[sent, frame])


@covers("MQQB-3.1.7.17-11")
def test_unacknowledged_final_acks_are_resent_on_next_sessions(peer, sut, judge):
    """The SUT refuses two messages from the peer, and the peer does not acknowledge the FinalAcks. Twice, the peer
    drops every session. On each following session, the SUT sends both FinalAcks again.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(destination=peer.format_name_of_missing_queue) for _ in range(2)]
    wanted = [str(message["UserHeader"].MessageID) for message in sent]
    known = 0
    for turn in ("first", "second", "third"):
        frames = _await_final_acks(receiver, known, len(wanted))
        known += len(frames)
        observed = sorted(_read_body_fields(frame, FinalAckBody)["MessageID"] for frame in frames)
        judge(
            "MQQB-3.1.7.17-11",
            expected=wanted,
            observed=observed,
            case=f"MessageIDs in the FinalAcks on the {turn} session",
            evidence=[*sent, *frames],
        )
        peer.hang_up()


@covers("MQQB-3.1.7.17-11")
def test_final_ack_of_lost_session_is_resent_on_another(peer, sut, judge):
    """The peer closes the sessions on which the SUT sent two FinalAcks. The SUT sends both FinalAcks again on an open
    session or on a new session.
    """
    nowhere = peer.format_name_of_missing_queue
    receiver, others = Receiver(peer, sut), [peer.open_raw() for _ in range(2)]
    sent: list[Frame] = []
    frames: list[Frame] = []
    for _ in range(2):
        session = next(one for one in (receiver.session, *others) if one.record.closed_by is None)
        sent.append(session.send(receiver.sequence.message(destination=nowhere)))
        lost = _await_final_acks(receiver, len(frames), 1)
        if not lost:
            raise ConformanceFailure("no FinalAck arrived for a message to a missing queue")
        peer.inbox.conversation(lost[-1]).close()
        frames += lost
        frames += _await_final_acks(receiver, len(frames), 1)
        peer.inbox.acknowledge(spare=session)  # no SessionHeader after a message that was refused (E19)
    wanted = [str(message["UserHeader"].MessageID) for message in sent]
    came = [_read_body_fields(frame, FinalAckBody)["MessageID"] for frame in frames]
    observed = sorted({number for number in came if came.count(number) > 1})
    judge(
        "MQQB-3.1.7.17-11",
        expected=wanted,
        observed=observed,
        case="MessageIDs in the FinalAcks on a different session",
        evidence=[*sent, *frames],
    )


def _await_final_acks(receiver: Receiver, known: int, count: int) -> list[Frame]:
    """Wait until the given number of new FinalAcks has arrived on any session; return the new FinalAcks."""

    def list_new_final_acks() -> list[Frame]:
        return receiver.list_acknowledgments(final=True, among=receiver.peer.inbox.copies)[known:]

    receiver.poll(lambda: list_new_final_acks()[count - 1 :], 0)
    return list_new_final_acks()
