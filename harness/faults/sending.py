"""Faults of sending messages. Spec: MS-MQQB 3.1.7.1, 3.1.7.1.2, 3.1.7.11."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import both, during, packets, procedure, set_fields, skip, wrong_fields
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, MessageClass, UserMessagePacket
from reference_qm.core.protocol.admin_acks import AdminAcks
from reference_qm.core.protocol.expiring import Expiring
from reference_qm.core.protocol.journaling import Journaling
from reference_qm.core.protocol.sending import Sending
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import Message, Session
from reference_qm.surface.clock import Now

Original = Callable[..., Any]


# -- 3.1.7.1.2 Checking for message expiration ---------------------------------------------------------------------


def _other_class(original: Original) -> Original:
    def acknowledge(qm: QueueManager, message: Message, _: MessageClass, now: Now) -> None:
        original(qm, message, MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT, now)

    return acknowledge


def _all_journaled(original: Original) -> Original:
    def journal(qm: QueueManager, position: Any) -> None:
        position.MessageReference = replace(position.MessageReference, NegativeJournalingRequested=True)
        original(qm, position)

    return journal


add(
    "expired-message-sent",
    ("MQQB-3.1.7.1-06", "MQQB-3.1.7.1.2-01", "MQQB-3.1.7.1.2-02"),
    "Messages are sent however late it is.",
    both(procedure(Sending.has_expired, lambda original: lambda *_: False), skip(Expiring.on_expiration_timer)),
)
add(
    "expiration-not-acknowledged",
    "MQQB-3.1.7.1.2-03",
    "Expired messages are not acknowledged.",
    skip(AdminAcks.acknowledge_failure),
)
add(
    "expiration-acknowledged-otherwise",
    "MQQB-3.1.7.1.2-03",
    "Expired messages are acknowledged with the class of those that were not received in time.",
    procedure(AdminAcks.acknowledge_failure, _other_class),
)
add(
    "expired-not-journaled",
    "MQQB-3.1.7.1.2-06",
    "Expired messages are not kept as dead letters.",
    skip(Journaling.journal_failed),
)
add(
    "expired-all-journaled",
    "MQQB-3.1.7.1.2-06",
    "Expired messages are kept as dead letters whether they ask for it or not.",
    procedure(Journaling.journal_failed, _all_journaled),
)


# -- 3.1.7.11 Construction of a UserMessage packet -----------------------------------------------------------------


def _carrying(packet: UserMessagePacket) -> bool:
    return packet.SessionHeader is not None


def _header(name: str, change: Any) -> Install:
    """Let the acknowledgment in a message have another field."""
    return wrong_fields(UserMessagePacket, {f"SessionHeader.{name}": change}, _carrying)


def _due(when: Callable[[QueueManager, Session, Now], bool]) -> Install:
    return procedure(Sending.is_acknowledgment_due, lambda original: when)


def _after_carrying(name: str, value: object) -> Install:
    """Set an element of the session when a message carried an acknowledgment."""

    def make(original: Original, *_: Any) -> Original:
        def note(qm: QueueManager, session: Session, now: Now) -> None:
            original(qm, session, now)
            setattr(session, name, value)

        return note

    return during(Sending.update_user_message, SessionAcks.note_acknowledged, make)


def _nothing(*_: Any) -> None:
    return None


def _unannounced(packet: UserMessagePacket) -> bytes:
    flags = packet.BaseHeader.Flags & ~BaseHeader.flags(SH=1)
    return replace(packet, BaseHeader=replace(packet.BaseHeader, Flags=flags, PacketSize=0), SessionHeader=None).build()


for _name, _rules, _says, _install in (
    (
        "made-of-something-else",
        "01",
        "a packet has a label of its own",
        procedure(
            Sending.construct_user_message,
            lambda original: lambda *given: set_fields(original(*given), {"MessagePropertiesHeader.Label": "else"}),
        ),
    ),
    ("never-acknowledges", "02 03", "no message carries an acknowledgment", _due(lambda *_: False)),
    (
        "always-acknowledges",
        "02 03",
        "a message carries an acknowledgment as soon as there is one",
        _due(lambda qm, session, now: bool(session.UnackedReceivedMsgCount)),
    ),
    ("acknowledges-fewer", "05", "AckSequenceNumber leaves one out", _header("AckSequenceNumber", lambda old: old - 1)),
    (
        "acknowledges-another",
        "06",
        "RecoverableMsgAckSeqNumber is not the lowest",
        _header("RecoverableMsgAckSeqNumber", lambda old: old + 1),
    ),
    (
        "counts-without-itself",
        "07",
        "a message is not counted itself",
        _header("UserMsgSequenceNumber", lambda old: old - 1),
    ),
    ("counts-no-recoverable", "08", "no recoverable message is counted", _header("RecoverableMsgSeqNumber", 0)),
    (
        "acknowledges-one",
        "09",
        "only bit 0 of the flags is sent",
        _header("RecoverableMsgAckFlags", lambda old: old & 1),
    ),
    ("has-another-window", "10", "WindowSize is another", _header("WindowSize", lambda old: old + 1)),
    (
        "announces-nothing",
        "11",
        "neither the SH bit nor the SessionHeader is sent",
        packets(UserMessagePacket, _unannounced, _carrying),
    ),
    ("keeps-flags", "12", "the flags stay as they are", _after_carrying("RecoverableMsgAckFlags", 0b11)),
    ("keeps-count", "13", "the messages stay unacknowledged", _after_carrying("UnackedReceivedMsgCount", 3)),
    (
        "forgets-last-recoverable",
        "14",
        "the last acknowledged recoverable message is forgotten",
        _after_carrying("LastAckedRecoverableMsgSeqNumber", 0),
    ),
    (
        "keeps-timer",
        "15",
        "the Session Ack Send Timer runs on",
        during(Sending.update_user_message, SessionTimers.stop, lambda original, *_: _nothing),
    ),
):
    add(
        f"message-{_name}",
        [f"MQQB-3.1.7.11-{rule}" for rule in _rules.split()],
        f"When a message is sent, {_says}.",
        _install,
    )
