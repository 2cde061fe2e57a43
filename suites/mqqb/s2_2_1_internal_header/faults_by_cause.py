"""Faults that break rules of MS-MQQB 2.2.1 after one of several causes, or in one kind of session only."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault, replace_part
from harness.faults.registry import Install, add
from harness.faults.session_packets import (
    INTERNAL_FLAGS_OFFSET,
    SessionCondition,
    change_sent_packet,
    has_earlier_request,
    has_other_session,
    set_packet_type,
    was_session_refused,
)
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    FormatError,
    InternalHeader,
    Packet,
    SessionAckPacket,
    parse_packet,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.identifying import Identifying
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


def _ignore_packet_or_close_if_reserved_bit_set(
    bit: int, kind: type[Packet], *, initiator: bool | None, closes: bool, when: SessionCondition | None = None
) -> Install:
    """Return an installer of a fault that ignores a packet, or closes the session, if a reserved bit is set."""

    class ReservedBitReaction(Identifying):
        def receive_packet(self, session: Session, data: bytes, now: Now) -> None:
            packet = self._parse_valid_packet(data)
            heeded = (
                isinstance(packet, kind)
                and bool(int.from_bytes(data[INTERNAL_FLAGS_OFFSET : INTERNAL_FLAGS_OFFSET + 2], "little") >> bit & 1)
                and initiator in (None, session.initiator)
                and (when is None or when(self.qm, session, packet))
            )
            if not heeded:
                super().receive_packet(session, data, now)
            elif closes:
                self.qm.session_closing.close(session, "a fault", now)

        def _parse_valid_packet(self, data: bytes) -> Packet | None:
            try:
                return parse_packet(data)
            except FormatError:
                return None

    return replace_part(ReservedBitReaction)


add(
    "initiator-session-ack-with-x6-ignored",
    "MQQB-2.2.1-08",
    "The initiator ignores a SessionAck with X6 set.",
    _ignore_packet_or_close_if_reserved_bit_set(6, SessionAckPacket, initiator=True, closes=False),
    blind=True,
)

add(
    "acceptor-connection-parameters-with-x6-closes-session",
    "MQQB-2.2.1-08",
    "The acceptor closes the session on a ConnectionParameters packet with X6 set.",
    _ignore_packet_or_close_if_reserved_bit_set(6, ConnectionParametersPacket, initiator=False, closes=True),
    blind=True,
)

add(
    "initiator-establish-connection-with-x6-closes-session-beside-other-session",
    "MQQB-2.2.1-08",
    "The initiator closes the session on an EstablishConnection packet with X6 set while another session is open.",
    _ignore_packet_or_close_if_reserved_bit_set(
        6, EstablishConnectionPacket, initiator=True, closes=True, when=has_other_session
    ),
    blind=True,
)

add(
    "initiator-session-ack-with-x7-ignored",
    "MQQB-2.2.1-09",
    "The initiator ignores a SessionAck with X7 set.",
    _ignore_packet_or_close_if_reserved_bit_set(7, SessionAckPacket, initiator=True, closes=False),
    blind=True,
)

add(
    "initiator-connection-parameters-with-x7-closes-session",
    "MQQB-2.2.1-09",
    "The initiator closes the session on a ConnectionParameters packet with X7 set.",
    _ignore_packet_or_close_if_reserved_bit_set(7, ConnectionParametersPacket, initiator=True, closes=True),
    blind=True,
)

add(
    "acceptor-establish-connection-with-x7-closes-session-beside-other-session",
    "MQQB-2.2.1-09",
    "The acceptor closes the session on an EstablishConnection packet with X7 set while another session is open.",
    _ignore_packet_or_close_if_reserved_bit_set(
        7, EstablishConnectionPacket, initiator=False, closes=True, when=has_other_session
    ),
    blind=True,
)

add(
    "initiator-session-ack-with-x11-ignored",
    "MQQB-2.2.1-13",
    "The initiator ignores a SessionAck with X11 set.",
    _ignore_packet_or_close_if_reserved_bit_set(11, SessionAckPacket, initiator=True, closes=False),
    blind=True,
)

add(
    "initiator-connection-parameters-with-x11-closes-session",
    "MQQB-2.2.1-13",
    "The initiator closes the session on a ConnectionParameters packet with X11 set.",
    _ignore_packet_or_close_if_reserved_bit_set(11, ConnectionParametersPacket, initiator=True, closes=True),
    blind=True,
)

add(
    "acceptor-establish-connection-with-x11-closes-session-beside-other-session",
    "MQQB-2.2.1-13",
    "The acceptor closes the session on an EstablishConnection packet with X11 set while another session is open.",
    _ignore_packet_or_close_if_reserved_bit_set(
        11, EstablishConnectionPacket, initiator=False, closes=True, when=has_other_session
    ),
    blind=True,
)

add(
    "initiator-session-ack-with-x13-ignored",
    "MQQB-2.2.1-15",
    "The initiator ignores a SessionAck with X13 set.",
    _ignore_packet_or_close_if_reserved_bit_set(13, SessionAckPacket, initiator=True, closes=False),
    blind=True,
)

add(
    "initiator-connection-parameters-with-x13-closes-session",
    "MQQB-2.2.1-15",
    "The initiator closes the session on a ConnectionParameters packet with X13 set.",
    _ignore_packet_or_close_if_reserved_bit_set(13, ConnectionParametersPacket, initiator=True, closes=True),
    blind=True,
)

add(
    "acceptor-establish-connection-with-x13-closes-session-beside-other-session",
    "MQQB-2.2.1-15",
    "The acceptor closes the session on an EstablishConnection packet with X13 set while another session is open.",
    _ignore_packet_or_close_if_reserved_bit_set(
        13, EstablishConnectionPacket, initiator=False, closes=True, when=has_other_session
    ),
    blind=True,
)

add(
    "initiator-session-ack-with-x14-ignored",
    "MQQB-2.2.1-16",
    "The initiator ignores a SessionAck with X14 set.",
    _ignore_packet_or_close_if_reserved_bit_set(14, SessionAckPacket, initiator=True, closes=False),
    blind=True,
)

add(
    "acceptor-connection-parameters-with-x14-closes-session",
    "MQQB-2.2.1-16",
    "The acceptor closes the session on a ConnectionParameters packet with X14 set.",
    _ignore_packet_or_close_if_reserved_bit_set(14, ConnectionParametersPacket, initiator=False, closes=True),
    blind=True,
)

add(
    "initiator-establish-connection-with-x14-closes-session-beside-other-session",
    "MQQB-2.2.1-16",
    "The initiator closes the session on an EstablishConnection packet with X14 set while another session is open.",
    _ignore_packet_or_close_if_reserved_bit_set(
        14, EstablishConnectionPacket, initiator=True, closes=True, when=has_other_session
    ),
    blind=True,
)


def _swap_reserved_and_flags_of_internal_header(data: bytes) -> bytes:
    return data[:16] + data[18:20] + data[16:18] + data[20:]


def _move_cs_flag_to_x5(data: bytes) -> bytes:
    flags = data[INTERNAL_FLAGS_OFFSET] & ~0x10 | 0x20
    return data[:INTERNAL_FLAGS_OFFSET] + bytes([flags]) + data[INTERNAL_FLAGS_OFFSET + 1 :]


def _has_recoverable_ack_flags(qm: object, session: Session, packet: SessionAckPacket) -> bool:
    return bool(packet.SessionHeader.RecoverableMsgAckFlags)


add(
    "receiver-session-ack-with-reserved-after-flags",
    "MQQB-2.2.1-D01",
    "The receiver of a message sends a SessionAck in which InternalHeader.Flags precedes Reserved.",
    change_sent_packet(SessionAckPacket, _swap_reserved_and_flags_of_internal_header, lambda qm, session, packet: True),
    blind=True,
)

add(
    "acceptor-refusal-in-bit-5",
    "MQQB-2.2.1-D01",
    "An acceptor that refuses a session sets bit 5 of InternalHeader.Flags instead of bit 4.",
    change_sent_packet(EstablishConnectionPacket, _move_cs_flag_to_x5, was_session_refused),
    blind=True,
)


@fault("initiator-cs-of-response-read-from-bit-5", breaks="MQQB-2.2.1-D01", blind=True)
class InitiatorCsOfResponseReadFromBit5(SessionOpening):
    """The initiator reads CS of a response from bit 5 of InternalHeader.Flags instead of bit 4."""

    def receive_establish_response(self, session: Session, packet: EstablishConnectionPacket, now: Now) -> None:
        read = InternalHeader(Flags=InternalHeader.flags(PT=packet.InternalHeader.PT, CS=packet.InternalHeader.X5))
        super().receive_establish_response(session, replace(packet, InternalHeader=read), now)


add(
    "receiver-session-ack-of-recoverable-messages-type-0",
    "MQQB-2.2.1-02",
    "The receiver acknowledges recoverable messages in a SessionAck with PT 0.",
    change_sent_packet(SessionAckPacket, set_packet_type(0), _has_recoverable_ack_flags),
    blind=True,
)

add(
    "acceptor-refusal-has-type-4",
    "MQQB-2.2.1-02",
    "An acceptor that refuses a session sends an EstablishConnection response with PT 4.",
    change_sent_packet(EstablishConnectionPacket, set_packet_type(4), was_session_refused),
    blind=True,
)

add(
    "initiator-parameters-on-later-connection-have-type-11",
    "MQQB-2.2.1-02",
    "On a later connection to the same destination, the initiator sends ConnectionParameters with PT 0xB.",
    change_sent_packet(ConnectionParametersPacket, set_packet_type(11), has_earlier_request),
    blind=True,
)
