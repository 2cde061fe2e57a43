"""Faults of MS-MQQB 3.1.7.11 Construction of a UserMessage Packet."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.fields import field_is, off_by
from harness.faults.parts import fault
from harness.faults.primitives import during, packets, set_fields, skip_during, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.session_timers import SessionTimers
from reference_qm.core.transfer.sending import Sending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("message-made-of-something-else", breaks=("MQQB-3.1.7.11-01", "MQDMPR-3.1.7.1.30-04"))
class MadeOfSomethingElse(Sending):
    """When a message is sent, a packet has a label of its own."""

    def construct_user_message(self, position: MessagePosition) -> UserMessagePacket:
        label = {"MessagePropertiesHeader.Label": "else"}
        packet: UserMessagePacket = set_fields(super().construct_user_message(position), label)
        return packet


# -- when it carries an acknowledgment -----------------------------------------------------------------------------


@fault("message-never-acknowledges", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class NeverAcknowledges(Sending):
    """When a message is sent, no message carries an acknowledgment."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return False


@fault("message-always-acknowledges", breaks=("MQQB-3.1.7.11-02", "MQQB-3.1.7.11-03"))
class AlwaysAcknowledges(Sending):
    """When a message is sent, a message carries an acknowledgment as soon as there is one."""

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return bool(session.UnackedReceivedMsgCount)


# -- the acknowledgment --------------------------------------------------------------------------------------------


def _carries_acknowledgment(packet: UserMessagePacket) -> bool:
    return packet.SessionHeader is not None


def _unannounced(packet: UserMessagePacket) -> bytes:
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags, PacketSize=0), SessionHeader=None).build()


add(
    "message-acknowledges-fewer",
    "MQQB-3.1.7.11-05",
    "When a message is sent, AckSequenceNumber leaves one out.",
    off_by(UserMessagePacket, "SessionHeader.AckSequenceNumber", -1),
)
add(
    "message-acknowledges-another",
    "MQQB-3.1.7.11-06",
    "When a message is sent, RecoverableMsgAckSeqNumber is not the lowest.",
    off_by(UserMessagePacket, "SessionHeader.RecoverableMsgAckSeqNumber", 1),
)
add(
    "message-counts-without-itself",
    "MQQB-3.1.7.11-07",
    "When a message is sent, a message is not counted itself.",
    off_by(UserMessagePacket, "SessionHeader.UserMsgSequenceNumber", -1),
)
add(
    "message-counts-no-recoverable",
    "MQQB-3.1.7.11-08",
    "When a message is sent, no recoverable message is counted.",
    field_is(UserMessagePacket, "SessionHeader.RecoverableMsgSeqNumber", 0),
)
add(
    "message-acknowledges-one",
    "MQQB-3.1.7.11-09",
    "When a message is sent, only bit 0 of the flags is sent.",
    wrong_fields(
        UserMessagePacket, {"SessionHeader.RecoverableMsgAckFlags": lambda old: old & 1}, _carries_acknowledgment
    ),
)
add(
    "message-has-another-window",
    "MQQB-3.1.7.11-10",
    "When a message is sent, WindowSize is another.",
    off_by(UserMessagePacket, "SessionHeader.WindowSize", 1),
)
add(
    "message-announces-nothing",
    "MQQB-3.1.7.11-11",
    "When a message is sent, neither the SH bit nor the SessionHeader is sent.",
    packets(UserMessagePacket, _unannounced, _carries_acknowledgment),
)

# -- the state that it leaves --------------------------------------------------------------------------------------


def _after_carrying(element: str, value: object) -> Install:
    """Set an element of the session when a message carried an acknowledgment."""

    def make(original: Callable[..., None], *_: Any) -> Callable[..., None]:
        def note(qm: QueueManager, session: Session, now: Now) -> None:
            original(qm, session, now)
            setattr(session, element, value)

        return note

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make)


add(
    "message-keeps-flags",
    "MQQB-3.1.7.11-12",
    "When a message is sent, the flags stay as they are.",
    _after_carrying("RecoverableMsgAckFlags", 0b11),
)
add(
    "message-keeps-count",
    "MQQB-3.1.7.11-13",
    "When a message is sent, the messages stay unacknowledged.",
    _after_carrying("UnackedReceivedMsgCount", 3),
)
add(
    "message-forgets-last-recoverable",
    "MQQB-3.1.7.11-14",
    "When a message is sent, the last acknowledged recoverable message is forgotten.",
    _after_carrying("LastAckedRecoverableMsgSeqNumber", 0),
)
add(
    "message-keeps-timer",
    "MQQB-3.1.7.11-15",
    "When a message is sent, the Session Ack Send Timer runs on.",
    skip_during(Sending.update_user_message, SessionTimers.stop),
)


@fault("no-acknowledgment-in-transactional-messages", breaks="MQQB-3.1.7.11-03", blind=True)
class NoAcknowledgmentInTransactionalMessages(Sending):
    """A transactional message carries no SessionHeader, whenever it is sent."""

    is_transactional = False

    def update_user_message(self, session: Session, position: OutgoingMessagePosition, now: Now) -> UserMessagePacket:
        self.is_transactional = position.UserMessage.TransactionHeader is not None
        return super().update_user_message(session, position, now)

    def is_acknowledgment_due(self, session: Session, now: Now) -> bool:
        return not self.is_transactional and super().is_acknowledgment_due(session, now)
