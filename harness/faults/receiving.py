"""Faults of receiving messages: duplicates, counts, the history, recoverable ones. Spec: MS-MQQB 3.1.5.8, 3.1.6.7."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.primitives import afterwards, beforehand, byte, during, procedure, set_fields, skip
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.codec import BaseHeader, FormatError, MessageClass, Packet, UserMessagePacket
from reference_qm.core.protocol.admission import Admission
from reference_qm.core.protocol.establishing import Establishing
from reference_qm.core.protocol.identifying import Identifying
from reference_qm.core.protocol.in_sequence import InSequence
from reference_qm.core.protocol.initialization import Initialization
from reference_qm.core.protocol.receiving import Receiving
from reference_qm.core.protocol.security_on_receipt import SecurityOnReceipt
from reference_qm.core.protocol.session_acks import SessionAcks
from reference_qm.core.protocol.session_timers import SessionTimers
from reference_qm.core.queue_manager import QueueManager
from reference_qm.model.adm import MessageIDHistoryEntry, RecoverableReceipt, Session
from reference_qm.model.timers import TimerName
from reference_qm.surface.clock import Now

GENERAL, RECOVERABLE = "MQQB-3.1.5.8.2-", "MQQB-3.1.5.8.7-"
AN_HOUR_S = 3_600
FLAG_BITS = 32
PT_AT = 18
"""Where InternalHeader.Flags.PT is in a packet."""
Original = Callable[..., Any]


def _nothing(*arguments: Any) -> None:
    """Stand in for a procedure that is left out."""


# -- 3.1.5.8, 3.1.5.8.4, 3.1.5.11 ----------------------------------------------------------------------------------


def _tolerate_early_message(original: Original) -> Original:
    def refuse(qm: QueueManager, session: Session, packet: Packet, now: Now) -> None:
        if not isinstance(packet, UserMessagePacket):
            original(qm, session, packet, now)

    return refuse


def _pass(original: Original) -> Original:
    return lambda qm, session, packet, queue, now: packet


def _without_session_header(original: Original) -> Original:
    def receive(qm: QueueManager, session: Session, packet: UserMessagePacket, now: Now) -> None:
        original(qm, session, replace(packet, SessionHeader=None), now)

    return receive


def _no_administration(original: Original) -> Original:
    def identify(qm: QueueManager, data: bytes) -> Packet:
        packet: Packet = original(qm, data)
        arrived = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
        if isinstance(packet, UserMessagePacket) and packet.MessagePropertiesHeader.MessageClass == arrived:
            raise FormatError("MessagePropertiesHeader.MessageClass", 0, "a fault", "is ACK_REACH_QUEUE")
        return packet

    return identify


add(
    "early-message-tolerated",
    "MQQB-3.1.5.8-01",
    "A message that comes before the session is open is ignored.",
    procedure(Identifying.refuse_out_of_state, _tolerate_early_message),
)
add(
    "security-not-looked-at",
    "MQQB-3.1.5.8-05",
    "Any security will do.",
    procedure(SecurityOnReceipt.check_security, _pass),
)
add(
    "session-header-of-message-ignored",
    ("MQQB-3.1.5.8-06", "MQQB-3.1.5.8.4-01"),
    "A SessionHeader counts in SessionAcks only.",
    procedure(Receiving.receive_user_message, _without_session_header),
)
add(
    "expired-taken",
    "MQQB-3.1.5.8-07",
    "A message that has expired is taken.",
    procedure(Admission.check_expiration, _pass),
)
add(
    "any-sequence-taken",
    "MQQB-3.1.5.8-08",
    "A transactional message is taken in any order.",
    procedure(InSequence.is_in_sequence, lambda original: lambda *arguments: True),
)
add(
    "administration-refused",
    "MQQB-3.1.5.11-01",
    "An administration acknowledgment is taken for malformed.",
    procedure(Identifying.identify_packet, _no_administration),
)


# -- 3.1.5.8.1 Duplicates ------------------------------------------------------------------------------------------


def _transactional_too(original: Original) -> Original:
    def take(
        qm: QueueManager, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now
    ) -> None:
        if qm.receiving.find_duplicate(packet) is None:
            original(qm, session, packet, receipt, now)
        else:
            receipt.done = True

    return take


def _at(change: Callable[[MessageIDHistoryEntry, Now], int]) -> Callable[..., None]:
    """Give a duplicate's entry another time."""

    def spoil(qm: QueueManager, session: Session, entry: MessageIDHistoryEntry, receipt: Any, now: Now) -> None:
        qm.adm.MessageIDHistoryTable.insert(replace(entry, TimeStamp=change(entry, now)))

    return spoil


