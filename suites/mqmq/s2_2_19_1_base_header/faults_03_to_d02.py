"""Faults that break the rules MQMQ-2.2.19.1-03 to MQMQ-2.2.19.1-D02."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from harness.faults.calls import replace_step_if
from harness.faults.fields import change_number_in_field, clear_bits, limit_to_sender_role, set_bits, set_field_value
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import (
    change_core_at_restart,
    change_packets_of_kind,
    combine_installers,
    omit_step,
    replace_method_during,
    set_fields,
)
from harness.faults.registry import FaultyCore, add
from harness.faults.sent_messages import (
    add_to_packet_size,
    change_constructed_packet,
    has_header,
    reverse_number_bytes,
)
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    MessageClass,
    SessionAckPacket,
    UserMessagePacket,
)
from reference_qm.core.part import QM
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.core.queueing.message_search import MessageSearch
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.message_admission import MessageAdmission, Outcome
from reference_qm.core.transfer.message_expiring import MessageExpiring
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Message, MessagePosition, Queue, Session
from reference_qm.model.enums import SeekDirection
from reference_qm.model.position_list import Boundary, Entry
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now
from suites.mqmq.s2_2_19_1_base_header.fault_steps import (
    CONNECTION_PARAMETERS_TYPE,
    SESSION_ACK_TYPE,
    USER_MESSAGE_TYPE,
)

PRIORITY_STORED_FOR_ALL_MESSAGES = 3


@fault("receiver-priority-ignored", breaks="MQMQ-2.2.19.1-03")
class ReceiverPriorityIgnored(MessagePositions):
    """The receiver puts messages into the queue in the order of arrival."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=PRIORITY_STORED_FOR_ALL_MESSAGES))


@fault("receiver-puts-message-before-earlier-messages-of-its-priority", breaks="MQMQ-2.2.19.1-03")
class ReceiverPutsMessageBeforeEarlierMessagesOfItsPriority(MessagePositions):
    """The receiver puts a message before the earlier messages of its priority."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        position = super().insert_message(queue, message)
        same = [one for one in queue.MessagePositionList if one.MessageReference.Priority == message.Priority]
        if len(same) > 1:
            same[0].MessageReference, same[-1].MessageReference = same[-1].MessageReference, same[0].MessageReference
        return position


@fault("receiver-priority-1-treated-as-0", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverPriority1TreatedAs0(MessagePositions):
    """The receiver treats messages of priority 1 as messages of priority 0 in a queue."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Priority != 1:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=0))
        position.MessageReference = message
        return position


