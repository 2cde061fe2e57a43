from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    FramingError,
    Packet,
    SessionAckPacket,
    UnknownInternalPacket,
    UserMessagePacket,
    parse_framed_packet,
)
from reference_qm.core.part import QM, QueueManagerPart
from reference_qm.core.sessions.session_opening import ACK_TIMEOUT_RANGE_MS, RECOVERABLE_ACK_TIMEOUT_RANGE_MS
from reference_qm.model.adm import Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now

PacketType = type[Packet]

RECEIVER_BY_STATE_AND_PACKET: Mapping[
    tuple[SessionState, PacketType], Callable[[QM], Callable[[Session, Any, Now], None]]
] = {
    (SessionState.WAITING_EC_MSG, EstablishConnectionPacket): lambda qm: qm.session_opening.receive_establish_request,
    (SessionState.WAITING_ECR_MSG, EstablishConnectionPacket): lambda qm: qm.session_opening.receive_establish_response,
    (SessionState.WAITING_CP_MSG, ConnectionParametersPacket): lambda qm: qm.session_opening.receive_parameters_request,
    (SessionState.WAITING_CPR_MSG, ConnectionParametersPacket): lambda qm: (
        qm.session_opening.receive_parameters_response
    ),
    (SessionState.OPEN, SessionAckPacket): lambda qm: qm.session_acks.receive,
    (SessionState.OPEN, UserMessagePacket): lambda qm: qm.message_receiving.receive_user_message,
}
"""For each packet and state: the method that handles the packet. A packet without a method in the current state
closes the session.

Spec: MS-MQQB 3.1.5.3, 3.1.5.4, 3.1.5.5, 3.1.5.8.
"""

ESTABLISH_CONNECTION_SIZE = 572
CONNECTION_PARAMETERS_SIZE = 32
"""The size of the ConnectionParameters packet in bytes. Spec: MS-MQQB 2.2.3, 2.2.2."""

MAX_PACKET_BYTES_BY_STATE: Mapping[SessionState, int] = {
    SessionState.WAITING_EC_MSG: ESTABLISH_CONNECTION_SIZE,
    SessionState.WAITING_ECR_MSG: ESTABLISH_CONNECTION_SIZE,
    SessionState.WAITING_CP_MSG: CONNECTION_PARAMETERS_SIZE,
    SessionState.WAITING_CPR_MSG: CONNECTION_PARAMETERS_SIZE,
}
"""For each state in which all allowed packets have fixed sizes: the size in bytes of the longest allowed packet."""

_FIELDS_WITH_FIXED_VALUES = ("BaseHeader.VersionNumber", "BaseHeader.Signature")


class FieldRange(NamedTuple):
    """The allowed range of the values of a packet field, and the section that specifies the range."""

    path: str
    read: Callable[[Any], int]
    lowest: int
    highest: int
    section: str


def _define_field_range(path: str, lowest: int, highest: int, section: str) -> FieldRange:
    return FieldRange(path, attrgetter(path), lowest, highest, section)


_RANGES_OF_TRANSACTIONAL_MESSAGE = (
    _define_field_range("UserHeader.DM", 1, 1, "MS-MQMQ 2.2.19.2"),
    _define_field_range("TransactionHeader.TxSequenceNumber", 1, 0xFFFFFFFF, "MS-MQMQ 2.2.20.5"),
)
_SESSION_WINDOW_RANGE = _define_field_range("SessionHeader.WindowSize", 1, 0xFFFF, "MS-MQMQ 2.2.20.4")

FIELD_RANGES_BY_PACKET_TYPE: dict[PacketType, tuple[FieldRange, ...]] = {
    EstablishConnectionPacket: (),
    ConnectionParametersPacket: (
        _define_field_range(
            "ConnectionParametersHeader.RecoverableAckTimeout", *RECOVERABLE_ACK_TIMEOUT_RANGE_MS, "MS-MQQB 2.2.2.1"
        ),
        _define_field_range("ConnectionParametersHeader.AckTimeout", *ACK_TIMEOUT_RANGE_MS, "MS-MQQB 2.2.2.1"),
    ),
    SessionAckPacket: (
        _define_field_range("BaseHeader.SH", 1, 1, "MS-MQQB 3.1.5.1.1"),
        _define_field_range("InternalHeader.CS", 0, 0, "MS-MQQB 2.2.1"),
        _SESSION_WINDOW_RANGE,
    ),
    UserMessagePacket: (
        _define_field_range("UserHeader.DM", 0, 1, "MS-MQMQ 2.2.19.2"),
        _define_field_range("MessagePropertiesHeader.LabelLength", 0, 0xFA, "MS-MQMQ 2.2.19.3"),
    ),
    UnknownInternalPacket: (_define_field_range("InternalHeader.PT", 1, 3, "MS-MQQB 2.2.1"),),
}
"""The ranges of the fields whose values the document limits, except the fields that receivers ignore."""


