"""Parses and builds whole packets. Spec: MS-MQQB 2.2.2, 2.2.3, 2.2.6, 2.2.7, MS-MQMQ 2.2.20."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reference_qm.codec import base, internal, mqf, properties, security, session, soap_debug, transaction, user
from reference_qm.codec.cursor import ByteCursor
from reference_qm.codec.format_error import FormatError, MisuseError
from reference_qm.codec.internal import PT_CONNECTION_PARAMETERS, PT_ESTABLISH_CONNECTION, PT_SESSION_ACK, PingPacket
from reference_qm.value_object import value_object

_USER_MESSAGE_SPEC_SECTION = "MS-MQMQ 2.2.20"

# Masks are faster than named bits, and captures of millions of packets are parsed here.
(
    _TRANSACTION_HEADER_FLAG,
    _SECURITY_HEADER_FLAG,
    _MESSAGE_PROPERTIES_HEADER_FLAG,
    _SOAP_HEADER_FLAG,
    _MULTI_QUEUE_FORMAT_HEADER_FLAG,
) = (user.UserHeader.flags(**{bit: 1}) for bit in ("TH", "SH", "MP", "HH", "MQ"))
_INTERNAL_FLAG, _DEBUG_HEADER_FLAG, _SESSION_HEADER_FLAG = (
    base.BaseHeader.flags(**{bit: 1}) for bit in ("IN", "DH", "SH")
)
_PACKET_TYPE_MASK = internal.InternalHeader.flags(PT=0xF)


@value_object
class EstablishConnectionPacket:
    """An EstablishConnection request or response. Spec: MS-MQQB 2.2.3. 572 bytes."""

    BaseHeader: base.BaseHeader
    InternalHeader: internal.InternalHeader
    EstablishConnectionHeader: internal.EstablishConnectionHeader

    def build(self) -> bytes:
        """Return the bytes of the packet; raise MisuseError when these bytes would not parse as the same packet."""
        return _build_internal_packet(
            self.BaseHeader, self.InternalHeader, PT_ESTABLISH_CONNECTION, self.EstablishConnectionHeader.build()
        )


@value_object
class ConnectionParametersPacket:
    """A ConnectionParameters request or response. Spec: MS-MQQB 2.2.2. 32 bytes."""

    BaseHeader: base.BaseHeader
    InternalHeader: internal.InternalHeader
    ConnectionParametersHeader: internal.ConnectionParametersHeader

    def build(self) -> bytes:
        """Return the bytes of the packet; raise MisuseError when these bytes would not parse as the same packet."""
        return _build_internal_packet(
            self.BaseHeader, self.InternalHeader, PT_CONNECTION_PARAMETERS, self.ConnectionParametersHeader.build()
        )


@value_object
class SessionAckPacket:
    """A SessionAck: an acknowledgment that is sent without a message.

    Spec: MS-MQQB 2.2.6. 36 bytes. PacketSize may be 0x14 (the document) or 0x24 (Windows). A parsed value is kept;
    ``build`` uses 0x24 by default.
    """

    BaseHeader: base.BaseHeader
    InternalHeader: internal.InternalHeader
    SessionHeader: session.SessionHeader

    def build(self) -> bytes:
        """Return the bytes of the packet; raise MisuseError when these bytes would not parse as the same packet."""
        return _build_internal_packet(self.BaseHeader, self.InternalHeader, PT_SESSION_ACK, self.SessionHeader.build())


@value_object
class UnknownInternalPacket:
    """An internal packet with an unknown packet type (PT). Body contains the bytes after the InternalHeader.

    Spec: MS-MQQB 2.2.1.
    """

    BaseHeader: base.BaseHeader
    InternalHeader: internal.InternalHeader
    Body: bytes = b""

    def build(self) -> bytes:
        """Return the bytes of the packet; raise MisuseError when these bytes would not parse as the same packet."""
        if self.InternalHeader.PT in _INTERNAL_PACKET_PARSER_BY_TYPE:
            raise MisuseError(f"InternalHeader.Flags.PT 0x{self.InternalHeader.PT:X} is a known packet")
        return _build_internal_packet(self.BaseHeader, self.InternalHeader, self.InternalHeader.PT, self.Body)


class _ParsedPacket:
    """A packet that may contain the bytes from which it was parsed (``wire``). These bytes are not a field, so
    ``replace`` does not copy them.
    """

    __slots__ = ("wire",)

    wire: bytes


@value_object(kw_only=True)
class UserMessagePacket(_ParsedPacket):
    """A UserMessage. Spec: MS-MQMQ 2.2.20. Bits in the Flags of BaseHeader and UserHeader state which headers the
    packet contains.
    """

    BaseHeader: base.BaseHeader
    UserHeader: user.UserHeader
    TransactionHeader: transaction.TransactionHeader | None = None
    SecurityHeader: security.SecurityHeader | None = None
    MessagePropertiesHeader: properties.MessagePropertiesHeader
    DebugHeader: soap_debug.DebugHeader | None = None
    SoapHeader: soap_debug.SoapHeader | None = None
    MultiQueueFormatHeader: mqf.MultiQueueFormatHeader | None = None
    SessionHeader: session.SessionHeader | None = None

    def build(self) -> bytes:
        """Return the bytes of the packet; raise MisuseError when these bytes would not parse as the same packet."""
        received: bytes | None = getattr(self, "wire", None)
        if received is not None:
            return received
        base_header, flags = self.BaseHeader, self.UserHeader.Flags
        if base_header.Flags & _INTERNAL_FLAG:
            raise MisuseError("BaseHeader.Flags.IN is set, but the packet is a UserMessage")
        announced = (
            ("UserHeader.Flags.TH", flags & _TRANSACTION_HEADER_FLAG, self.TransactionHeader),
            ("UserHeader.Flags.SH", flags & _SECURITY_HEADER_FLAG, self.SecurityHeader),
            ("UserHeader.Flags.MP", flags & _MESSAGE_PROPERTIES_HEADER_FLAG, self.MessagePropertiesHeader),
            ("BaseHeader.Flags.DH", base_header.Flags & _DEBUG_HEADER_FLAG, self.DebugHeader),
            ("UserHeader.Flags.HH", flags & _SOAP_HEADER_FLAG, self.SoapHeader),
            ("UserHeader.Flags.MQ", flags & _MULTI_QUEUE_FORMAT_HEADER_FLAG, self.MultiQueueFormatHeader),
        )
        wire = self.UserHeader.build()
        for flag, is_set, header in announced:
            if header is None:
                if is_set:
                    raise MisuseError(f"{flag} does not match the presence of its header")
                continue
            if not is_set:
                raise MisuseError(f"{flag} does not match the presence of its header")
            if len(wire) % 4:
                raise MisuseError(f"the header that precedes the header of {flag} is not padded to 4 bytes")
            wire += header.build()
        if (self.SessionHeader is not None) != bool(base_header.Flags & _SESSION_HEADER_FLAG):
            raise MisuseError("BaseHeader.Flags.SH does not match the presence of SessionHeader")
        sized = base.BASE_HEADER_SIZE + len(wire)
        if self.SessionHeader is not None:
            wire += self.SessionHeader.build()
        if not base_header.PacketSize and sized <= base.MAX_PACKET_SIZE:
            return (
                base_header.build_header_with_size(sized) + wire
            )  # such a packet satisfies all other demands of framing
        return _prepend_base_header(base_header, sized, wire)


InternalPacket = EstablishConnectionPacket | ConnectionParametersPacket | SessionAckPacket | UnknownInternalPacket
Packet = InternalPacket | UserMessagePacket


def parse_packet(data: bytes) -> Packet:
    """Parse the bytes of exactly one packet; raise FormatError for a malformed packet and for leftover bytes."""
    size = base.measure_packet(data)
    if size is None:
        raise FormatError(
            "BaseHeader",
            0,
            base.BASE_HEADER_SPEC_SECTION,
            f"the header needs {base.BASE_HEADER_SIZE} bytes, but the packet has {len(data)}",
        )
    if size != len(data):
        raise FormatError(
            "BaseHeader.PacketSize",
            8,
            base.BASE_HEADER_SPEC_SECTION,
            f"the value is {size}, but the packet has {len(data)} bytes",
        )
    return _parse_measured_packet(bytes(data))


def parse_framed_packet(data: bytes) -> Packet:
    """Parse a packet that a ``StreamFramer`` returned; raise FormatError for a malformed packet. A UserMessagePacket
    also contains the bytes from which it was parsed.
    """
    packet = _parse_measured_packet(data)
    if isinstance(packet, UserMessagePacket):
        packet.wire = data
    return packet


def _parse_measured_packet(data: bytes) -> Packet:
    """Parse a packet whose size ``measure_packet`` has checked."""
    base_header = base.BaseHeader.read_measured_header(data)
    if not base_header.Flags & _INTERNAL_FLAG:
        return _read_user_message(data, base_header)
    cursor = ByteCursor(data, base.BASE_HEADER_SIZE)
    internal_header = internal.InternalHeader.read(cursor)
    reader = _INTERNAL_PACKET_PARSER_BY_TYPE.get(
        internal_header.Flags & _PACKET_TYPE_MASK, _read_unknown_internal_packet
    )
    packet = reader(cursor, base_header, internal_header)
    cursor.require_end(type(packet).__name__, internal.InternalHeader.SPEC_SECTION)
    return packet


def parse_ping(data: bytes) -> PingPacket:
    """Parse the Ping packet in a UDP datagram; raise FormatError for a malformed datagram."""
    return PingPacket.parse(bytes(data))


def _read_user_message(data: bytes, base_header: base.BaseHeader) -> UserMessagePacket:
    sized = ByteCursor(data, base.BASE_HEADER_SIZE, base_header.PacketSize)
    flags_at = sized.offset + user.USER_HEADER_FLAGS_OFFSET
    user_header = user.UserHeader.read(sized)
    flags = user_header.Flags
    transaction_header = transaction.TransactionHeader.read(sized) if flags & _TRANSACTION_HEADER_FLAG else None
    security_header = security.SecurityHeader.read(sized) if flags & _SECURITY_HEADER_FLAG else None
    if not flags & _MESSAGE_PROPERTIES_HEADER_FLAG:
        raise FormatError(
            "UserHeader.Flags",
            flags_at,
            _USER_MESSAGE_SPEC_SECTION,
            "MP is clear, so the MessagePropertiesHeader is missing",
        )
    properties_header = properties.MessagePropertiesHeader.read(sized)
    debug_header = soap_debug.DebugHeader.read(sized) if base_header.Flags & _DEBUG_HEADER_FLAG else None
    soap_header = soap_debug.SoapHeader.read(sized) if flags & _SOAP_HEADER_FLAG else None
    mqf_header = mqf.MultiQueueFormatHeader.read(sized) if flags & _MULTI_QUEUE_FORMAT_HEADER_FLAG else None
    sized.require_end("UserMessagePacket", _USER_MESSAGE_SPEC_SECTION)
    return UserMessagePacket(
        BaseHeader=base_header,
        UserHeader=user_header,
        TransactionHeader=transaction_header,
        SecurityHeader=security_header,
        MessagePropertiesHeader=properties_header,
        DebugHeader=debug_header,
        SoapHeader=soap_header,
        MultiQueueFormatHeader=mqf_header,
        SessionHeader=session.SessionHeader.read(ByteCursor(data, sized.end))
        if base_header.Flags & _SESSION_HEADER_FLAG
        else None,
    )


def _read_session_ack_packet(
    cursor: ByteCursor, head: base.BaseHeader, kind: internal.InternalHeader
) -> InternalPacket:
    return SessionAckPacket(head, kind, session.SessionHeader.read(cursor))


def _read_establish_connection_packet(
    cursor: ByteCursor, head: base.BaseHeader, kind: internal.InternalHeader
) -> InternalPacket:
    return EstablishConnectionPacket(head, kind, internal.EstablishConnectionHeader.read(cursor))


def _read_connection_parameters_packet(
    cursor: ByteCursor, head: base.BaseHeader, kind: internal.InternalHeader
) -> InternalPacket:
    return ConnectionParametersPacket(head, kind, internal.ConnectionParametersHeader.read(cursor))


def _read_unknown_internal_packet(
    cursor: ByteCursor, head: base.BaseHeader, kind: internal.InternalHeader
) -> InternalPacket:
    return UnknownInternalPacket(
        head, kind, cursor.read_bytes(cursor.remaining_bytes, "UnknownInternalPacket.Body", kind.SPEC_SECTION)
    )


_INTERNAL_PACKET_PARSER_BY_TYPE: Mapping[
    int, Callable[[ByteCursor, base.BaseHeader, internal.InternalHeader], InternalPacket]
] = {
    PT_SESSION_ACK: _read_session_ack_packet,
    PT_ESTABLISH_CONNECTION: _read_establish_connection_packet,
    PT_CONNECTION_PARAMETERS: _read_connection_parameters_packet,
}


def _build_internal_packet(
    head: base.BaseHeader, kind: internal.InternalHeader, packet_type: int, body: bytes
) -> bytes:
    if not head.IN:
        raise MisuseError("BaseHeader.Flags.IN is clear, but the packet is internal")
    if packet_type != kind.PT:
        raise MisuseError(f"InternalHeader.Flags.PT must be 0x{packet_type:X} here, not 0x{kind.PT:X}")
    wire = kind.build() + body
    return _prepend_base_header(head, base.BASE_HEADER_SIZE + len(wire), wire)


def _prepend_base_header(head: base.BaseHeader, size: int, rest: bytes) -> bytes:
    """Return the packet with its BaseHeader; raise MisuseError when PacketSize does not fit the packet.

    A PacketSize of 0 is replaced by ``size``.
    """
    packet = head.build_header_with_size(head.PacketSize or size) + rest
    try:
        measured = base.measure_packet(packet)
    except FormatError as error:
        raise MisuseError(str(error)) from error
    if measured != len(packet):
        raise MisuseError(
            f"BaseHeader.PacketSize is 0x{head.PacketSize:X}, but the packet has "
            f"{len(packet)} bytes; give 0 to compute the size"
        )
    return packet
