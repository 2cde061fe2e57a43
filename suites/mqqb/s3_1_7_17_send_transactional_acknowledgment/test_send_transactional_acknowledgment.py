"""MS-MQQB 3.1.7.17 Send Transactional Acknowledgment. The checks of 3.1.7.2.2 judge whether a FinalAck is sent."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.expectations import fields, holds, one_of
from harness.run.marks import covers, varied
from suites.mqqb.s3_1_7_17_send_transactional_acknowledgment.attributes import (
    FINAL_ACK_ATTRIBUTES,
    get_attributes_of_acknowledgment,
)
from suites.mqqb.steps.disposition import AckClass
from suites.mqqb.steps.ordering import ORDERING_ACK_LABEL, Receiver, read_acknowledged_sequence_position


@covers(
    "MQQB-3.1.7.17-03",
    "MQQB-3.1.7.17-04",
    "MQQB-3.1.7.17-05",
    "MQQB-3.1.7.17-06",
    "MQQB-3.1.7.17-07",
    "MQQB-3.1.7.17-11",
)
@varied("queue quota", "queue privacy", acknowledgments=("none", "of receipt"))
def test_order_ack_and_final_ack_have_prescribed_properties(peer, sut, judge):
    """The peer sends a message that the SUT accepts and a message to a missing queue: the OrderAck and the FinalAck
    have the required class, attributes, destination and body, and different MessageIDs.
    """
    receiver = Receiver(peer, sut)
    names = []
    nowhere = peer.format_name_of_missing_queue
    for count, value in enumerate((AckClass.ORDER_ACK, AckClass.BAD_DST_Q), 1):
        sent = receiver.send() if value == AckClass.ORDER_ACK else receiver.send(destination=nowhere)
        frame = receiver.poll_acknowledgment(final=value != AckClass.ORDER_ACK)
        evidence = [sent, frame]
        judge(
            "MQQB-3.1.7.17-11",
            expected=holds("the SUT sent an acknowledgment", otherwise="the SUT sent no acknowledgment"),
            observed=frame is not None,
            evidence=evidence,
        )
        if frame is None:
            continue
        user, properties, found = (
            frame["UserHeader"],
            frame["MessagePropertiesHeader"],
            read_acknowledged_sequence_position(frame),
        )
        judge(
            "MQQB-3.1.7.17-04",
            expected=value,
            observed=int(properties.MessageClass),
            case="MessageClass",
            evidence=evidence,
        )
        delivery = one_of(0, 1) if value == AckClass.ORDER_ACK else 1  # E36
        attributes = fields(FINAL_ACK_ATTRIBUTES | {"DM": delivery, "Label": ORDERING_ACK_LABEL})
        judge(
            "MQQB-3.1.7.17-05",
            expected=attributes,
            observed=get_attributes_of_acknowledgment(frame),
            evidence=evidence,
        )
        names.append(_get_message_identifier(frame))
        own = (
            len(set(names)) == count
            and names[-1] != _get_message_identifier(sent)
            and UUID(str(user.SourceQueueManager)) == sut.guid
        )
        judge(
            "MQQB-3.1.7.17-03",
            expected=holds("the acknowledgment has a new MessageID"),
            observed=bool(own) or str(names[-1]),
            evidence=evidence,
        )
        queue = str(getattr(user.DestinationQueue, "DirectFormatName", "no direct name")).lower()
        expected = rf"tcp:{peer.address}\private$\order_queue$"
        judge(
            "MQQB-3.1.7.17-07",
            expected=expected,
            observed=queue,
            case="destination of the acknowledgment",
            evidence=evidence,
        )
        if value == AckClass.ORDER_ACK:
            identifier = receiver.sequence.identifier
            first = (identifier.Ordinal, identifier.TimeStamp, 1, 0)
            judge(
                "MQQB-3.1.7.17-06",
                expected=first,
                observed=tuple(found),
                case="Ordinal and TimeStamp of TxSequenceID, TxSequenceNumber, TxPreviousSequenceNumber",
                evidence=evidence,
            )


def _get_message_identifier(frame) -> tuple[Any, int]:
    """Return the GUID and the number of a message."""
    return frame["UserHeader"].SourceQueueManager, frame["UserHeader"].MessageID
