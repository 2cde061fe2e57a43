"""Imitates Windows releases that transfer messages differently. Each class replaces one part of the queue manager."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from reference_qm.codec import (
    MisuseError,
    MQFFormatNameElement,
    OrderAckBody,
    PingPacket,
    SessionHeader,
    TransactionHeader,
    UserMessagePacket,
)
from reference_qm.core.sessions.ping_handling import PingHandling
from reference_qm.core.transfer.message_securing import MessageSecuring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import (
    IncomingTransactionalTransferInfo,
    Message,
    MessagePosition,
    OutgoingMessagePosition,
    Session,
)
from reference_qm.security import EncryptionAlgorithm, PrivacyLevel, SecurityError
from reference_qm.surface.clock import Now

_UNINITIALIZED_MEMORY = bytes(range(0xA1, 0xC1))
"""The bytes that a packet contains where an old release of Windows would send uninitialized memory."""
_MAX_PADDING_BYTES = 7
_QUEUE_LIST_OFFSET = 12
"""The offset of the first element in an MQFAddressHeader (MS-MQMQ 2.2.20.2)."""
_FIRST_AND_LAST_MESSAGE_FLAGS = TransactionHeader.flags(FM=1, LM=1)


class UninitializedOrderAckBytes(OrderAcks):
    """The queue manager sends an OrderAck whose reserved bytes contain uninitialized memory. Spec: MS-MQQB 2.2.4.1,
    note <17>.
    """

    __slots__ = ()

    def build(self, transfer: IncomingTransactionalTransferInfo) -> OrderAckBody:
        body = super().build(transfer)
        return replace(body, Reserved=_UNINITIALIZED_MEMORY[: len(body.Reserved)])


class UninitializedPingBits(PingHandling):
    """The queue manager sends a ping whose unused bits contain uninitialized memory. Spec: MS-MQQB 2.2.7, note <19>."""

    __slots__ = ()

    def build_request(self) -> PingPacket:
        return _fill_unused_flags(super().build_request())

    def build_response(self, request: PingPacket) -> PingPacket:
        return _fill_unused_flags(super().build_response(request))


class SentPacketPaddingUninitialized(MessageSending):
    """The queue manager sends packets whose padding contains uninitialized memory. Spec: MS-MQMQ notes <1>, <2>, <8>,
    <10> to <13>.
    """

    __slots__ = ()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, _fill_padding(packet))


class SentUserMsgSequenceNumberDiffersFromMessageCount(SessionAcks):
    """The queue manager sends a UserMsgSequenceNumber that differs from the number of sent messages. Spec: MS-MQMQ
    2.2.20.4, note <14>.

    The note mentions bugs in Windows but does not describe them. This class makes each count too high by 1.
    """

    __slots__ = ()

    def build_session_header(self, session: Session) -> SessionHeader:
        header = super().build_session_header(session)
        return replace(header, UserMsgSequenceNumber=header.UserMsgSequenceNumber + 1 & 0xFFFF)


class FirstAndLastMessageFlagsMissing(MessageSending):
    """The queue manager sends transactional messages in which FM and LM are not set. Spec: MS-MQMQ 2.2.20.5, note <18>
    (NT).
    """

    __slots__ = ()

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        if (header := packet.TransactionHeader) is not None:
            unmarked = replace(header, Flags=header.Flags & ~_FIRST_AND_LAST_MESSAGE_FLAGS)
            packet = replace(packet, TransactionHeader=unmarked)
        super().transmit(session, position, packet)


class MultiQueueFormatHeaderMissing(MessageSending):
    """The queue manager adds no MultiQueueFormatHeader to messages. Spec: MS-MQMQ 2.2.20.1, note <9> (NT, 2000)."""

    __slots__ = ()

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        unlisted = replace(position.MessageReference, DestinationMultiQueueFormatName=None)
        return super().construct_user_message(replace(position, MessageReference=unlisted))


class DefaultEncryptionAlgorithmRC2(MessageSending):
    """EncryptionAlgorithm is RC2 unless an algorithm is requested. Spec: MS-MQDMPR 3.1.1.12, note <16>."""

    __slots__ = ()

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        packet = super().construct_user_message(position)
        properties = replace(packet.MessagePropertiesHeader, EncryptionAlgorithm=EncryptionAlgorithm.RC2)
        return replace(packet, MessagePropertiesHeader=properties)


class AdvancedPrivacyUnsupported(MessageSecuring):
    """The queue manager does not encrypt a body at PrivacyLevel Advanced. Spec: MS-MQQB 3.1.7.1.5, note <66>."""

    __slots__ = ()

    def encrypt_body(
        self, session: Session, message: Message, packet: UserMessagePacket, now: Now
    ) -> UserMessagePacket:
        if message.security is not None and message.security.PrivacyLevel == PrivacyLevel.ADVANCED:
            raise SecurityError("Message.PrivacyLevel", "MS-MQQB 3.1.7.1.5", "this release has no AES provider")
        return super().encrypt_body(session, message, packet, now)


def _fill_unused_flags(ping: PingPacket) -> PingPacket:
    used = PingPacket.flags(RC=1, RF=1)
    return replace(ping, Flags=ping.Flags & used | int.from_bytes(_UNINITIALIZED_MEMORY[:2], "little") & ~used)


Value = TypeVar("Value")


def _fill_padding(value: Value) -> Value:
    """Return a copy of a record in which all padding bytes are nonzero, including the padding of nested records.
    The number of padding bytes stays unchanged.
    """
    if not is_dataclass(value) or isinstance(value, type):
        return value
    changes: dict[str, Any] = {}
    for field in fields(value):
        old = getattr(value, field.name)
        new = _fill_padding_of_list(old) if isinstance(old, tuple) else _fill_padding(old)
        if new != old:
            changes[field.name] = new
    filled: Value = replace(value, **changes) if changes else value
    return (
        _fill_padding_of_single_record(filled)
        if hasattr(value, "build") and getattr(value, "Padding", b"") is None
        else filled
    )


def _fill_padding_of_list(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a copy of a list of queues in which all padding bytes are nonzero. The amount of padding of an element
    depends on its offset. If the value is not a list of queues, return it unchanged.
    """
    padded: list[Any] = []
    offset = _QUEUE_LIST_OFFSET
    for value in values:
        if isinstance(value, MQFFormatNameElement):
            padded.append(_fill_padding_of_single_record(value, offset))
            offset += len(padded[-1].build(offset))
        else:
            padded.append(value)
    return tuple(padded)


def _fill_padding_of_single_record(record: Any, *where: int) -> Any:
    """Return a copy of a record with nonzero padding. ``where`` is the offset of the record. If the record has no
    padding, return it unchanged.
    """
    for size in range(1, _MAX_PADDING_BYTES + 1):
        other = replace(record, Padding=_UNINITIALIZED_MEMORY[:size])
        try:
            other.build(*where)
        except MisuseError:
            continue
        return other
    return record
