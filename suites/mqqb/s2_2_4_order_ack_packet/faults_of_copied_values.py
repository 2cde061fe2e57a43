"""Faults in which an OrderAck of MS-MQQB 2.2.4 takes values from its session or from the acknowledged message."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers, send_wrong_field_values
from harness.faults.registry import add
from reference_qm.codec import BaseHeader, OrderAckBody, UserMessagePacket
from reference_qm.core.transfer.in_sequence import InSequence
from reference_qm.core.transfer.order_acks import OrderAcks, is_order_ack
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import IncomingTransactionalTransferInfo, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now

_GUID_DESTINATION = 0x3
_PRIORITY_3 = BaseHeader.flags(PR=3)


@fault("receiver-order-ack-base-header-session-header-appended", breaks="MQQB-2.2.4-01", blind=True)
class ReceiverOrderAckBaseHeaderSessionHeaderAppended(Sending):
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
        {"BaseHeader.Flags": _PRIORITY_3},
        lambda packet: is_order_ack(packet) and packet.UserHeader.DQ == _GUID_DESTINATION,
    ),
    blind=True,
)


@fault("receiver-order-ack-direct-name-address-of-oldest-session", breaks="MQQB-2.2.4-06", blind=True)
class ReceiverOrderAckDirectNameAddressOfOldestSession(OrderAcks):
    """The receiver sends an OrderAck with the address of the queue manager of its oldest session."""

    def on_send_timer(self, session: Session, now: Now) -> None:
        oldest = min(self.qm.sessions.values(), key=lambda one: one.number)
        kept = session.RemoteQMAddress
        session.RemoteQMAddress = oldest.RemoteQMAddress or kept
        try:
            super().on_send_timer(session, now)
        finally:
            session.RemoteQMAddress = kept


@dataclass(frozen=True, slots=True)
class _ResizedBody:
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
        return _ResizedBody(body, 16) if transfer.RejectCount else body


@fault("receiver-order-ack-message-body-reserved-24-bytes-in-later-sequence", breaks="MQQB-2.2.4-08", blind=True)
class ReceiverOrderAckMessageBodyReserved24BytesInLaterSequence(OrderAcks):
    """The receiver sends an OrderAck with 4 bytes after the field Reserved for a message that is not the first one of
    its sequence.
    """

    def build(self, transfer: IncomingTransactionalTransferInfo) -> Any:
        body = super().build(transfer)
        return _ResizedBody(body, 40) if transfer.saved_sequence_number > 1 else body


class _RequestedAcks(InSequence):
    """Stores the acknowledgments that the last transactional message requests."""

    requested: int = 0

    def receive_transactional_message(
        self, session: Session, packet: UserMessagePacket, receipt: Any, now: Now
    ) -> None:
        self.requested = packet.MessagePropertiesHeader.Flags
        super().receive_transactional_message(session, packet, receipt, now)


class _OrderAckWithRequestedAcks(Sending):
    """Sets MessagePropertiesHeader.Flags of an OrderAck to the stored flags."""

    def construct_user_message(self, position: Any) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        flags = getattr(self.qm.in_sequence, "requested", 0)
        if not is_order_ack(packet) or not flags:
            return packet
        return replace(packet, MessagePropertiesHeader=replace(packet.MessagePropertiesHeader, Flags=flags))


add(
    "receiver-order-ack-properties-flags-of-acknowledged-message",
    "MQQB-2.2.4-09",
    "The receiver sends an OrderAck with MessagePropertiesHeader.Flags of the last received message.",
    combine_installers(replace_part(_RequestedAcks), replace_part(_OrderAckWithRequestedAcks)),
    blind=True,
)
