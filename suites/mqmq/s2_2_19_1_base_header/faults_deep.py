"""Faults of MS-MQMQ 2.2.19.1 that only special cases reveal: bits that have an effect although they must be ignored,
later attempts, and kinds of messages.
"""

from __future__ import annotations

from harness.faults.fields import bit_clear, change_number, sent_as
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import at_restart, both
from harness.faults.received_messages import change_received
from harness.faults.registry import add
from harness.faults.sent_messages import has_header
from reference_qm.codec import ConnectionParametersPacket, SessionAckPacket, UserMessagePacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.queueing.seeking import Seeking
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.admission import Admission, Outcome
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import MessagePosition, Queue, Session
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.surface.clock import Now

NO_ACKNOWLEDGMENTS = {"MessagePropertiesHeader.Flags": 0}
MESSAGE = UserMessagePacket

for _name, _rule, _says, _changes, _when in (
    (
        "receiver-base-header-reserved-of-recoverable-message-makes-express",
        "MQMQ-2.2.19.1-02",
        "The receiver treats a recoverable message as express when BaseHeader.Reserved is greater than 0x7F.",
        {"UserHeader.Flags": lambda flags: flags & ~(3 << 5)},
        lambda packet: packet.BaseHeader.Reserved > 0x7F and packet.TransactionHeader is None,
    ),
    (
        "receiver-base-header-x8-suppresses-acknowledgments",
        "MQMQ-2.2.19.1-11",
        "The receiver sends no acknowledgments for a message when bit X8 of BaseHeader.Flags is set.",
        NO_ACKNOWLEDGMENTS,
        lambda packet: packet.BaseHeader.X8,
    ),
    (
        "receiver-base-header-x6-changes-priority",
        "MQMQ-2.2.19.1-14",
        "The receiver stores a message with priority 7 when bit X6 of BaseHeader.Flags is set.",
        {"BaseHeader.Flags": lambda flags: flags | 7},
        lambda packet: packet.BaseHeader.X6 and packet.TransactionHeader is None,
    ),
    (
        "receiver-base-header-x4-of-transactional-message-suppresses-acknowledgments",
        "MQMQ-2.2.19.1-16",
        "The receiver sends no acknowledgments for a transactional message when bit X4 of BaseHeader.Flags is set.",
        NO_ACKNOWLEDGMENTS,
        lambda packet: packet.BaseHeader.X4 and packet.TransactionHeader is not None,
    ),
    (
        "receiver-base-header-x0-message-expires",
        "MQMQ-2.2.19.1-20",
        "The receiver removes a message from its queue after one second when bit X0 of BaseHeader.Flags is set.",
        {"UserHeader.TimeToBeReceived": 1},
        lambda packet: packet.BaseHeader.X0,
    ),
):
    add(_name, _rule, _says, change_received(_changes, _when))

add(
    "acceptor-connection-parameters-in-clear",
    "MQMQ-2.2.19.1-05",
    "The acceptor sends a ConnectionParameters packet with IN clear.",
    sent_as("acceptor", bit_clear(ConnectionParametersPacket, "BaseHeader.IN")),
)
add(
    "sender-tr-clear-in-traced-message-to-several-queues",
    "MQMQ-2.2.19.1-12",
    "A queue manager sends a traced message to several queues with TR clear.",
    bit_clear(MESSAGE, "BaseHeader.TR", has_header("MultiQueueFormatHeader")),
)
add(
    "sender-tr-clear-in-traced-transactional-message",
    "MQMQ-2.2.19.1-12",
    "A queue manager sends a traced transactional message with TR clear.",
    bit_clear(MESSAGE, "BaseHeader.TR", has_header("TransactionHeader")),
)
add(
    "sender-priority-0-sent-as-default",
    "MQMQ-2.2.19.1-D02",
    "The sender sends a nontransactional message of priority 0 with priority 3.",
    change_number(
        MESSAGE,
        "BaseHeader.PR",
        lambda priority: priority or 3,
        lambda packet: packet.TransactionHeader is None and not packet.MessagePropertiesHeader.Label,
    ),
)


class ByArrival(Seeking):
    """In each queue, the receiver orders messages by arrival if it treats their priorities as equal."""

    def limit(self, priority: int) -> int:
        """Return the priority that the receiver compares."""
        return priority

    def seek_available(self, position: Entry, peek: bool, *direction: SeekDirection) -> MessagePosition | None:
        found = super().seek_available(position, peek, *direction)
        if not isinstance(position, Boundary) or found is None or direction:
            return found
        available = [found]
        while (later := super().seek_available(available[-1], peek)) is not None:
            available.append(later)
        return min(available, key=lambda one: (-self.limit(one.MessageReference.Priority), one.order))


@fault("receiver-priorities-6-and-7-alike", breaks="MQMQ-2.2.19.1-03")
class ReceiverPriorities6And7Alike(ByArrival):
    """The receiver treats messages of priority 7 as messages of priority 6."""

    def limit(self, priority: int) -> int:
        return min(priority, 6)


class ByArrivalAfterRestart(ByArrival):
    """After a restart, the receiver ignores the priorities of messages."""

    def limit(self, priority: int) -> int:
        return 0 if getattr(self, "restarted", False) else priority


def _note_restart(qm: QueueManager) -> None:
    vars(qm.seeking)["restarted"] = True


add(
    "receiver-priority-not-observed-after-restart",
    "MQMQ-2.2.19.1-03",
    "After a restart, the receiver orders messages by arrival, regardless of their priorities.",
    both(replace_part(ByArrivalAfterRestart), at_restart(_note_restart)),
)


@fault("receiver-time-to-reach-queue-of-transactional-message-not-checked", breaks="MQMQ-2.2.19.1-24")
class ReceiverTimeToReachQueueOfTransactionalMessageNotChecked(Admission):
    """The receiver does not check TimeToReachQueue of a transactional message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet if packet.TransactionHeader is not None else super().check_expiration(session, packet, queue, now)


@fault("receiver-time-to-reach-queue-signed", breaks="MQMQ-2.2.19.1-D04")
class ReceiverTimeToReachQueueSigned(Lifetimes):
    """A queue manager treats every message with a TimeToReachQueue from 0x80000000 to 0xFFFFFFFE as expired."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return 0x80000000 <= packet.BaseHeader.TimeToReachQueue < 0xFFFFFFFF or super().has_expired(packet, now)


@fault("receiver-session-ack-with-base-header-x9-ignored", breaks="MQMQ-2.2.19.1-10")
class ReceiverSessionAckWithBaseHeaderX9Ignored(SessionAcks):
    """A queue manager ignores a SessionAck in which bit X9 of BaseHeader.Flags is set."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.BaseHeader.X9:
            super().receive(session, packet, now)


@fault("acceptor-connection-parameters-with-base-header-x2-refused", breaks="MQMQ-2.2.19.1-18")
class AcceptorConnectionParametersWithBaseHeaderX2Refused(SessionOpening):
    """A queue manager closes the session when bit X2 of BaseHeader.Flags is set in a ConnectionParameters request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.X2:
            self.qm.closing.close(session, "X2 is set", now)
        else:
            super().receive_parameters_request(session, packet, now)
