"""Faults of MS-MQQB 3.1.5.8.7 Recoverable Message Processing."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from harness.faults.primitives import at_restart, byte, during, set_fields, skip_during
from harness.faults.registry import Install, add
from reference_qm.codec import BaseHeader, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.connecting import Connecting
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.core.transfer.session_acks import FLAG_BITS, SessionAcks
from reference_qm.model.adm import MessagePosition, RecoverableReceipt, Session
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.surface.clock import Now

PT_AT = 18
"""Where InternalHeader.Flags.PT is in a packet."""


@fault("express-forward", breaks="MQQB-3.1.5.8.7-01")
class ExpressForward(Receiving):
    """An express message brings the acknowledgment forward as well."""

    def note_activity(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        super().note_activity(session, packet, now)
        if not packet.UserHeader.DM:
            duration_ms = session.RecoverableAckSendTimeout // 2
            self.qm.session_timers.start(session, TimerName.SESSION_ACK_SEND, duration_ms, now)


@fault("refused-message-holds-flags-back", breaks="MQQB-3.1.5.8.7-15")
class RefusedMessageHoldsFlagsBack(Receiving):
    """No recoverable message is acknowledged as stored that came behind one which was not taken."""

    def await_consequences(self, session: Session, receipt: RecoverableReceipt, now: Now) -> None:
        receipt.done = False


@fault("express-counted-as-recoverable", breaks="MQQB-3.1.5.8.7-13")
class ExpressCountedAsRecoverable(Receiving):
    """Express messages increment RecoverableMessageReceivedCount as well."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        session.RecoverableMessageReceivedCount += 1 - packet.UserHeader.DM


@fault("recoverable-counted-twice", breaks="MQQB-3.1.5.8.7-13")
class RecoverableCountedTwice(Receiving):
    """RecoverableMessageReceivedCount grows by two."""

    def count_received(self, session: Session, packet: UserMessagePacket) -> None:
        super().count_received(session, packet)
        session.RecoverableMessageReceivedCount += packet.UserHeader.DM


def _lost(is_lost: Callable[[MessagePosition], bool]) -> Install:
    """Lose messages with a restart."""

    def lose(qm: QueueManager) -> None:
        for queue in qm.adm.QueueCollection.values():
            for position in filter(is_lost, list(queue.MessagePositionList)):
                queue.MessagePositionList.remove(position)

    return at_restart(lose)


add("recoverable-not-on-disk", "MQQB-3.1.5.8.7-12", "A restart empties every queue.", _lost(lambda position: True))
add(
    "transactional-not-on-disk",
    "MQQB-3.1.5.8.7-12",
    "A restart empties every transactional queue.",
    _lost(lambda position: position.QueueReference.Transactional),
)


# -- the SessionAck of 32 messages ---------------------------------------------------------------------------------

add(
    "acknowledged-at-once-never",
    ("MQQB-3.1.5.8.7-02", "MQQB-3.1.5.8-09"),
    "More than 32 recoverable messages wait for their acknowledgment.",
    skip_during(SessionAcks.set_flag, SessionAcks.send),
)


def _at_once(path: str, change: Callable[[int], int]) -> Install:
    """Change a field of the SessionAck of 32 unacknowledged messages."""
    return during(
        SessionAcks.set_flag,
        SessionAcks.build,
        lambda original, *_: lambda qm, session: set_fields(original(qm, session), {path: change}),
    )


def _clear(bits: int) -> Callable[[int], int]:
    return lambda flags: flags & ~bits


