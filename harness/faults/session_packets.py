"""Faults that change, repeat or withhold a packet on the sessions that a condition selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import replace_part
from harness.faults.primitives import change_packets_of_kind
from harness.faults.registry import Install
from harness.faults.sent_messages import correct_packet_size, has_header
from reference_qm.codec import Packet, parse_packet
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_connecting import SessionConnecting
from reference_qm.model.adm import Session
from reference_qm.model.states import ConnectionStatus

SessionCondition = Callable[[QueueManager, Session, Any], bool]
"""The type of conditions for a packet. A condition is called with the queue manager, the session and the packet."""
BASE_FLAGS_OFFSET = 2
INTERNAL_FLAGS_OFFSET = 18
OPERATING_SYSTEM_FIELD_OFFSET = 56
RESERVED_FIELD_OFFSET = 58
"""Offsets of fields in internal packets, in bytes. The last two are offsets in the EstablishConnection packet."""
_IN_FLAG_MASK, _PT_FIELD_MASK, _CS_FLAG_MASK = 0x08, 0x0F, 0x10


def change_sent_packet(kind: type[Packet], change: Callable[[bytes], bytes], when: SessionCondition) -> Install:
    """Return an installer of a fault that changes the bytes of sent packets of one kind. If ``change`` returns no
    bytes, the packet is not sent.
    """

    class Changing(SessionConnecting):
        def send(self, session: Session, packet: bytes) -> None:
            parsed = parse_packet(packet)
            if isinstance(parsed, kind) and when(self.qm, session, parsed):
                packet = change(packet)
            if packet:
                super().send(session, packet)

    return replace_part(Changing)


def change_session_header(kind: type[Any], change: Callable[[bytes], bytes]) -> Install:
    """Return an installer of a fault that changes the bytes of the SessionHeader in sent packets of one kind."""

    def change_packet(packet: Any) -> bytes:
        header = packet.SessionHeader.build()
        return correct_packet_size(packet.build().replace(header, change(header)))

    return change_packets_of_kind(kind, change_packet, has_header("SessionHeader"))


def clear_internal_flag(data: bytes) -> bytes:
    """Return a packet with BaseHeader.Flags.IN cleared."""
    return _change_byte(data, BASE_FLAGS_OFFSET, data[BASE_FLAGS_OFFSET] & ~_IN_FLAG_MASK)


def set_refusal_flag(data: bytes) -> bytes:
    """Return a packet with InternalHeader.Flags.CS set."""
    return _change_byte(data, INTERNAL_FLAGS_OFFSET, data[INTERNAL_FLAGS_OFFSET] | _CS_FLAG_MASK)


def set_packet_type(value: int) -> Callable[[bytes], bytes]:
    """Return a function that sets InternalHeader.Flags.PT of a packet."""
    return lambda data: _change_byte(data, INTERNAL_FLAGS_OFFSET, data[INTERNAL_FLAGS_OFFSET] & ~_PT_FIELD_MASK | value)


def set_byte(at: int, value: int) -> Callable[[bytes], bytes]:
    """Return a function that replaces the byte at an offset of a packet."""
    return lambda data: _change_byte(data, at, value)


def double_packet_bytes(data: bytes) -> bytes:
    """Return the bytes of a packet twice, so that the packet is sent twice."""
    return data + data


def withhold_packet(data: bytes) -> bytes:
    """Return no bytes, so that the packet is not sent."""
    return b""


def _change_byte(data: bytes, at: int, value: int) -> bytes:
    return data[:at] + bytes([value]) + data[at + 1 :]


def has_earlier_request(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the initiator, on an earlier connection, sent an EstablishConnection request to the same
    destination.
    """
    queue = session.OutgoingQueueReference
    if queue is None:
        return False
    present = session.SessionState.value in ("WAITING_ECR_MSG", "WAITING_CPR_MSG")
    requests = sum(one.Status is ConnectionStatus.IN_PROCESS for one in queue.ConnectionHistory)
    return requests > int(present)


def has_other_session(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether a session other than the given session is open."""
    return bool(list_open_sessions(qm, session))


def is_destination_guid(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the initiator addresses the acceptor by GUID, and not by a direct format name."""
    return not session.is_destination_direct


def is_destination_direct_name(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the initiator addresses the acceptor by a direct format name."""
    return session.is_destination_direct


def was_ping_sent_before_session(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the initiator sent a Ping Request before the session."""
    return session.is_ping_sent_before_session


def was_session_refused(qm: QueueManager, session: Session, packet: object) -> bool:
    """Return whether the acceptor refused the session."""
    return session.was_session_refused


def is_ping_announced(qm: QueueManager, session: Session, packet: Any) -> bool:
    """Return whether SE of an EstablishConnection packet is 0."""
    return not packet.EstablishConnectionHeader.SE
