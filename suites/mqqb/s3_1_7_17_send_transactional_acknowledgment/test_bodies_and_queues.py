"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: the body, the delivery and the destination of the
acknowledgment.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.expectations import fields, holds
from harness.run.marks import covers, needs, varied
from harness.wire import FinalAckBody, OrderAckBody
from suites.mqqb.steps.disposition import QueueType, delete, purge_queue
from suites.mqqb.steps.opening import OTHER_GUID, guid_text
from suites.mqqb.steps.ordering import Receiver, get_private_queue_number, read_acknowledged_sequence_place

ORDER_QUEUE_NUMBER = 4
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


def _read_privacy_fields(frame: Frame) -> dict[str, Any]:
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
    judge("MQQB-3.1.7.17-D02", expected=CLEAR_BODY_EXPECTATION, observed=_read_privacy_fields(frame), evidence=evidence)


def _judge_final_ack(judge, sent: Frame, frame: Frame, rules: dict[str, str]) -> None:
    """Compare the body of a FinalAck with its message; judge that the FinalAck is recoverable and not encrypted."""
    header, user = sent["TransactionHeader"], sent["UserHeader"]
    expected = {
        "TxPreviousSequenceNumber": str(header.PreviousTxSequenceNumber),
        "SourceGUID": guid_text(user.SourceQueueManager),
        "MessageID": str(user.MessageID),
    }
    found = _read_body_fields(frame, FinalAckBody)
    for rule, name in rules.items():
        judge(rule, expected=fields({name: expected[name]}), observed={name: found[name]}, evidence=[sent, frame])
    judge("MQQB-3.1.7.17-D01", expected=fields({"UserHeader.DM": 1}), observed=frame, evidence=[sent, frame])
    judge(
        "MQQB-3.1.7.17-D02",
        expected=CLEAR_BODY_EXPECTATION,
        observed=_read_privacy_fields(frame),
        evidence=[sent, frame],
    )


BODY_FIELD_BY_RULE_OF_REFUSAL = {
    "MQQB-3.1.7.17-D08": "TxPreviousSequenceNumber",
    "MQQB-3.1.7.17-D09": "SourceGUID",
    "MQQB-3.1.7.17-D10": "MessageID",
}


@covers(*BODY_FIELD_BY_RULE_OF_REFUSAL, "MQQB-3.1.7.17-D01", "MQQB-3.1.7.17-D02")
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
    to = {"destination": peer.missing_queue} if reason == "no such queue" else {"queue": "plain"}
    sent = receiver.send(source, **to, transaction=after)
    _judge_final_ack(judge, sent, receiver.await_acknowledgment(final=True), BODY_FIELD_BY_RULE_OF_REFUSAL)


BODY_FIELD_BY_RULE_OF_RECEIPT = {
    "MQQB-3.1.7.17-D05": "TxPreviousSequenceNumber",
    "MQQB-3.1.7.17-D06": "SourceGUID",
    "MQQB-3.1.7.17-D07": "MessageID",
}


@covers(*BODY_FIELD_BY_RULE_OF_RECEIPT, "MQQB-3.1.7.17-D01", "MQQB-3.1.7.17-D02", "MQQB-3.1.7.2.2-01")
@pytest.mark.parametrize(
    ("lifetime", "leave"),
    [
        pytest.param({"TimeToBeReceived": SHORT_LIFETIME_S}, None, id="expired"),
        pytest.param({}, purge_queue, marks=needs("receive", "queue_control"), id="purged"),
        pytest.param({}, delete, marks=needs("receive", "queue_control"), id="deleted"),
    ],
)
def test_final_ack_of_unreceived_message_has_values_of_message(peer, sut, judge, lifetime, leave):
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
    _judge_final_ack(judge, sent, frame, BODY_FIELD_BY_RULE_OF_RECEIPT)


