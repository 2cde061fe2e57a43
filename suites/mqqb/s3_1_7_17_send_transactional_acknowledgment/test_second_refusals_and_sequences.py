"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment: second refused packets, senders, sequences and sessions."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import holds
from harness.run.marks import covers, malforms, needs
from harness.wire import FinalAckBody
from suites.messages import Sequence
from suites.mqqb.steps.opening import OTHER_GUID
from suites.mqqb.steps.ordering import Receiver, get_private_queue_number, read_acknowledged_sequence_position


def _get_destination(frame) -> str:
    """Return the direct format name of an acknowledgment's destination in lower case, or a text which states that the
    destination is not a direct format name.
    """
    name = getattr(frame["UserHeader"].DestinationQueue, "DirectFormatName", "no direct name")
    return str(name).rstrip("\0").lower()


@covers("MQQB-3.1.7.17-03", "MQQB-3.1.7.17-07", "MQQB-3.1.7.17-D09", "MQQB-3.1.7.17-D10")
def test_each_refused_packet_of_two_sources_has_its_own_final_ack(peer, sut, judge):
    """The peer sends two packets of its own and two packets of another source to a missing queue, by a direct format
    name. Each FinalAck has the source and the MessageID of its packet in the body, has a MessageID of the SUT, and is
    addressed to the order queue at the peer's address.
    """
    receiver = Receiver(peer, sut)
    sent = [receiver.send(destination=peer.format_name_of_missing_queue) for _ in range(2)]
    receiver.sequence = Sequence(peer, 10)
    source = {"SourceQueueManager": OTHER_GUID, "RC": 1}
    sent += [receiver.send(source, destination=peer.format_name_of_missing_queue) for _ in range(2)]
    receiver.poll(lambda: receiver.list_acknowledgments(final=True)[len(sent) - 1 :], 0)
    came = receiver.list_acknowledgments(final=True)
    if len(came) != len(sent):
        raise ConformanceFailure(f"{len(came)} FinalAcks arrived for {len(sent)} refused packets")
    bodies = [FinalAckBody(bytes(frame["MessagePropertiesHeader"].MessageBody)) for frame in came]
    evidence = [*sent, *came]
    judge(
        "MQQB-3.1.7.17-D09",
        expected=[str(UUID(str(frame["UserHeader"].SourceQueueManager))) for frame in sent],
        observed=[str(UUID(str(body.SourceGUID))) for body in bodies],
        case="SourceGUIDs of the FinalAcks",
        evidence=evidence,
    )
    wanted = [int(frame["UserHeader"].MessageID) for frame in sent]
    judge(
        "MQQB-3.1.7.17-D10",
        expected=wanted,
        observed=[int(body.MessageID) for body in bodies],
        case="MessageIDs in the FinalAcks",
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.17-03",
        expected=holds(
            "the FinalAcks have new MessageIDs", otherwise="the FinalAcks have the MessageIDs of the packets"
        ),
        observed=[int(frame["UserHeader"].MessageID) for frame in came] != wanted,
        evidence=evidence,
    )
    judge(
        "MQQB-3.1.7.17-07",
        expected=[rf"tcp:{peer.address}\private$\order_queue$"] * len(sent),
        observed=[_get_destination(frame) for frame in came],
        case="destinations of the FinalAcks",
        evidence=evidence,
    )


@malforms("MQMQ-2.2.20.5-16", "MQMQ-2.2.20.5-18")
@covers("MQQB-3.1.7.17-D03", "MQQB-3.1.7.17-D04")
def test_order_ack_after_rejected_message_and_of_next_sequence(peer, sut, judge):
    """The peer sends two messages of a sequence and a message that does not follow them, and then the first message of
    its next sequence to the queue. The OrderAcks name the last accepted message of the sequence to which they belong.
    """
    receiver = Receiver(peer, sut, ordinal=9)
    first = receiver.sequence.identifier
    sent = [receiver.send() for _ in range(2)]
    receiver.await_last_acknowledgment(len(sent))
    receiver.sequence.number = 5
    sent.append(receiver.send(transaction={"PreviousTxSequenceNumber": 5}))
    rejected = receiver.await_acknowledgment()
    receiver.sequence = Sequence(peer, 10)
    sent.append(receiver.send())
    later = receiver.await_acknowledgment()
    for case, frame, begun, number in (
        ("OrderAck after the rejected message", rejected, first, 2),
        ("OrderAck of the next sequence", later, receiver.sequence.identifier, 1),
    ):
        place = read_acknowledged_sequence_position(frame)
        judge(
            "MQQB-3.1.7.17-D03",
            expected=(begun.Ordinal, begun.TimeStamp),
            observed=(place.Ordinal, place.TimeStamp),
            case=f"TxSequenceID, {case}",
            evidence=[*sent, frame],
            errata="E37",
        )
        judge(
            "MQQB-3.1.7.17-D04",
            expected=number,
            observed=place.TxSequenceNumber,
            case=f"TxSequenceNumber, {case}",
            evidence=[*sent, frame],
        )


@needs("queues", "private_names")
@covers("MQQB-3.1.7.17-07")
def test_order_ack_of_direct_session_beside_private_session_goes_to_direct_name(peer, sut, judge):
    """The peer sends a transactional message to a private format name on one session, and then a message to a direct
    format name on a second session. The OrderAck of the second message is addressed to the order queue at the peer's
    address.
    """
    number = get_private_queue_number(sut, sut.queue("transactional"))
    receiver = Receiver(peer, sut)
    sent = [receiver.send(peer.build_fields_for_private_destination(sut.guid, number), destination=None)]
    receiver.await_acknowledgment()
    receiver.session, beside = peer.open_raw(), receiver.session
    receiver.sequence = Sequence(peer, 10)
    sent.append(receiver.send())
    frame = receiver.await_acknowledgment()
    judge(
        "MQQB-3.1.7.17-07",
        expected=rf"tcp:{peer.address}\private$\order_queue$",
        observed=_get_destination(frame),
        case="destination of the OrderAck of the second session",
        evidence=[*sent, frame, beside.last],
    )
