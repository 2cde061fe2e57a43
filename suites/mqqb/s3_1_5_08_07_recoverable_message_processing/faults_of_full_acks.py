"""Faults that break rules of MS-MQQB 3.1.5.8.7 in some of the SessionAcks after 32 messages only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from harness.faults.session_packets import change_sent_packet, set_packet_type
from reference_qm.codec import BaseHeader, SessionAckPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now

ALL_ACK_FLAGS = 0xFFFFFFFF
SessionPredicate = Callable[[QueueManager, Session], bool]
SessionAckChange = Callable[[SessionAckPacket], SessionAckPacket]


def is_initiated_session(qm: QueueManager, session: Session) -> bool:
    """Return whether the queue manager opened the session."""
    return session.initiator


def is_other_session_open(qm: QueueManager, session: Session) -> bool:
    """Return whether another session is open."""
    return bool(list_open_sessions(qm, session))


def has_received_express_messages(qm: QueueManager, session: Session) -> bool:
    """Return whether the session has received express messages."""
    return session.MessageReceivedCount != session.RecoverableMessageReceivedCount


def has_received_transactional_messages(qm: QueueManager, session: Session) -> bool:
    """Return whether the session has received transactional messages."""
    return session.IncomingTxSequenceNumber > 0


def has_acknowledged_recoverable_messages(qm: QueueManager, session: Session) -> bool:
    """Return whether the session has acknowledged recoverable messages before."""
    return session.LastAckedRecoverableMsgSeqNumber > 0


def change_ack_of_32_messages(change: SessionAckChange, when: SessionPredicate) -> Install:
    """Return an installer of a fault that changes the SessionAck after 32 recoverable messages."""

    class FullAckChanged(SessionAcks):
        def build(self, session: Session) -> SessionAckPacket:
            packet = super().build(session)
            full = packet.SessionHeader.RecoverableMsgAckFlags == ALL_ACK_FLAGS
            return change(packet) if full and when(self.qm, session) else packet

    return replace_part(FullAckChanged)


def change_last_acked_number_after_ack_of_32(by: int, when: SessionPredicate) -> Install:
    """Return an installer of a fault that adds a number to LastAckedRecoverableMsgSeqNumber after the SessionAck for 32
    recoverable messages.
    """

    class NextNumberChanged(SessionAcks):
        def reset_unacknowledged_counts(self, session: Session, now: Now) -> None:
            full = session.RecoverableMsgAckFlags == ALL_ACK_FLAGS and when(self.qm, session)
            super().reset_unacknowledged_counts(session, now)
            if full:
                session.LastAckedRecoverableMsgSeqNumber = session.LastAckedRecoverableMsgSeqNumber + by & 0xFFFF

    return replace_part(NextNumberChanged)


def clear_session_header_flag(packet: SessionAckPacket) -> SessionAckPacket:
    """Return a SessionAck with SH clear."""
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags))


def replace_packet_type_of_ack_of_32_messages(when: SessionPredicate) -> Install:
    """Return an installer of a fault that sends PT 3 in the SessionAck after 32 recoverable messages."""

    def is_changed(qm: QueueManager, session: Session, packet: SessionAckPacket) -> bool:
        return packet.SessionHeader.RecoverableMsgAckFlags == ALL_ACK_FLAGS and when(qm, session)

    return change_sent_packet(SessionAckPacket, set_packet_type(3), is_changed)


def make_ack_flag_clearing(bit: int) -> SessionAckChange:
    """Return a function that clears a bit of RecoverableMsgAckFlags."""

    def clear_one_flag(packet: SessionAckPacket) -> SessionAckPacket:
        header = packet.SessionHeader
        flags = header.RecoverableMsgAckFlags & ~(1 << bit)
        return replace(packet, SessionHeader=replace(header, RecoverableMsgAckFlags=flags))

    return clear_one_flag


for _name, _rule, _says, _change, _when in (
    (
        "initiator-session-ack-after-32-messages-has-sh-clear",
        "MQQB-3.1.5.8.7-03",
        "The receiver that initiated the session clears SH in the SessionAck after 32 recoverable messages.",
        clear_session_header_flag,
        is_initiated_session,
    ),
    (
        "receiver-session-ack-after-32-messages-beside-other-session-has-sh-clear",
        "MQQB-3.1.5.8.7-03",
        "The receiver clears SH in the SessionAck after 32 recoverable messages if another session is open.",
        clear_session_header_flag,
        is_other_session_open,
    ),
    (
        "receiver-session-ack-after-32-transactional-messages-has-sh-clear",
        "MQQB-3.1.5.8.7-03",
        "The receiver clears SH in the SessionAck after 32 messages if transactional messages arrived on the session.",
        clear_session_header_flag,
        has_received_transactional_messages,
    ),
    (
        "receiver-session-ack-after-32-messages-and-express-messages-without-bit-16",
        "MQQB-3.1.5.8.7-09",
        "The receiver clears bit 16 of RecoverableMsgAckFlags in the SessionAck after 32 recoverable messages if "
        "express messages arrived on the session.",
        make_ack_flag_clearing(16),
        has_received_express_messages,
    ),
    (
        "receiver-second-session-ack-after-32-messages-without-bit-8",
        "MQQB-3.1.5.8.7-09",
        "The receiver clears bit 8 of RecoverableMsgAckFlags in the SessionAck after 32 recoverable messages if an "
        "acknowledgment preceded it.",
        make_ack_flag_clearing(8),
        has_acknowledged_recoverable_messages,
    ),
    (
        "initiator-session-ack-after-32-messages-without-bit-24",
        "MQQB-3.1.5.8.7-09",
        "The receiver that initiated the session clears bit 24 of RecoverableMsgAckFlags in the SessionAck after 32 "
        "recoverable messages.",
        make_ack_flag_clearing(24),
        is_initiated_session,
    ),
):
    add(_name, _rule, _says, change_ack_of_32_messages(_change, _when), blind=True)

for _name, _says, _when in (
    (
        "initiator-acknowledgment-after-32-messages-begins-late",
        "After the SessionAck for 32 recoverable messages on a session that it initiated, the receiver begins the next "
        "acknowledgment one number too high.",
        is_initiated_session,
    ),
    (
        "receiver-acknowledgment-after-32-transactional-messages-begins-late",
        "After the SessionAck for 32 messages, the receiver begins the next acknowledgment one number too high if "
        "transactional messages arrived on the session.",
        has_received_transactional_messages,
    ),
    (
        "receiver-acknowledgment-after-32-messages-beside-other-session-begins-late",
        "After the SessionAck for 32 recoverable messages, the receiver begins the next acknowledgment one number too "
        "high if another session is open.",
        is_other_session_open,
    ),
):
    add(_name, "MQQB-3.1.5.8.7-11", _says, change_last_acked_number_after_ack_of_32(1, _when), blind=True)

for _name, _says, _when in (
    (
        "receiver-second-session-ack-after-32-messages-pt-3",
        "The receiver sends PT 3 in the SessionAck after 32 recoverable messages if an acknowledgment preceded it.",
        has_acknowledged_recoverable_messages,
    ),
    (
        "receiver-session-ack-after-32-messages-beside-other-session-pt-3",
        "The receiver sends PT 3 in the SessionAck after 32 recoverable messages if another session is open.",
        is_other_session_open,
    ),
    (
        "receiver-session-ack-after-32-transactional-messages-pt-3",
        "The receiver sends PT 3 in the SessionAck after 32 messages if transactional messages arrived on the session.",
        has_received_transactional_messages,
    ),
):
    add(_name, "MQQB-3.1.5.8.7-04", _says, replace_packet_type_of_ack_of_32_messages(_when), blind=True)
