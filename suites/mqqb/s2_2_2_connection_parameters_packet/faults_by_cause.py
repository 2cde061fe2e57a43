"""Faults that break rules of MS-MQQB 2.2.2 only after one of several causes, or only in one kind of session."""

from __future__ import annotations

from harness.faults.registry import add
from harness.faults.session_packets import (
    change_sent_packet,
    has_earlier_request,
    has_other_session,
    set_packet_type,
)
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Session


def _change_packet_size(data: bytes, size: int) -> bytes:
    """Return the packet with the given size, in PacketSize and in its bytes: the packet is cut, or extended by zero
    bytes.
    """
    return data[:8] + size.to_bytes(4, "little") + (data[12:] + bytes(8))[: size - 12]


def _add_trailing_bytes(data: bytes) -> bytes:
    return _change_packet_size(data, len(data) + 4)


def _remove_window_size(data: bytes) -> bytes:
    return _change_packet_size(data, len(data) - 2)


def _is_request_after_earlier_request(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.initiator and has_earlier_request(qm, session, packet)


def _is_request_to_destination_with_guid(qm: QueueManager, session: Session, packet: object) -> bool:
    return session.initiator and not session.is_destination_direct


def _is_response_while_other_session_exists(qm: QueueManager, session: Session, packet: object) -> bool:
    return not session.initiator and has_other_session(qm, session, packet)


for _name, _rule, _says, _change, _when in (
    (
        "acceptor-connection-parameters-pt-2-beside-session",
        "MQQB-2.2.2-02",
        "PT of the acceptor's ConnectionParameters is 2 while another session is open.",
        set_packet_type(2),
        _is_response_while_other_session_exists,
    ),
    (
        "initiator-connection-parameters-pt-4-in-later-request",
        "MQQB-2.2.2-02",
        "PT of the initiator's ConnectionParameters is 4 in a later request.",
        set_packet_type(4),
        _is_request_after_earlier_request,
    ),
    (
        "initiator-connection-parameters-pt-2-to-guid",
        "MQQB-2.2.2-02",
        "PT of the initiator's ConnectionParameters is 2 if the destination is a GUID.",
        set_packet_type(2),
        _is_request_to_destination_with_guid,
    ),
    (
        "acceptor-connection-parameters-trailing-bytes-beside-session",
        "MQQB-2.2.2-D01",
        "The acceptor's ConnectionParameters has trailing bytes while another session is open.",
        _add_trailing_bytes,
        _is_response_while_other_session_exists,
    ),
    (
        "initiator-connection-parameters-trailing-bytes-in-later-request",
        "MQQB-2.2.2-D01",
        "The initiator's ConnectionParameters has trailing bytes in a later request.",
        _add_trailing_bytes,
        _is_request_after_earlier_request,
    ),
    (
        "initiator-connection-parameters-trailing-bytes-to-guid",
        "MQQB-2.2.2-D01",
        "The initiator's ConnectionParameters has trailing bytes if the destination is a GUID.",
        _add_trailing_bytes,
        _is_request_to_destination_with_guid,
    ),
    (
        "acceptor-connection-parameters-without-window-size-beside-session",
        "MQQB-2.2.2.1-D01",
        "The acceptor's ConnectionParameters lacks WindowSize while another session is open.",
        _remove_window_size,
        _is_response_while_other_session_exists,
    ),
):
    add(_name, _rule, _says, change_sent_packet(ConnectionParametersPacket, _change, _when), blind=True)
