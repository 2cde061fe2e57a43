"""Faults of MS-MQQB 3.1.5.8 Receiving a UserMessage Packet: states and roles of a session."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import change_step, fault
from harness.faults.registry import add
from reference_qm.codec import Packet, UserMessagePacket
from reference_qm.core.sessions.session_closing import SessionClosing
from reference_qm.core.store.entries import build_removal_change
from reference_qm.core.transfer.message_receiving import MessageReceiving
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.model.states import MessagePositionState
from reference_qm.surface.clock import Now


@fault("initiator-user-message-before-open-session-ignored", breaks="MQQB-3.1.5.8-01", blind=True)
class InitiatorUserMessageBeforeOpenSessionIgnored(SessionClosing):
    """The initiator ignores a UserMessage that arrives before its session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        if not (session.initiator and isinstance(packet, UserMessagePacket)):
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("acceptor-transactional-message-before-open-session-ignored", breaks="MQQB-3.1.5.8-01", blind=True)
class AcceptorTransactionalMessageBeforeOpenSessionIgnored(SessionClosing):
    """The acceptor ignores a transactional message that arrives before the session is open."""

    def close_session_after_unexpected_packet(self, session: Session, packet: Packet, now: Now) -> None:
        transactional = isinstance(packet, UserMessagePacket) and packet.TransactionHeader is not None
        if session.initiator or not transactional:
            super().close_session_after_unexpected_packet(session, packet, now)


@fault("receiver-recoverable-message-on-own-session-not-flagged", breaks="MQQB-3.1.5.8-09", blind=True)
class ReceiverRecoverableMessageOnOwnSessionNotFlagged(SessionAcks):
    """The receiver acknowledges a recoverable message on a session that it opened itself only as received, and not as
    stored.
    """

    def set_acknowledgment_flag(self, session: Session, now: Now) -> None:
        if not session.initiator:
            super().set_acknowledgment_flag(session, now)


def _remove_limited_message_from_disk(part: Any, original: Any, saving: Any, now: Now) -> None:
    """Remove a message with a limited time from the disk after it was saved."""
    original(saving, now)
    position = saving.position
    limited = position.MessageReference.TimeToBeReceived != 0xFFFFFFFF
    if limited and saving.routed_packet is None and position.State is not MessagePositionState.DELETED:
        part.qm.disk.save(build_removal_change([position]))


add(
    "receiver-recoverable-message-with-time-to-be-received-not-kept",
    "MQQB-3.1.5.8-09",
    "The receiver acknowledges a recoverable message with a TimeToBeReceived, but does not keep it on its disk.",
    change_step(MessageReceiving.on_persisted, _remove_limited_message_from_disk),
    blind=True,
)