@needs("receive")
@covers(*BODY_FIELD_BY_RULE_OF_RECEIPT, "MQQB-3.1.7.17-D01", "MQQB-3.1.7.17-D02")
def test_final_ack_of_received_message_has_values_of_message(peer, sut, judge):
    """The peer sends three transactional messages, the last with JP, and an application receives them: the FinalAck has
    the PreviousTxSequenceNumber, source and MessageID of the last message.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send() for _ in range(2)]
    receiver.sequence.number = 6
    sent.append(receiver.send({"JP": 1}, transaction={"PreviousTxSequenceNumber": 2}))
    receiver.await_acknowledgment()
    queue = sut.queue("transactional")
    peer.eventually(lambda: len(sut.messages("transactional")) >= len(sent))
    for _ in sent:
        sut.control.call("receive", queue=queue, timeout_ms=0)
    _judge_final_ack(judge, sent[-1], receiver.await_acknowledgment(final=True), BODY_FIELD_BY_RULE_OF_RECEIPT)


@covers("MQQB-3.1.7.17-D11")
@varied("time to be received", "time to reach queue", acknowledgments=("none", "of receipt"))
def test_acknowledgments_of_direct_name_go_to_order_queue_at_address(peer, sut, judge):
    """The peer sends a message that the SUT accepts and a message that the SUT refuses, to direct names. The SUT
    addresses OrderAck and FinalAck to the order queue at the peer's address.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(), receiver.send(destination=peer.missing_queue)]
    for message, final in zip(sent, (False, True), strict=True):
        frame = receiver.await_acknowledgment(final=final)
        user = frame["UserHeader"]
        named = str(getattr(user.DestinationQueue, "DirectFormatName", "no direct name")).rstrip("\0").lower()
        expected = rf"tcp:{peer.address}\private$\order_queue$"
        judge(
            "MQQB-3.1.7.17-D11",
            expected=expected,
            observed=named,
            case="destination of the acknowledgment",
            evidence=[message, frame],
        )


@needs("queues", "private_names")
@covers("MQQB-3.1.7.17-D13", "MQQB-3.1.7.17-07")
@varied("application tag", "queue privacy", acknowledgments=("none", "of arrival"))
def test_order_ack_of_private_name_goes_to_private_queue_4(peer, sut, judge):
    """The peer sends a transactional message to a private format name of the SUT. The SUT addresses the OrderAck to
    private queue 4 of the peer.
    """
    number = get_private_queue_number(sut, sut.queue("transactional"))
    receiver = Receiver(peer, sut)
    sent = receiver.send(peer.private_queue(sut.guid, number), destination=None)
    frame = receiver.await_acknowledgment()
    user, before = frame["UserHeader"], read_acknowledged_sequence_place(frame)
    if before.TxSequenceNumber != 1:
        raise ConformanceFailure("the OrderAck does not acknowledge the message of this check")
    observed = {
        "DQ": user.DQ,
        "queue": getattr(user.DestinationQueue, "PrivateQueueIdentifier", None),
        "queue manager": guid_text(user.QueueManagerAddress),
    }
    own = {"queue": ORDER_QUEUE_NUMBER, "queue manager": guid_text(peer.identifier)}
    expected = fields({"DQ": QueueType.ON_DESTINATION, **own})
    judge.all(expected=expected, observed=observed, case="destination of the OrderAck", evidence=[sent, frame])


@covers("MQQB-3.1.7.17-11")
def test_unacknowledged_final_acks_are_resent_on_next_sessions(peer, sut, judge):
    """The SUT refuses two messages from the peer, and the peer does not acknowledge the FinalAcks. Twice, the peer
    drops every session. On each following session, the SUT sends both FinalAcks again.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(destination=peer.missing_queue) for _ in range(2)]
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
    nowhere = peer.missing_queue
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
        return receiver.acknowledgments(final=True, among=receiver.peer.inbox.copies)[known:]

    receiver.poll(lambda: list_new_final_acks()[count - 1 :], 0)
    return list_new_final_acks()