@fault("receiver-recoverable-message-priority-one-too-high", breaks="MQMQ-2.2.19.1-03", blind=True)
class ReceiverRecoverableMessagePriorityOneTooHigh(MessagePositions):
    """The receiver places a recoverable message in its queue as if its priority were one higher."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        recoverable = message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE
        if not recoverable or message.TransactionIdentifier is not None or message.Priority == 7:
            return super().insert_message(queue, message)
        position = super().insert_message(queue, replace(message, Priority=message.Priority + 1))
        position.MessageReference = message
        return position


class EqualPriorityOrderer(MessageSearch):
    """In each queue, the receiver orders messages by arrival if it treats their priorities as equal."""

    def get_compared_priority(self, priority: int) -> int:
        """Return the priority that the receiver compares."""
        return priority

    def seek_available(self, position: Entry, peek: bool, *direction: SeekDirection) -> MessagePosition | None:
        found = super().seek_available(position, peek, *direction)
        if not isinstance(position, Boundary) or found is None or direction:
            return found
        available = [found]
        while (later := super().seek_available(available[-1], peek)) is not None:
            available.append(later)
        return min(available, key=lambda one: (-self.get_compared_priority(one.MessageReference.Priority), one.order))


@fault("receiver-orders-priority-7-like-priority-6", breaks="MQMQ-2.2.19.1-03")
class ReceiverOrdersPriority7LikePriority6(EqualPriorityOrderer):
    """The receiver treats messages of priority 7 as messages of priority 6."""

    def get_compared_priority(self, priority: int) -> int:
        return min(priority, 6)


class EqualPriorityOrdererAfterRestart(EqualPriorityOrderer):
    """After a restart, the receiver ignores the priorities of messages."""

    def get_compared_priority(self, priority: int) -> int:
        return 0 if getattr(self, "restarted", False) else priority


def _record_restart(qm: QueueManager) -> None:
    vars(qm.message_search)["restarted"] = True


add(
    "receiver-priority-not-observed-after-restart",
    "MQMQ-2.2.19.1-03",
    "After a restart, the receiver orders messages by arrival, regardless of their priorities.",
    combine_installers(replace_part(EqualPriorityOrdererAfterRestart), change_core_at_restart(_record_restart)),
)


add(
    "acceptor-connection-parameters-in-clear",
    "MQMQ-2.2.19.1-05",
    "The acceptor sends a ConnectionParameters packet with IN clear.",
    limit_to_sender_role("acceptor", clear_bits(ConnectionParametersPacket, "BaseHeader.IN")),
)


for _name, _rule, _kind, _path in (
    ("sender-session-ack-base-header-x9-set", "MQMQ-2.2.19.1-10", SESSION_ACK_TYPE, "BaseHeader.X9"),
    (
        "sender-connection-parameters-base-header-x8-set",
        "MQMQ-2.2.19.1-11",
        CONNECTION_PARAMETERS_TYPE,
        "BaseHeader.X8",
    ),
    ("sender-user-message-base-header-x6-set", "MQMQ-2.2.19.1-14", USER_MESSAGE_TYPE, "BaseHeader.X6"),
    ("sender-establish-connection-base-header-x5-set", "MQMQ-2.2.19.1-15", EstablishConnectionPacket, "BaseHeader.X5"),
    ("sender-session-ack-base-header-x4-set", "MQMQ-2.2.19.1-16", SESSION_ACK_TYPE, "BaseHeader.X4"),
    ("sender-user-message-base-header-x3-set", "MQMQ-2.2.19.1-17", USER_MESSAGE_TYPE, "BaseHeader.X3"),
    (
        "sender-connection-parameters-base-header-x2-set",
        "MQMQ-2.2.19.1-18",
        CONNECTION_PARAMETERS_TYPE,
        "BaseHeader.X2",
    ),
    ("sender-establish-connection-base-header-x1-set", "MQMQ-2.2.19.1-19", EstablishConnectionPacket, "BaseHeader.X1"),
    ("sender-user-message-base-header-x0-set", "MQMQ-2.2.19.1-20", USER_MESSAGE_TYPE, "BaseHeader.X0"),
):
    add(
        _name,
        _rule,
        f"The sender sets the reserved field {_path} of a packet.",
        set_bits(_kind, _path),
    )


@fault("receiver-session-ack-with-base-header-x9-ignored", breaks="MQMQ-2.2.19.1-10")
class ReceiverSessionAckWithBaseHeaderX9Ignored(SessionAcks):
    """A queue manager ignores a SessionAck in which bit X9 of BaseHeader.Flags is set."""

    def receive(self, session: Session, packet: SessionAckPacket, now: Now) -> None:
        if not packet.BaseHeader.X9:
            super().receive(session, packet, now)


add(
    "sender-tr-clear-in-traced-message-to-several-queues",
    "MQMQ-2.2.19.1-12",
    "A queue manager sends a traced message to several queues with TR clear.",
    clear_bits(USER_MESSAGE_TYPE, "BaseHeader.TR", has_header("MultiQueueFormatHeader")),
)


add(
    "sender-tr-clear-in-traced-transactional-message",
    "MQMQ-2.2.19.1-12",
    "A queue manager sends a traced transactional message with TR clear.",
    clear_bits(USER_MESSAGE_TYPE, "BaseHeader.TR", has_header("TransactionHeader")),
)


@fault("acceptor-connection-parameters-with-base-header-x2-refused", breaks="MQMQ-2.2.19.1-18")
class AcceptorConnectionParametersWithBaseHeaderX2Refused(SessionOpening):
    """A queue manager closes the session when bit X2 of BaseHeader.Flags is set in a ConnectionParameters request."""

    def receive_parameters_request(self, session: Session, packet: ConnectionParametersPacket, now: Now) -> None:
        if packet.BaseHeader.X2:
            self.qm.session_closing.close(session, "X2 is set", now)
        else:
            super().receive_parameters_request(session, packet, now)


add(
    "sender-user-message-packet-size-without-debug-header",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "The sender's UserMessage carries a PacketSize that excludes the DebugHeader.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: add_to_packet_size(-len(packet.DebugHeader.build()))(packet.build()),
        lambda packet: packet.DebugHeader is not None,
    ),
    blind=True,
)


add(
    "sender-recoverable-message-packet-size-16-bytes-large",
    ("MQMQ-2.2.19.1-22", "MQDMPR-3.1.7.1.32-04"),
    "The sender's recoverable UserMessage carries a PacketSize that includes the SessionHeader.",
    change_packets_of_kind(
        UserMessagePacket,
        lambda packet: add_to_packet_size(16)(packet.build()),
        lambda packet: packet.SessionHeader is not None and bool(packet.UserHeader.DM),
    ),
    blind=True,
)


@fault("receiver-expired-user-message-accepted", breaks=("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"))
class ReceiverExpiredUserMessageAccepted(MessageLifetimes):
    """The receiver accepts expired messages."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "sender-message-past-time-to-reach-queue-sent",
    ("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52"),
    "The sender sends a waiting message that has expired.",
    combine_installers(
        replace_part(ReceiverExpiredUserMessageAccepted), omit_step(MessageExpiring.on_expiration_timer)
    ),
)