for _name, _rule, _says, _path, _change in (
    (
        "at-once-03",
        "MQQB-3.1.5.8.7-03",
        "SH is clear in the SessionAck after 32 messages.",
        "BaseHeader.Flags",
        _clear(BaseHeader.flags(SH=1)),
    ),
    (
        "at-once-05",
        "MQQB-3.1.5.8.7-05",
        "AckSequenceNumber is one less after 32 messages.",
        "SessionHeader.AckSequenceNumber",
        lambda old: old - 1,
    ),
    (
        "at-once-06",
        "MQQB-3.1.5.8.7-06",
        "RecoverableMsgAckSeqNumber is one more after 32 messages.",
        "SessionHeader.RecoverableMsgAckSeqNumber",
        lambda old: old + 1,
    ),
    (
        "at-once-07",
        "MQQB-3.1.5.8.7-07",
        "UserMsgSequenceNumber is one more after 32 messages.",
        "SessionHeader.UserMsgSequenceNumber",
        lambda old: old + 1,
    ),
    (
        "at-once-08",
        "MQQB-3.1.5.8.7-08",
        "RecoverableMsgSeqNumber is one more after 32 messages.",
        "SessionHeader.RecoverableMsgSeqNumber",
        lambda old: old + 1,
    ),
    (
        "at-once-09",
        "MQQB-3.1.5.8.7-09",
        "RecoverableMsgAckFlags lack the highest after 32 messages.",
        "SessionHeader.RecoverableMsgAckFlags",
        _clear(1 << 31),
    ),
    (
        "at-once-10",
        "MQQB-3.1.5.8.7-10",
        "WindowSize is one more after 32 messages.",
        "SessionHeader.WindowSize",
        lambda old: old + 1,
    ),
):
    add(_name, _rule, _says, _at_once(_path, _change))

_untyped = byte(PT_AT, lambda old: old & 0xF0)
add(
    "at-once-other-type",
    "MQQB-3.1.5.8.7-04",
    "PT is 0 in the SessionAck after 32 messages.",
    during(
        SessionAcks.set_flag,
        Connecting.send,
        lambda original, *_: lambda qm, session, data: original(qm, session, _untyped(data)),
    ),
)


@fault("at-once-not-begun-anew", breaks="MQQB-3.1.5.8.7-11")
class NotBegunAnew(SessionAcks):
    """After the SessionAck of 32 messages the numbers go on one after where they should."""

    def set_flag(self, session: Session, now: Now) -> None:
        super().set_flag(session, now)
        session.LastAckedRecoverableMsgSeqNumber += session.RecoverableMessageReceivedCount > FLAG_BITS


@fault("flag-of-the-next-set", breaks="MQQB-3.1.5.8.7-15")
class FlagOfTheNextSet(SessionAcks):
    """A message sets the flag of the next number too."""

    def set_flag(self, session: Session, now: Now) -> None:
        super().set_flag(session, now)
        session.RecoverableMsgAckFlags |= session.RecoverableMsgAckFlags << 1 & (1 << FLAG_BITS) - 1


@fault("recoverable-waits-for-the-timer-of-express", breaks="MQQB-3.1.5.8.7-14", blind=True)
class RecoverableWaitsForTheTimerOfExpress(SessionAcks):
    """The first recoverable message leaves a Session Ack Send Timer as it is that an express one has started."""

    def set_flag(self, session: Session, now: Now) -> None:
        key = TimerKey(TimerName.SESSION_ACK_SEND, session.number)
        left_ms = self.qm.timers.remaining_ms(key, now.monotonic_ms)
        only = session.UnackedReceivedMsgCount - session.carried == 1
        super().set_flag(session, now)
        if left_ms is not None and not only and self.qm.timers.is_running(key):
            self.qm.timers.start(key, now.monotonic_ms, left_ms)


@fault("last-of-thirty-two-not-flagged", breaks="MQQB-3.1.5.8.7-09", blind=True)
class LastOfThirtyTwoNotFlagged(SessionAcks):
    """The highest flag is never set."""

    def set_flag(self, session: Session, now: Now) -> None:
        super().set_flag(session, now)
        session.RecoverableMsgAckFlags &= 0x7FFFFFFF


@fault("recoverable-numbered-by-all-messages-after-an-ack", breaks="MQQB-3.1.5.8.7-11", blind=True)
class RecoverableNumberedByAllMessagesAfterAnAck(SessionAcks):
    """After an acknowledgment recoverable messages are numbered on from the count of all messages."""

    def note_acknowledged(self, session: Session, now: Now) -> None:
        super().note_acknowledged(session, now)
        express = session.MessageReceivedCount - session.RecoverableMessageReceivedCount
        session.LastAckedRecoverableMsgSeqNumber = session.LastAckedRecoverableMsgSeqNumber + express & 0xFFFF
