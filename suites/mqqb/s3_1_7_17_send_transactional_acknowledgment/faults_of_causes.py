"""Faults that break rules of MS-MQQB 3.1.7.17 for one cause, one message or one destination of an acknowledgment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.calls import change_step_arguments
from harness.faults.ordering_acks import change_final_ack, change_order_ack, is_later_message
from harness.faults.parts import change_step
from harness.faults.registry import Install, add
from reference_qm.codec import NULL_GUID, FinalAckBody, MessageClass, OrderAckBody, PrivateName, UserMessagePacket
from reference_qm.core.names.queue_names import ORDER_QUEUE_NUMBER
from reference_qm.core.part import QM
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import IncomingTransactionalTransferInfo, Message, MessagePosition, Session
from reference_qm.model.states import DeliveryGuarantee
from suites.mqqb.s3_1_7_17_send_transactional_acknowledgment.fault_steps import (
    change_final_ack_of_refusal,
    change_final_ack_of_removal,
    change_scheduled_order_ack,
)

_RECEIVE_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE
_QUEUE_PURGED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
_QUEUE_DELETED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
_RECEIVE_TIMEOUT_CLASS = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
_QUOTA_EXCEEDED_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
_BAD_QUEUE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
_BAD_SIGNATURE_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE
_BAD_ENCRYPTION_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION
_PRIVACY_LEVEL_PATH = "MessagePropertiesHeader.PrivacyLevel"
_EXPRESS_DELIVERY_ATTRIBUTE = {"DeliveryGuarantee": DeliveryGuarantee.EXPRESS}


def _replace_final_ack_class(right: MessageClass, wrong: MessageClass) -> Install:
    """Return an installer of a fault that replaces the class of the FinalAcks of one class by a wrong class."""
    return change_step_arguments(
        OrderAcks.send_transactional_ack,
        message_class=lambda given: wrong if given.message_class is right else given.message_class,
    )


def _change_attributes_of_ack_class(wanted: MessageClass, values: dict[str, Any]) -> Callable[..., dict[str, Any]]:
    """Return a function that computes the given attributes for acknowledgments of one class."""
    return lambda qm, ack, *arguments: values if ack.Class == wanted else {}


def _journal_ack_like_message(qm: QM, ack: Message, position: MessagePosition, reason: MessageClass) -> dict[str, Any]:
    return {"PositiveJournalingRequested": position.MessageReference.PositiveJournalingRequested}


def _copy_response_queue_of_message_to_ack(
    qm: QM, ack: Message, position: MessagePosition, reason: MessageClass
) -> dict[str, Any]:
    return {"ResponseQueueFormatName": position.MessageReference.ResponseQueueFormatName}


def _trace_ack_like_message(qm: QM, ack: Message, position: MessagePosition, reason: MessageClass) -> dict[str, Any]:
    message = position.MessageReference
    return {"TracingRequested": message.TracingRequested, "TracingQueueIdentifier": message.TracingQueueIdentifier}


def _copy_body_type_of_message_to_ack(
    qm: QM, ack: Message, position: MessagePosition, reason: MessageClass
) -> dict[str, Any]:
    return {"BodyType": position.MessageReference.BodyType}


def _is_final_ack_of_received_or_removed_message(qm: QM, session: Session, packet: UserMessagePacket) -> bool:
    """Return whether a FinalAck reports that a message was received or removed from its queue."""
    value = packet.MessagePropertiesHeader.MessageClass
    return value == _RECEIVE_CLASS or value >= _QUEUE_DELETED_CLASS


def _count_rejected_messages(self: Any, original: Any, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
    number = transfer.saved_sequence_number + transfer.RejectCount
    return OrderAckBody(transfer.saved_sequence_identifier, number, number - 1)


def _build_order_ack_of_highest_number(
    self: Any, original: Any, transfer: IncomingTransactionalTransferInfo
) -> OrderAckBody:
    queues = self.qm.adm.QueueCollection.values()
    every = [one for queue in queues for one in queue.IncomingTransactionalTransferInfoCollection.values()]
    number = max(one.saved_sequence_number for one in every)
    return OrderAckBody(transfer.saved_sequence_identifier, number, number - 1)


def _replace_source_guid(find: Callable[[QM, MessagePosition, UUID], UUID]) -> Install:
    """Return an installer of a fault that changes SourceGUID in the FinalAck for a message that has left its queue."""

    def compute_ack_body(qm: QM, ack: Message, position: MessagePosition, reason: MessageClass) -> dict[str, Any]:
        body = FinalAckBody.parse(ack.Body)
        return {"Body": replace(body, SourceGUID=find(qm, position, body.SourceGUID)).build()}

    return change_final_ack_of_removal(compute_ack_body)


def _get_guid_of_newest_session(qm: QM, position: MessagePosition, source: UUID) -> UUID:
    return max(qm.sessions.values(), key=lambda one: one.number).RemoteQMGuid if qm.sessions else source


def _get_null_guid_if_lifetime_is_finite(qm: QM, position: MessagePosition, source: UUID) -> UUID:
    return source if position.MessageReference.TimeToBeReceived == 0xFFFFFFFF else NULL_GUID


def _get_own_guid_if_encrypted(qm: QM, position: MessagePosition, source: UUID) -> UUID:
    return source if position.MessageReference.security is None else qm.adm.Identifier


def _address_ack_to_private_name(ack: Message, source: UUID) -> dict[str, Any]:
    if not ack.DestinationQueueFormatName.startswith("DIRECT="):
        return {}
    name = str(PrivateName(source, ORDER_QUEUE_NUMBER))
    return {"DestinationQueueFormatName": name, "DestinationQueueManagerIdentifier": source}


def _address_removal_final_ack_to_private_name(
    qm: QM, ack: Message, position: MessagePosition, reason: MessageClass
) -> dict[str, Any]:
    return _address_ack_to_private_name(ack, position.MessageReference.Identifier.QueueManagerGuid)


def _address_refusal_final_ack_to_private_name(
    qm: QM, ack: Message, session: Session, packet: Any, refusal: MessageClass
) -> dict[str, Any]:
    return _address_ack_to_private_name(ack, packet.UserHeader.SourceQueueManager)


def _address_later_order_ack_to_private_name(qm: QM, ack: Message, session: Session) -> dict[str, Any]:
    return _address_ack_to_private_name(ack, session.RemoteQMGuid) if session.MessageSentCount else {}


def _address_ack_to_direct_name(ack: Message, address: str) -> dict[str, Any]:
    if ack.DestinationQueueFormatName.startswith("DIRECT="):
        return {}
    name = f"DIRECT=TCP:{address}\\PRIVATE$\\order_queue$"
    return {"DestinationQueueFormatName": name, "DestinationQueueManagerIdentifier": NULL_GUID}


def _address_refusal_final_ack_to_direct_name(
    qm: QM, ack: Message, session: Session, packet: Any, refusal: MessageClass
) -> dict[str, Any]:
    return _address_ack_to_direct_name(ack, session.RemoteQMAddress)


def _address_later_order_ack_to_direct_name(qm: QM, ack: Message, session: Session) -> dict[str, Any]:
    return _address_ack_to_direct_name(ack, session.RemoteQMAddress) if session.MessageSentCount else {}


def _address_removal_final_ack_to_direct_name(
    qm: QM, ack: Message, position: MessagePosition, reason: MessageClass
) -> dict[str, Any]:
    session = next(iter(qm.sessions.values()), None)
    return {} if session is None else _address_ack_to_direct_name(ack, session.RemoteQMAddress)


for _name, _rule, _says, _install in (
    (
        "receiver-final-ack-of-refusal-with-priority-of-messages",
        "MQQB-3.1.7.17-05",
        "The receiver sends the FinalAck of a refused packet with priority 3.",
        change_final_ack_of_refusal(lambda *arguments: {"Priority": 3}),
    ),
    (
        "receiver-final-ack-of-removal-journaled-like-message",
        "MQQB-3.1.7.17-05",
        "The receiver sets JP in the FinalAck if the acknowledged message has JP set.",
        change_final_ack_of_removal(_journal_ack_like_message),
    ),
    (
        "receiver-final-ack-of-removal-with-response-queue-of-message",
        "MQQB-3.1.7.17-05",
        "The receiver copies the response queue of the message that was removed into the FinalAck.",
        change_final_ack_of_removal(_copy_response_queue_of_message_to_ack),
    ),
    (
        "receiver-final-ack-of-removal-traced-like-message",
        "MQQB-3.1.7.17-05",
        "The receiver requests the tracing of a FinalAck if the acknowledged message is traced.",
        change_final_ack_of_removal(_trace_ack_like_message),
    ),
    (
        "receiver-final-ack-of-removal-with-body-type-of-message",
        "MQQB-3.1.7.17-05",
        "The receiver copies the BodyType of the message that was removed into the FinalAck.",
        change_final_ack_of_removal(_copy_body_type_of_message_to_ack),
    ),
    (
        "receiver-final-ack-of-removal-with-privacy-level",
        "MQQB-3.1.7.17-D02",
        "The receiver sets PrivacyLevel to Base in the FinalAck of a message that was received or removed.",
        change_final_ack({_PRIVACY_LEVEL_PATH: 1}, _is_final_ack_of_received_or_removed_message),
    ),
    (
        "receiver-final-ack-of-refusal-with-privacy-level",
        "MQQB-3.1.7.17-D02",
        "The receiver sets PrivacyLevel to Base in the FinalAck of a refused packet.",
        change_final_ack(
            {_PRIVACY_LEVEL_PATH: 1}, lambda *arguments: not _is_final_ack_of_received_or_removed_message(*arguments)
        ),
    ),
    (
        "receiver-later-order-ack-with-privacy-level",
        "MQQB-3.1.7.17-D02",
        "The receiver sets PrivacyLevel to Base in each OrderAck except the first OrderAck of a session.",
        change_order_ack({_PRIVACY_LEVEL_PATH: 1}, is_later_message),
    ),
    (
        "receiver-final-ack-class-of-purged-message-for-deleted-queue",
        "MQQB-3.1.7.17-04",
        "The receiver sends the FinalAck of a message in a deleted queue with the class NACK_Q_PURGED.",
        _replace_final_ack_class(_QUEUE_DELETED_CLASS, _QUEUE_PURGED_CLASS),
    ),
    (
        "receiver-final-ack-class-of-received-message-for-expired-message",
        "MQQB-3.1.7.17-04",
        "The receiver sends the FinalAck of a message that expired in its queue with the class ACK_RECEIVE.",
        _replace_final_ack_class(_RECEIVE_TIMEOUT_CLASS, _RECEIVE_CLASS),
    ),
    (
        "receiver-final-ack-class-of-bad-queue-for-full-queue",
        "MQQB-3.1.7.17-04",
        "The receiver sends the FinalAck of a message to a full queue with the class NACK_BAD_DST_Q.",
        _replace_final_ack_class(_QUOTA_EXCEEDED_CLASS, _BAD_QUEUE_CLASS),
    ),
    (
        "receiver-final-ack-class-of-bad-encryption-for-bad-signature",
        "MQQB-3.1.7.17-04",
        "The receiver sends the FinalAck of a message with a wrong signature with the class NACK_BAD_ENCRYPTION.",
        _replace_final_ack_class(_BAD_SIGNATURE_CLASS, _BAD_ENCRYPTION_CLASS),
    ),
    (
        "receiver-order-ack-number-advanced-by-rejected-messages",
        "MQQB-3.1.7.17-06",
        "The receiver adds the number of messages rejected since the last accepted message to the numbers of an "
        "OrderAck.",
        change_step(OrderAcks.build, _count_rejected_messages),
    ),
    (
        "receiver-order-ack-with-highest-number-of-all-sequences",
        "MQQB-3.1.7.17-06",
        "The receiver takes the numbers of an OrderAck from the sequence with the highest number.",
        change_step(OrderAcks.build, _build_order_ack_of_highest_number),
    ),
    (
        "receiver-final-ack-of-refusal-express",
        "MQQB-3.1.7.17-D01",
        "The receiver sends the FinalAck of a refused packet as an express message.",
        change_final_ack_of_refusal(lambda *arguments: _EXPRESS_DELIVERY_ATTRIBUTE),
    ),
    (
        "receiver-final-ack-of-purged-message-express",
        "MQQB-3.1.7.17-D01",
        "The receiver sends the FinalAck of a purged message as an express message.",
        change_final_ack_of_removal(_change_attributes_of_ack_class(_QUEUE_PURGED_CLASS, _EXPRESS_DELIVERY_ATTRIBUTE)),
    ),
    (
        "receiver-final-ack-to-direct-name-express",
        "MQQB-3.1.7.17-D01",
        "The receiver sends a FinalAck to a direct format name as an express message.",
        change_final_ack_of_removal(
            lambda qm, ack, *arguments: (
                _EXPRESS_DELIVERY_ATTRIBUTE if ack.DestinationQueueFormatName.startswith("DIRECT=") else {}
            )
        ),
    ),
    (
        "receiver-final-ack-source-guid-of-newest-session",
        "MQQB-3.1.7.17-D06",
        "The receiver sets SourceGUID in a FinalAck to the remote queue manager of its newest session.",
        _replace_source_guid(_get_guid_of_newest_session),
    ),
    (
        "receiver-final-ack-source-guid-null-for-limited-message",
        "MQQB-3.1.7.17-D06",
        "The receiver sets SourceGUID in the FinalAck of a message with a limited TimeToBeReceived to the null GUID.",
        _replace_source_guid(_get_null_guid_if_lifetime_is_finite),
    ),
    (
        "receiver-final-ack-source-guid-of-receiver-for-secured-message",
        "MQQB-3.1.7.17-D06",
        "The receiver sets SourceGUID in the FinalAck of a message with security attributes to its own GUID.",
        _replace_source_guid(_get_own_guid_if_encrypted),
    ),
    (
        "receiver-final-ack-of-removal-to-private-queue-for-direct-name",
        "MQQB-3.1.7.17-D11",
        "The receiver addresses the FinalAck of a removed message to private queue 4 although the message was sent to "
        "a direct format name.",
        change_final_ack_of_removal(_address_removal_final_ack_to_private_name),
    ),
    (
        "receiver-final-ack-of-refusal-to-private-queue-for-direct-name",
        "MQQB-3.1.7.17-D11",
        "The receiver addresses the FinalAck of a refused packet to private queue 4 although the packet was sent to a "
        "direct format name.",
        change_final_ack_of_refusal(_address_refusal_final_ack_to_private_name),
    ),
    (
        "receiver-later-order-ack-to-private-queue-for-direct-name",
        "MQQB-3.1.7.17-D11",
        "The receiver addresses only the first OrderAck of a session to the direct format name of the order queue.",
        change_scheduled_order_ack(_address_later_order_ack_to_private_name),
    ),
    (
        "receiver-final-ack-of-refusal-to-direct-name-for-private-queue",
        "MQQB-3.1.7.17-D13",
        "The receiver addresses the FinalAck of a refused packet to a direct format name although the packet was sent "
        "to a private format name.",
        change_final_ack_of_refusal(_address_refusal_final_ack_to_direct_name),
    ),
    (
        "receiver-later-order-ack-to-direct-name-for-private-queue",
        "MQQB-3.1.7.17-D13",
        "The receiver addresses only the first OrderAck of a session to private queue 4 of the sender.",
        change_scheduled_order_ack(_address_later_order_ack_to_direct_name),
    ),
    (
        "receiver-final-ack-of-removal-to-direct-name-for-private-queue",
        "MQQB-3.1.7.17-D13",
        "The receiver addresses the FinalAck of a removed message to a direct format name although the message was "
        "sent to a private format name.",
        change_final_ack_of_removal(_address_removal_final_ack_to_direct_name),
    ),
):
    add(_name, _rule, _says, _install, blind=True)