def _ignore_clock_changes_after_start(faulty: FaultyCore) -> None:
    """Let the queue manager compute the time from its start time and the seconds since the start."""
    began: list[Now] = []

    def compute_time_from_first_time(now: Now) -> Now:
        first = began[0] if began else now
        began[:] = [first]
        return replace(now, utc_s=first.utc_s + (now.monotonic_ms - first.monotonic_ms) // 1_000)

    faulty.clock_filters.append(compute_time_from_first_time)


add(
    "queue-manager-clock-read-once",
    (
        *("MQMQ-2.2.19.1-23", "MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQQB-3.1.7.1.2-D01"),
        *("MQMQ-2.2.19.2-06", "MQMQ-2.2.19.2-D05", "MQDMPR-3.1.1.12-D60"),
    ),
    "The queue manager reads the clock only once, at its start, and afterwards counts the seconds itself.",
    _ignore_clock_changes_after_start,
)


@fault(
    "receiver-expired-recoverable-user-message-accepted",
    breaks=("MQMQ-2.2.19.1-24", "MQDMPR-3.1.1.12-D52", "MQMQ-2.2.19.1-D04"),
)
class ReceiverExpiredRecoverableUserMessageAccepted(MessageLifetimes):
    """The receiver accepts an expired recoverable message."""

    def has_message_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return not packet.UserHeader.DM and super().has_message_expired(packet, now)


@fault("receiver-expires-message-when-age-equals-time-to-reach-queue", breaks="MQMQ-2.2.19.1-24", blind=True)
class ReceiverExpiresMessageWhenAgeEqualsTimeToReachQueue(MessageAdmission):
    """The receiver treats a message as expired when the age of the message equals its TimeToReachQueue."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        if now.utc_s - packet.UserHeader.SentTime == packet.BaseHeader.TimeToReachQueue:
            return MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT
        return super().check_expiration(session, packet, queue, now)


ExpiryCheck = Callable[[QM, UserMessagePacket, Now], bool]


def _make_expiry_check_without_transactional_messages(original: ExpiryCheck, *_: object) -> ExpiryCheck:
    return lambda qm, packet, now: packet.TransactionHeader is None and original(qm, packet, now)


add(
    "sender-transactional-message-sent-though-expired",
    "MQMQ-2.2.19.1-24",
    "The sender does not check TimeToReachQueue of transactional messages, and sends expired transactional messages.",
    combine_installers(
        replace_method_during(
            MessageSending.send_user_message,
            MessageLifetimes.has_message_expired,
            _make_expiry_check_without_transactional_messages,
        ),
        replace_step_if(
            MessageLifetimes.record_deadline_of_message_to_send,
            lambda given: given.position.UserMessage.TransactionHeader is not None,
            lambda given: None,
        ),
    ),
    blind=True,
)


@fault("receiver-time-to-reach-queue-of-transactional-message-not-checked", breaks="MQMQ-2.2.19.1-24")
class ReceiverTimeToReachQueueOfTransactionalMessageNotChecked(MessageAdmission):
    """The receiver does not check TimeToReachQueue of a transactional message."""

    def check_expiration(self, session: Session, packet: UserMessagePacket, queue: Queue, now: Now) -> Outcome:
        return packet if packet.TransactionHeader is not None else super().check_expiration(session, packet, queue, now)


BASE_FLAGS_OFFSET = 2


def _is_nontransactional_with_priority_3(packet: UserMessagePacket) -> bool:
    return packet.BaseHeader.PR == PRIORITY_STORED_FOR_ALL_MESSAGES and packet.TransactionHeader is None


for _name, _broken_rules, _says, _install in (
    (
        "sender-user-message-base-header-flags-big-endian",
        (
            "MQMQ-2.2.19.1-D01",
            "MQDMPR-3.1.7.1.32-D01",
        ),
        "The sender's UserMessage carries big-endian BaseHeader.Flags.",
        change_packets_of_kind(USER_MESSAGE_TYPE, reverse_number_bytes(BASE_FLAGS_OFFSET, 2)),
    ),
    (
        "receiver-session-ack-sh-one-bit-too-high",
        ("MQMQ-2.2.19.1-D01",),
        "The receiver writes the flag SH of its SessionAck one bit too high.",
        change_number_in_field(SESSION_ACK_TYPE, "BaseHeader.Flags", lambda flags: flags & ~0x30 | (flags & 0x10) << 1),
    ),
    (
        "sender-user-message-default-priority-4",
        (
            "MQMQ-2.2.19.1-D02",
            "MQDMPR-3.1.1.12-D48",
        ),
        "The sender's UserMessage without a requested priority carries priority 4.",
        set_field_value(USER_MESSAGE_TYPE, "BaseHeader.PR", 4, _is_nontransactional_with_priority_3),
    ),
    (
        "sender-user-message-time-to-reach-queue-in-minutes",
        ("MQMQ-2.2.19.1-D04",),
        "The sender writes TimeToReachQueue of a UserMessage in minutes.",
        change_number_in_field(USER_MESSAGE_TYPE, "BaseHeader.TimeToReachQueue", lambda seconds: seconds // 60),
    ),
):
    add(_name, _broken_rules, _says, _install)


add(
    "sender-user-message-priority-0-sent-as-3",
    ("MQMQ-2.2.19.1-D01", "MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"),
    "The sender's UserMessage of priority 0 carries priority 3.",
    change_constructed_packet(
        lambda packet, message: (
            packet
            if packet.BaseHeader.Flags & 7 or packet.UserHeader.TH
            else set_fields(packet, {"BaseHeader.Flags": 3})
        )
    ),
    blind=True,
)


@fault("receiver-sorts-priority-7-below-priority-0", breaks=("MQMQ-2.2.19.1-D02", "MQDMPR-3.1.1.12-D48"))
class ReceiverSortsPriority7BelowPriority0(MessagePositions):
    """The receiver puts messages of priority 7 after the messages of priority 0."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        return super().insert_message(queue, replace(message, Priority=(message.Priority + 1) % 8))


add(
    "sender-recoverable-message-priority-always-3",
    (
        "MQMQ-2.2.19.1-D02",
        "MQDMPR-3.1.1.12-D48",
    ),
    "The sender's recoverable UserMessage carries priority 3 for every requested priority.",
    change_constructed_packet(
        lambda packet, message: (
            set_fields(packet, {"BaseHeader.Flags": lambda flags: flags & ~7 | 3})
            if packet.UserHeader.DM and not packet.UserHeader.TH
            else packet
        )
    ),
    blind=True,
)


add(
    "sender-priority-0-sent-as-default",
    "MQMQ-2.2.19.1-D02",
    "The sender sends a nontransactional message of priority 0 with priority 3.",
    change_number_in_field(
        USER_MESSAGE_TYPE,
        "BaseHeader.PR",
        lambda priority: priority or 3,
        lambda packet: packet.TransactionHeader is None and not packet.MessagePropertiesHeader.Label,
    ),
)