add(
    "duplicates-taken",
    ("MQQB-3.1.5.8-03", "MQQB-3.1.5.8.1-01", "MQQB-3.1.5.8.1-04"),
    "No message is a duplicate.",
    procedure(Receiving.find_duplicate, lambda original: lambda qm, packet: None),
)
add(
    "transactional-duplicates-discarded",
    "MQQB-3.1.5.8.1-01",
    "A transactional message with an identifier that came before is discarded.",
    procedure(InSequence.take_transactional, _transactional_too),
)
add(
    "duplicate-keeps-time",
    "MQQB-3.1.5.8.1-02",
    "A duplicate leaves the TimeStamp of its entry as it was.",
    afterwards(Receiving.disregard_duplicate, _at(lambda entry, now: entry.TimeStamp)),
)
add(
    "duplicate-time-of-another-epoch",
    "MQQB-3.1.5.8.1-03",
    "A duplicate sets the TimeStamp to the monotonic clock.",
    afterwards(Receiving.disregard_duplicate, _at(lambda entry, now: now.monotonic_ms // 1000)),
)


# -- 3.1.5.8.2 Counts and the history ------------------------------------------------------------------------------


def _session(change: Callable[[Session], None]) -> Install:
    return afterwards(Receiving.note_activity, lambda qm, session, packet, now: change(session))


def _set(name: str, value: Any) -> Install:
    return _session(lambda session: setattr(session, name, value))


def _entry(change: Callable[[MessageIDHistoryEntry], MessageIDHistoryEntry | None]) -> Install:
    """Enter another entry, or none, into the history."""

    def make(original: Original) -> Original:
        def remember(qm: QueueManager, packet: UserMessagePacket, now: Now) -> MessageIDHistoryEntry:
            entry: MessageIDHistoryEntry = original(qm, packet, now)
            qm.adm.MessageIDHistoryTable.remove(entry)
            changed = change(entry)
            if changed is not None:
                qm.adm.MessageIDHistoryTable.insert(changed)
            return entry

        return remember

    return procedure(Receiving.remember_message, make)


def _ack_send(change: Callable[[int], int]) -> Callable[..., Original]:
    def make(original: Original, *_: Any) -> Original:
        def start(qm: QueueManager, session: Session, name: TimerName, duration_ms: int, now: Now) -> None:
            original(qm, session, name, change(duration_ms) if name is TimerName.SESSION_ACK_SEND else duration_ms, now)

        return start

    return make


def _start_again(qm: QueueManager, session: Session, packet: Any, now: Now) -> None:
    qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, session.AckWaitTimeout // 2, now)


def _count_twice(qm: QueueManager, session: Session, packet: Any) -> None:
    session.MessageReceivedCount += 1


add(
    "received-counted-twice",
    (f"{GENERAL}02", "MQQB-3.1.5.8-04"),
    "MessageReceivedCount grows by two.",
    afterwards(Receiving.count_received, _count_twice),
)
add("unacknowledged-not-counted", f"{GENERAL}03", "UnackedReceivedMsgCount is 1.", _set("UnackedReceivedMsgCount", 1))
add("direct-not-noted", f"{GENERAL}04", "DirectFormatSession stays FALSE.", _set("DirectFormatSession", False))
add("direct-always", f"{GENERAL}04", "DirectFormatSession becomes TRUE always.", _set("DirectFormatSession", True))
add("activity-not-noted", f"{GENERAL}13", "SessionActive stays FALSE.", _set("SessionActive", False))
add(
    "history-other-ordinal",
    f"{GENERAL}06",
    "An entry of the history has the MessageID after that of the message.",
    _entry(lambda entry: set_fields(entry, {"MessageIdentifier.Ordinal": lambda old: old + 500})),
)
add(
    "history-other-time",
    (f"{GENERAL}07", f"{GENERAL}08"),
    "An entry of the history has the time of an hour ago.",
    _entry(lambda entry: replace(entry, TimeStamp=entry.TimeStamp - AN_HOUR_S)),
)
add("history-empty", f"{GENERAL}10", "Nothing is entered into the history.", _entry(lambda entry: None))
add(
    "history-timer-not-started",
    f"{GENERAL}11",
    "The first entry does not start the MessageIDHistory Cleanup Timer.",
    during(Receiving.remember_message, Initialization.start_history_timer, lambda original, *_: _nothing),
)
add(
    "acknowledged-after-whole-timeout",
    f"{GENERAL}12",
    "The Session Ack Send Timer runs for the whole AckWaitTimeout.",
    during(Receiving.note_activity, SessionTimers.start, _ack_send(lambda duration_ms: 2 * duration_ms)),
)
add(
    "acknowledgment-put-off",
    f"{GENERAL}12",
    "Each message starts the Session Ack Send Timer again.",
    afterwards(Receiving.note_activity, _start_again),
)


# -- 3.1.5.8.7 Recoverable messages --------------------------------------------------------------------------------


def _at_once(field: str, change: Callable[[Any], Any]) -> Install:
    """Change what the SessionAck of 32 unacknowledged messages says."""

    def make(original: Original, *_: Any) -> Original:
        return lambda qm, session: set_fields(original(qm, session), {field: change})

    return during(SessionAcks.set_flag, SessionAcks.build, make)


def _clear(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


_untyped = byte(PT_AT, lambda old: old & 0xF0)


def _begin_later(qm: QueueManager, session: Session, now: Now) -> None:
    session.LastAckedRecoverableMsgSeqNumber += session.RecoverableMessageReceivedCount > FLAG_BITS


def _higher_flag(qm: QueueManager, session: Session, now: Now) -> None:
    if session.RecoverableMessageReceivedCount > FLAG_BITS:
        session.RecoverableMsgAckFlags |= session.RecoverableMsgAckFlags << 1


def _count_recoverable_twice(qm: QueueManager, session: Session, packet: UserMessagePacket) -> None:
    session.RecoverableMessageReceivedCount += packet.UserHeader.DM


def _empty_on_restart(faulty: FaultyCore) -> None:
    def empty(again: FaultyCore) -> None:
        for queue in again.core.adm.QueueCollection.values():
            for position in list(queue.MessagePositionList):
                queue.MessagePositionList.remove(position)

    faulty.on_restart.append(empty)


def _express_soon(qm: QueueManager, session: Session, packet: UserMessagePacket, now: Now) -> None:
    if not packet.UserHeader.DM:
        duration_ms = session.RecoverableAckSendTimeout // 2
        qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, duration_ms, now)


add(
    "recoverable-not-forward",
    (f"{GENERAL}48", f"{RECOVERABLE}01", f"{RECOVERABLE}14"),
    "A recoverable message does not bring the acknowledgment forward.",
    during(SessionAcks.set_flag, SessionTimers.start, lambda original, *_: _nothing),
)
add(
    "express-forward",
    f"{RECOVERABLE}01",
    "An express message brings the acknowledgment forward as well.",
    afterwards(Receiving.note_activity, _express_soon),
)
add(
    "acknowledged-at-once-never",
    (f"{RECOVERABLE}02", "MQQB-3.1.5.8-09"),
    "More than 32 recoverable messages wait for their acknowledgment.",
    during(SessionAcks.set_flag, SessionAcks.send, lambda original, *_: _nothing),
)
for number, says, field, change in (
    ("03", "SH is clear in the SessionAck", "BaseHeader.Flags", _clear(BaseHeader.flags(SH=1))),
    ("05", "AckSequenceNumber is one less", "SessionHeader.AckSequenceNumber", lambda old: old - 1),
    ("06", "RecoverableMsgAckSeqNumber is one more", "SessionHeader.RecoverableMsgAckSeqNumber", lambda old: old + 1),
    ("07", "UserMsgSequenceNumber is one more", "SessionHeader.UserMsgSequenceNumber", lambda old: old + 1),
    ("08", "RecoverableMsgSeqNumber is one more", "SessionHeader.RecoverableMsgSeqNumber", lambda old: old + 1),
    ("09", "RecoverableMsgAckFlags lack the highest", "SessionHeader.RecoverableMsgAckFlags", _clear(1 << 31)),
    ("10", "WindowSize is one more", "SessionHeader.WindowSize", lambda old: old + 1),
):
    add(f"at-once-{number}", f"{RECOVERABLE}{number}", f"{says} after 32 messages.", _at_once(field, change))
add(
    "at-once-other-type",
    f"{RECOVERABLE}04",
    "PT is 0 in the SessionAck after 32 messages.",
    during(
        SessionAcks.set_flag,
        Establishing.send,
        lambda original, *_: lambda qm, session, data: original(qm, session, _untyped(data)),
    ),
)
add(
    "at-once-not-begun-anew",
    f"{RECOVERABLE}11",
    "After the SessionAck of 32 messages the numbers go on one after where they should.",
    afterwards(SessionAcks.set_flag, _begin_later),
)
add(
    "flag-of-the-next-set",
    f"{RECOVERABLE}15",
    "After the SessionAck of 32 messages a message sets the flag of the next number too.",
    afterwards(SessionAcks.set_flag, _higher_flag),
)
add("recoverable-not-on-disk", f"{RECOVERABLE}12", "A restart empties every queue.", _empty_on_restart)
add(
    "recoverable-counted-twice",
    f"{RECOVERABLE}13",
    "RecoverableMessageReceivedCount grows by two.",
    afterwards(Receiving.count_received, _count_recoverable_twice),
)


# -- 3.1.2.8, 3.1.6.7 The cleanup of the history -------------------------------------------------------------------


def _forget_all(qm: QueueManager, now: Now) -> None:
    for entry in qm.adm.MessageIDHistoryTable:
        qm.adm.MessageIDHistoryTable.remove(entry)


add(
    "history-kept",
    ("MQQB-3.1.6.7-01", "MQQB-3.1.6.7-02"),
    "No entry is ever deleted.",
    skip(Initialization.on_history_timer),
)
add(
    "history-forgotten-at-once",
    "MQQB-3.1.6.7-02",
    "The MessageIDHistory Cleanup Timer deletes all entries.",
    beforehand(Initialization.on_history_timer, _forget_all),
)
add(
    "history-timer-runs-once",
    "MQQB-3.1.6.7-03",
    "The MessageIDHistory Cleanup Timer does not run again.",
    during(Initialization.on_history_timer, Initialization.start_history_timer, lambda original, *_: _nothing),
)
