"""Faults in which an OrderAck of MS-MQQB 2.2.4 takes values from its session or from the acknowledged message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.transactional_receiving import TransactionalReceiving
from reference_qm.model.adm import IncomingTransactionalTransferInfo, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

_DESTINATION_TYPE_DQ_OF_PRIVATE_NAME = 0x3
_BASE_HEADER_FLAGS_WITH_PRIORITY_3 = BaseHeader.flags(PR=3)


@fault("receiver-appends-session-header-to-order-ack", breaks="MQQB-2.2.4-01", blind=True)
class ReceiverAppendsSessionHeaderToOrderAck(MessageSending):
    """The receiver sets BaseHeader.Flags.SH in an OrderAck, and appends the session acknowledgment that is due."""

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        packet = super().update_user_message(session, position, now)
        if not is_order_ack(packet) or not self.is_acknowledgment_due(session, now):
            return packet
        header = self.qm.session_acks.build_session_header(session)
        self.qm.session_acks.reset_unacknowledged_counts(session, now)
        flags = packet.BaseHeader.Flags | BaseHeader.flags(SH=1)
        return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags), SessionHeader=header)


add(
    "receiver-order-ack-base-header-priority-3-for-order-queue-by-guid",
    "MQQB-2.2.4-01",
    "The receiver sets BaseHeader.Flags.PR to 3 in an OrderAck whose order queue has a private format name.",
    send_wrong_field_values(
        UserMessagePacket,
        {"BaseHeader.Flags": _BASE_HEADER_FLAGS_WITH_PRIORITY_3},
        lambda packet: is_order_ack(packet) and packet.UserHeader.DQ == _DESTINATION_TYPE_DQ_OF_PRIVATE_NAME,
    ),
    blind=True,
)


@fault("receiver-sends-order-ack-to-address-of-oldest-session", breaks="MQQB-2.2.4-06", blind=True)
class ReceiverSendsOrderAckToAddressOfOldestSession(OrderAcks):
    """The receiver sends an OrderAck with the address of the queue manager of its oldest session."""

    def on_order_ack_send_timer(self, session: Session, now: Now) -> None:
        oldest = min(self.qm.sessions.values(), key=lambda one: one.number)
        kept = session.RemoteQMAddress
        session.RemoteQMAddress = oldest.RemoteQMAddress or kept
        try:
            super().on_order_ack_send_timer(session, now)
        finally:
            session.RemoteQMAddress = kept


@dataclass(frozen=True, slots=True)
class _OrderAckBodyOfGivenSize:
    """The body of an OrderAck, with a given size in bytes."""

    body: OrderAckBody
    size: int

    def build(self) -> bytes:
        return self.body.build()[: self.size].ljust(self.size, b"\0")


@fault("receiver-order-ack-message-body-reserved-omitted-after-rejection", breaks="MQQB-2.2.4-08", blind=True)
class ReceiverOrderAckMessageBodyReservedOmittedAfterRejection(OrderAcks):
    """The receiver sends an OrderAck without the field Reserved after it has rejected a message of the sequence."""

    def build(self, transfer: IncomingTransactionalTransferInfo) -> Any:
        body = super().build(transfer)
        return _OrderAckBodyOfGivenSize(body, 16) if transfer.RejectCount else body


@fault("receiver-order-ack-of-later-message-has-4-extra-bytes", breaks="MQQB-2.2.4-08", blind=True)
class ReceiverOrderAckOfLaterMessageHas4ExtraBytes(OrderAcks):
    """The receiver sends an OrderAck with 4 bytes after the field Reserved for a message that is not the first one of
    its sequence.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> Any:
        body = super().build(transfer)
        return _OrderAckBodyOfGivenSize(body, 40) if transfer.saved_sequence_number > 1 else body


class _LastRequestedAcksRecorder(TransactionalReceiving):
    """Stores the acknowledgments that the last transactional message requests."""

    acks_requested_by_last_message: int = 0

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: Any, now: Now
    ) -> None:
        self.acks_requested_by_last_message = packet.MessagePropertiesHeader.Flags
        super().receive_transactional_message(session, packet, receipt, now)


class _OrderAckWithAckRequestsOfLastMessage(MessageSending):
    """Sets MessagePropertiesHeader.Flags of an OrderAck to the stored flags."""

    def construct_user_message(self, position: Any) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        flags = getattr(self.qm.transactional_receiving, "acks_requested_by_last_message", 0)
        if not is_order_ack(packet) or not flags:
            return packet
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, Flags=flags))


add(
    "receiver-order-ack-properties-flags-of-acknowledged-message",
    "MQQB-2.2.4-09",
    "The receiver sends an OrderAck with MessagePropertiesHeader.Flags of the last received message.",
    combine_installers(replace_part(_LastRequestedAcksRecorder), replace_part(_OrderAckWithAckRequestsOfLastMessage)),
    blind=True,
)