class Identifying(QueueManagerPart):
    """Splits received bytes into packets, and passes each packet to its handler. Spec: MS-MQQB 3.1.5.1."""

    __slots__ = ()

    def receive_bytes(self, session: Session, data: bytes, now: Now) -> None:
        """Split bytes into packets, and handle the packets in order until one of them closes the session. Spec: MS-MQQB
        3.1.5.1.
        """
        transport = session.transport
        error: FramingError | None = None
        try:
            packets = session.framer.feed(data)
        except FramingError as found:
            packets, error = found.packets, found
        for packet in packets:
            self.receive_packet(session, packet, now)
            if not self.qm.is_connected(session, transport):
                return
        if error is None:
            if session.SessionState in MAX_PACKET_BYTES_BY_STATE:
                self.check_announced_size(session, now)
            return
        self.note_packet_received(session)
        if error.field in _FIELDS_WITH_FIXED_VALUES:
            self.close_session_after_wrong_signature(session, error, now)
        else:
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)

    def check_announced_size(self, session: Session, now: Now) -> None:
        """Close the session if the PacketSize of an unfinished packet exceeds the size that the state allows. Spec:
        MS-MQQB 3.1.5.3, 3.1.5.4.

        Without this check, a client without an open session could make the queue manager store megabytes for each
        connection.
        """
        longest = MAX_PACKET_BYTES_BY_STATE[session.SessionState]
        announced = session.framer.announced_packet_size
        if announced > longest:
            self.note_packet_received(session)
            state = session.SessionState.value
            reason = (
                f"a packet of {announced} bytes is too large in the state {state}, "
                f"which allows {longest} bytes (MS-MQQB 3.1.5.3, 3.1.5.4)"
            )
            self.qm.session_closing.close(session, reason, now)

    def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
        """Identify a packet, check its fields, and pass it to the method that handles it in the current state.
        Spec: MS-MQQB 3.1.5.1.
        """
        self.note_packet_received(session)
        try:
            packet = self.identify_packet(data)
            self.check_field_values(packet)
        except FormatError as error:
            self.qm.session_closing.close_session_after_malformed_packet(session, error, now)
            return
        receiver = RECEIVER_BY_STATE_AND_PACKET.get((session.SessionState, type(packet)))
        if receiver is None:
            self.qm.session_closing.close_session_after_unexpected_packet(session, packet, now)
        else:
            receiver(self.qm)(session, packet, now)

    def note_packet_received(self, session: Session) -> None:
        """Set ReceivedAck of a session, because a packet was received on the session. Spec: MS-MQQB 3.1.5.1."""
        session.ReceivedAck = True

    def identify_packet(self, data: bytes) -> Packet:
        """Parse a packet from the stream; raise FormatError for a malformed packet. Spec: MS-MQQB 3.1.5.1.1."""
        return parse_framed_packet(data)

    def check_field_values(self, packet: Packet) -> None:
        """Raise FormatError for a field value that section 2 does not allow. Spec: MS-MQQB 3.1.5.1.3, in a strict
        interpretation.
        """
        ranges = FIELD_RANGES_BY_PACKET_TYPE[type(packet)]
        if isinstance(packet, UserMessagePacket):
            if packet.SessionHeader is not None:
                ranges = (*ranges, _SESSION_WINDOW_RANGE)
            if packet.TransactionHeader is not None:
                ranges += _RANGES_OF_TRANSACTIONAL_MESSAGE
        for path, read, lowest, highest, section in ranges:
            value = read(packet)
            if not lowest <= value <= highest:
                raise FormatError(
                    path, 0, section, f"the value is 0x{value:X}, which is outside 0x{lowest:X} to 0x{highest:X}"
                )

    def close_session_after_wrong_signature(self, session: Session, error: FormatError, now: Now) -> None:
        """Close the session because of a wrong VersionNumber or Signature. Spec: MS-MQQB 3.1.5.1.2."""
        self.qm.session_closing.close(session, f"{error} (MS-MQQB 3.1.5.1.2)", now)
