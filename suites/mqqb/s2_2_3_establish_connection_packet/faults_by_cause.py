"""Faults that break rules of MS-MQQB 2.2.3 after one of several causes, or in one kind of session only."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.registry import add
from harness.faults.session_packets import (
    OPERATING_SYSTEM_FIELD_OFFSET,
    change_sent_packet,
    clear_internal_flag,
    has_earlier_request,
    has_other_session,
    set_byte,
    set_packet_type,
    was_session_refused,
)
from reference_qm.codec import EstablishConnectionPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session

_PADDING_OFFSET = 60
"""The offset of Padding in an EstablishConnection packet, in bytes."""


def _resize_padding(data: bytes, padding: int) -> bytes:
    """Return the packet with the given number of bytes in Padding; PacketSize is adjusted."""
    size = _PADDING_OFFSET + padding
    return data[:8] + size.to_bytes(4, "little") + (data[12:] + bytes(8))[: size - 12]


def _invert_operating_system_bit(bit: int) -> Callable[[bytes], bytes]:
    """Return a function that inverts a bit of the upper byte of OperatingSystem."""
    return lambda data: (
        data[: OPERATING_SYSTEM_FIELD_OFFSET + 1]
        + bytes([data[OPERATING_SYSTEM_FIELD_OFFSET + 1] ^ 1 << bit])
        + data[OPERATING_SYSTEM_FIELD_OFFSET + 2 :]
    )


def _is_request_after_earlier_request(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.initiator and has_earlier_request(qm, session, packet)


def _is_request_with_server_guid(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.initiator and not session.is_destination_direct


def _is_request_while_other_session_exists(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.initiator and has_other_session(qm, session, packet)


def _is_response_while_other_session_exists(qm: QueueManager, session: Session, packet: object) -> bool:
    return not session.initiator and has_other_session(qm, session, packet)


def _is_response_to_request_with_guid(qm: QueueManager, session: Session, packet: object) -> bool:
    return not session.initiator and not session.is_destination_direct


add(
    "acceptor-refusal-without-padding",
    "MQQB-2.2.3.1-D01",
    "An acceptor that refuses a session sends a response without Padding.",
    change_sent_packet(EstablishConnectionPacket, lambda data: _resize_padding(data, 0), was_session_refused),
    blind=True,
)

add(
    "initiator-later-request-with-long-padding",
    "MQQB-2.2.3-D01",
    "On a later connection, the initiator sends a request whose Padding has 516 bytes.",
    change_sent_packet(
        EstablishConnectionPacket, lambda data: _resize_padding(data, 516), _is_request_after_earlier_request
    ),
    blind=True,
)

add(
    "acceptor-response-beside-session-with-short-padding",
    "MQQB-2.2.3.1-D01",
    "While another session is open, the acceptor sends a response whose Padding has 508 bytes.",
    change_sent_packet(
        EstablishConnectionPacket, lambda data: _resize_padding(data, 508), _is_response_while_other_session_exists
    ),
    blind=True,
)

add(
    "acceptor-re-0-in-refusal",
    ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
    "An acceptor that refuses a session sends a response with RE 0.",
    change_sent_packet(EstablishConnectionPacket, set_byte(OPERATING_SYSTEM_FIELD_OFFSET, 0), was_session_refused),
    blind=True,
)

add(
    "initiator-re-0-in-later-request",
    ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
    "On a later connection, the initiator sends a request with RE 0.",
    change_sent_packet(
        EstablishConnectionPacket, set_byte(OPERATING_SYSTEM_FIELD_OFFSET, 0), _is_request_after_earlier_request
    ),
    blind=True,
)

add(
    "acceptor-re-17-in-response-to-guid",
    ("MQQB-2.2.3.1-03", "MQQB-2.2.3.1-04"),
    "The acceptor sends a response with RE 0x11 if ServerGuid of the request was not zero.",
    change_sent_packet(
        EstablishConnectionPacket, set_byte(OPERATING_SYSTEM_FIELD_OFFSET, 0x11), _is_response_to_request_with_guid
    ),
    blind=True,
)

add(
    "initiator-se-inverted-in-later-request",
    "MQQB-2.2.3.1-05",
    "On a later connection, the initiator sends a request with the wrong SE.",
    change_sent_packet(EstablishConnectionPacket, _invert_operating_system_bit(0), _is_request_after_earlier_request),
    blind=True,
)

add(
    "initiator-se-inverted-to-guid",
    "MQQB-2.2.3.1-05",
    "The initiator sends the wrong SE if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, _invert_operating_system_bit(0), _is_request_with_server_guid),
    blind=True,
)

add(
    "initiator-se-inverted-beside-other-session",
    "MQQB-2.2.3.1-05",
    "While another session is open, the initiator sends a request with the wrong SE.",
    change_sent_packet(
        EstablishConnectionPacket, _invert_operating_system_bit(0), _is_request_while_other_session_exists
    ),
    blind=True,
)

add(
    "initiator-os-inverted-in-later-request",
    "MQQB-2.2.3.1-07",
    "On a later connection, the initiator sends a request with the wrong OS.",
    change_sent_packet(EstablishConnectionPacket, _invert_operating_system_bit(1), _is_request_after_earlier_request),
    blind=True,
)

add(
    "initiator-os-inverted-to-guid",
    "MQQB-2.2.3.1-07",
    "The initiator sends the wrong OS if the destination has no direct format name.",
    change_sent_packet(EstablishConnectionPacket, _invert_operating_system_bit(1), _is_request_with_server_guid),
    blind=True,
)

add(
    "initiator-os-inverted-beside-other-session",
    "MQQB-2.2.3.1-07",
    "While another session is open, the initiator sends a request with the wrong OS.",
    change_sent_packet(
        EstablishConnectionPacket, _invert_operating_system_bit(1), _is_request_while_other_session_exists
    ),
    blind=True,
)

for _name, _rule, _says, _step, _condition in (
    (
        "initiator-in-clear-in-later-establish-request",
        "MQQB-2.2.3-01",
        "IN of an EstablishConnection request is clear if an earlier request had the same destination.",
        clear_internal_flag,
        _is_request_after_earlier_request,
    ),
    (
        "acceptor-in-clear-in-refusing-establish-response",
        "MQQB-2.2.3-01",
        "IN of a refusing EstablishConnection response is clear.",
        clear_internal_flag,
        was_session_refused,
    ),
    (
        "acceptor-in-clear-in-establish-response-beside-session",
        "MQQB-2.2.3-01",
        "IN of an EstablishConnection response is clear while another session is open.",
        clear_internal_flag,
        _is_response_while_other_session_exists,
    ),
    (
        "initiator-establish-request-pt-3-to-guid",
        "MQQB-2.2.3-02",
        "PT of an EstablishConnection request is 3 if the destination is a GUID.",
        set_packet_type(3),
        _is_request_with_server_guid,
    ),
    (
        "acceptor-refusing-establish-response-pt-3",
        "MQQB-2.2.3-02",
        "PT of a refusing EstablishConnection response is 3.",
        set_packet_type(3),
        was_session_refused,
    ),
    (
        "initiator-later-establish-request-pt-1",
        "MQQB-2.2.3-02",
        "PT of an EstablishConnection request is 1 if an earlier request had the same destination.",
        set_packet_type(1),
        _is_request_after_earlier_request,
    ),
):
    add(_name, _rule, _says, change_sent_packet(EstablishConnectionPacket, _step, _condition), blind=True)


@fault("initiator-establish-response-with-x15-refused", breaks="MQQB-2.2.3.1-13", blind=True)
class InitiatorEstablishResponseWithX15Refused(SessionOpening):
    """The initiator closes the session when bit X15 of OperatingSystem is set in an EstablishConnection response."""

    def is_establish_response_valid(self, session: Session, packet: EstablishConnectionPacket) -> bool:
        return super().is_establish_response_valid(session, packet) and not packet.EstablishConnectionHeader.X15
