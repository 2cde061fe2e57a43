"""Faults of MQDMPR-3.1.1.12-35 to MQDMPR-3.1.1.12-D50 in which only some messages are acknowledged wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, faulty_only_if, replace_part
from harness.faults.registry import Install, add
from reference_qm.codec import MessageClass, MessagePropertiesHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.core.transfer.final_acks import FinalAcks
from reference_qm.core.transfer.message_tracing import MessageTracing
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.model.adm import Message, MessagePosition
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.surface.clock import Now

POSITIVE_ARRIVAL_ACK_FLAG, POSITIVE_RECEIVE_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG = (
    MessagePropertiesHeader.flags(**{bit: 1}) for bit in ("PA", "PR", "NA", "NR")
)
ARRIVAL_ACK_CLASS = MessageClass.MQMSG_CLASS_ACK_REACH_QUEUE
RECEIVE_ACK_CLASS = MessageClass.MQMSG_CLASS_ACK_RECEIVE
QUEUE_DELETED_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_DELETED
PURGED_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_PURGED
RECEIVE_TIMEOUT_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_RECEIVE_TIMEOUT
BAD_QUEUE_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_BAD_DST_Q
QUOTA_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_Q_EXCEED_QUOTA
ACCESS_DENIED_NACK_CLASS = MessageClass.MQMSG_CLASS_NACK_ACCESS_DENIED

_MessageCondition = Callable[[Message], bool]


def _is_recoverable(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.RECOVERABLE and message.TransactionIdentifier is None


def _is_express(message: Message) -> bool:
    return message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS


def _is_transactional(message: Message) -> bool:
    return message.TransactionIdentifier is not None


def _omit_acks(which: set[MessageClass], when: _MessageCondition) -> Install:
    """Build a fault that omits the acknowledgments of some messages."""

    class FinalAckOmitter(AdminAcks):
        def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
            if not (message_class in which and when(message)):
                super().send(message, message_class, now)

    return replace_part(FinalAckOmitter)


def _send_unrequested_acks(which: set[MessageClass], when: _MessageCondition) -> Install:
    """Build a fault that acknowledges the removal or the refusal of some messages although they request no
    acknowledgment.
    """

    class UnrequestedAckSender(AdminAcks):
        def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
            super().acknowledge_failure(
                self._add_ack_request_bit(message, message_class, NEGATIVE_ARRIVAL_ACK_FLAG), message_class, now
            )

        def acknowledge_arrival(self, position: MessagePosition, now: Now) -> None:
            kept = position.MessageReference
            position.MessageReference = self._add_ack_request_bit(kept, ARRIVAL_ACK_CLASS, POSITIVE_ARRIVAL_ACK_FLAG)
            super().acknowledge_arrival(position, now)
            position.MessageReference = kept

        def _add_ack_request_bit(self, message: Message, message_class: MessageClass, bit: int) -> Message:
            if message_class in which and when(message):
                return replace(message, AcknowledgementsRequested=message.AcknowledgementsRequested | bit)
            return message

    return replace_part(UnrequestedAckSender)


class _SecondAckOmitter(AdminAcks):
    """Do not send the second acknowledgment of each selected class to an administration queue."""

    omitted_ack_classes: frozenset[MessageClass] = frozenset()

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts: dict[tuple[str | None, MessageClass], int] = {}

    def send(self, message: Message, message_class: MessageClass, now: Now) -> None:
        key = (message.AdministrationQueueFormatName, message_class)
        self.counts[key] = self.counts.get(key, 0) + 1
        if message_class not in self.omitted_ack_classes or self.counts[key] != 2:
            super().send(message, message_class, now)


def _omit_second_ack_of_classes(*which: MessageClass) -> Install:
    return replace_part(type("SecondOmitted", (_SecondAckOmitter,), {"omitted_ack_classes": frozenset(which)}))


def _make_condition_for_exact_ack_request_bits(*bits: int) -> _MessageCondition:
    wanted = sum(bits)
    return lambda message: message.AcknowledgementsRequested & 0xF == wanted


_LARGE_BODY_BYTES = 50_000

for _name, _rule, _says, _install in (
    (
        "receiver-request-of-pa-with-nr-acknowledges-no-arrival",
        "MQDMPR-3.1.1.12-35",
        "The receiver does not acknowledge the arrival of a message that requests PA and NR.",
        _omit_acks(
            {ARRIVAL_ACK_CLASS},
            _make_condition_for_exact_ack_request_bits(POSITIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG),
        ),
    ),
    (
        "receiver-request-of-all-four-acknowledges-no-receive",
        "MQDMPR-3.1.1.12-35",
        "The receiver does not acknowledge the receive of a message that requests PA, PR, NA and NR.",
        _omit_acks(
            {RECEIVE_ACK_CLASS},
            _make_condition_for_exact_ack_request_bits(
                POSITIVE_ARRIVAL_ACK_FLAG,
                POSITIVE_RECEIVE_ACK_FLAG,
                NEGATIVE_ARRIVAL_ACK_FLAG,
                NEGATIVE_RECEIVE_ACK_FLAG,
            ),
        ),
    ),
    (
        "receiver-request-of-pr-with-na-acknowledges-no-refusal",
        "MQDMPR-3.1.1.12-35",
        "The receiver does not acknowledge the refusal of a message that requests PR and NA.",
        _omit_acks(
            {BAD_QUEUE_NACK_CLASS, QUOTA_NACK_CLASS},
            _make_condition_for_exact_ack_request_bits(POSITIVE_RECEIVE_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG),
        ),
    ),
    (
        "receiver-refused-message-to-missing-queue-acknowledged-without-request",
        "MQDMPR-3.1.1.12-37",
        "The receiver acknowledges a message that requests no acknowledgments if the queue of the message is missing.",
        _send_unrequested_acks({BAD_QUEUE_NACK_CLASS}, lambda message: not message.AcknowledgementsRequested),
    ),
    (
        "receiver-message-to-full-queue-acknowledged-without-request",
        "MQDMPR-3.1.1.12-37",
        "The receiver acknowledges a message that requests no acknowledgments if the queue of the message is full.",
        _send_unrequested_acks({QUOTA_NACK_CLASS}, lambda message: not message.AcknowledgementsRequested),
    ),
    (
        "receiver-transactional-arrival-acknowledged-without-request",
        "MQDMPR-3.1.1.12-37",
        "The receiver acknowledges the arrival of a transactional message that requests no acknowledgments.",
        _send_unrequested_acks(
            {ARRIVAL_ACK_CLASS}, lambda message: _is_transactional(message) and not message.AcknowledgementsRequested
        ),
    ),
    (
        "receiver-second-arrival-not-acknowledged",
        "MQDMPR-3.1.1.12-38",
        "The receiver does not acknowledge the arrival of the second message that names the same administration queue.",
        _omit_second_ack_of_classes(ARRIVAL_ACK_CLASS),
    ),
    (
        "receiver-arrival-of-large-message-not-acknowledged",
        "MQDMPR-3.1.1.12-38",
        "The receiver does not acknowledge the arrival of a message with a body of more than 50,000 bytes.",
        _omit_acks({ARRIVAL_ACK_CLASS}, lambda message: len(message.Body) > _LARGE_BODY_BYTES),
    ),
    (
        "receiver-express-arrival-not-acknowledged",
        "MQDMPR-3.1.1.12-38",
        "The receiver does not acknowledge the arrival of an express message.",
        _omit_acks({ARRIVAL_ACK_CLASS}, _is_express),
    ),
    (
        "receiver-second-receive-not-acknowledged",
        "MQDMPR-3.1.1.12-39",
        "The receiver does not acknowledge the receive of the second message that names the same administration queue.",
        _omit_second_ack_of_classes(RECEIVE_ACK_CLASS),
    ),
    (
        "receiver-receive-of-express-message-not-acknowledged",
        "MQDMPR-3.1.1.12-39",
        "The receiver does not acknowledge the receive of an express message.",
        _omit_acks({RECEIVE_ACK_CLASS}, _is_express),
    ),
    (
        "receiver-second-refusal-not-acknowledged",
        "MQDMPR-3.1.1.12-40",
        "The receiver does not acknowledge the second message that it refuses with the same class for one "
        "administration queue.",
        _omit_second_ack_of_classes(BAD_QUEUE_NACK_CLASS, QUOTA_NACK_CLASS),
    ),
    (
        "receiver-express-refusal-for-full-queue-not-acknowledged",
        "MQDMPR-3.1.1.12-40",
        "The receiver does not acknowledge an express message to a full queue.",
        _omit_acks({QUOTA_NACK_CLASS}, _is_express),
    ),
    (
        "receiver-second-removal-not-acknowledged",
        "MQDMPR-3.1.1.12-41",
        "The receiver does not acknowledge the second message that leaves its queue unread and names the same "
        "administration queue.",
        _omit_second_ack_of_classes(PURGED_NACK_CLASS, QUEUE_DELETED_NACK_CLASS, RECEIVE_TIMEOUT_NACK_CLASS),
    ),
    (
        "receiver-recoverable-expiration-not-acknowledged",
        "MQDMPR-3.1.1.12-41",
        "The receiver does not acknowledge a recoverable message that was not received in time.",
        _omit_acks({RECEIVE_TIMEOUT_NACK_CLASS}, _is_recoverable),
    ),
    (
        "receiver-recoverable-message-of-deleted-queue-not-acknowledged",
        "MQDMPR-3.1.1.12-41",
        "The receiver does not acknowledge a recoverable message whose queue was deleted.",
        _omit_acks({QUEUE_DELETED_NACK_CLASS}, _is_recoverable),
    ),
    (
        "receiver-full-reach-queue-acknowledges-no-transactional-refusal",
        "MQDMPR-3.1.1.12-42",
        "The receiver does not acknowledge a refused transactional message that requests PA and NA.",
        _omit_acks(
            set(MessageClass) - {ARRIVAL_ACK_CLASS},
            lambda one: (
                _is_transactional(one)
                and _make_condition_for_exact_ack_request_bits(POSITIVE_ARRIVAL_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG)(
                    one
                )
            ),
        ),
    ),
    (
        "receiver-full-reach-queue-acknowledges-no-full-queue",
        "MQDMPR-3.1.1.12-42",
        "The receiver does not acknowledge a message that requests PA and NA if the queue of the message is full.",
        _omit_acks(
            {QUOTA_NACK_CLASS},
            _make_condition_for_exact_ack_request_bits(POSITIVE_ARRIVAL_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG),
        ),
    ),
    (
        "receiver-nack-receive-acknowledges-no-missing-queue",
        "MQDMPR-3.1.1.12-43",
        "The receiver does not acknowledge a message that requests NA and NR if the queue of the message is missing.",
        _omit_acks(
            {BAD_QUEUE_NACK_CLASS},
            _make_condition_for_exact_ack_request_bits(NEGATIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG),
        ),
    ),
    (
        "receiver-nack-receive-acknowledges-no-deleted-queue",
        "MQDMPR-3.1.1.12-43",
        "The receiver does not acknowledge a message that requests NA and NR when its queue is deleted.",
        _omit_acks(
            {QUEUE_DELETED_NACK_CLASS},
            _make_condition_for_exact_ack_request_bits(NEGATIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG),
        ),
    ),
    (
        "receiver-full-receive-acknowledges-no-purge",
        "MQDMPR-3.1.1.12-44",
        "The receiver does not acknowledge a purged message that requests PR, NA and NR.",
        _omit_acks(
            {PURGED_NACK_CLASS},
            _make_condition_for_exact_ack_request_bits(
                POSITIVE_RECEIVE_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG
            ),
        ),
    ),
    (
        "receiver-full-receive-acknowledges-no-transactional-receive",
        "MQDMPR-3.1.1.12-44",
        "The receiver does not acknowledge the receive of a transactional message that requests PR, NA and NR.",
        _omit_acks(
            {RECEIVE_ACK_CLASS},
            lambda one: (
                _is_transactional(one)
                and _make_condition_for_exact_ack_request_bits(
                    POSITIVE_RECEIVE_ACK_FLAG, NEGATIVE_ARRIVAL_ACK_FLAG, NEGATIVE_RECEIVE_ACK_FLAG
                )(one)
            ),
        ),
    ),
    (
        "receiver-nack-reach-queue-omitted-for-missing-queue",
        "MQDMPR-3.1.1.12-D50",
        "The receiver does not acknowledge a message that requests only NA if the queue of the message is missing.",
        _omit_acks({BAD_QUEUE_NACK_CLASS}, _make_condition_for_exact_ack_request_bits(NEGATIVE_ARRIVAL_ACK_FLAG)),
    ),
):
    add(_name, _rule, _says, _install, blind=True)


class _AckClassChanger(AdminAcks):
    """Send some acknowledgments with a wrong message class; a subclass selects these acknowledgments."""

    right_ack_class = ARRIVAL_ACK_CLASS
    wrong_ack_class = RECEIVE_ACK_CLASS

    def has_wrong_ack_class(self, message: Message) -> bool:
        """Return whether the acknowledgment of a message gets the wrong class."""
        raise NotImplementedError

    def build(self, message: Message, message_class: MessageClass, now: Now) -> Message:
        ack = super().build(message, message_class, now)
        return (
            replace(ack, Class=self.wrong_ack_class)
            if message_class is self.right_ack_class and self.has_wrong_ack_class(message)
            else ack
        )


class _WrongClassSetterInAcksAfterFirst(_AckClassChanger):
    """Send each acknowledgment after the first with a wrong message class."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent = 0

    def has_wrong_ack_class(self, message: Message) -> bool:
        self.sent += 1
        return self.sent > 1


class _RecoverableMessageAckClassChanger(_AckClassChanger):
    """Send a wrong class in the acknowledgment of a recoverable nontransactional message."""

    def has_wrong_ack_class(self, message: Message) -> bool:
        return _is_recoverable(message)


class _TransactionalMessageAckClassChanger(_AckClassChanger):
    """Send a wrong class in the acknowledgment of a transactional message."""

    def has_wrong_ack_class(self, message: Message) -> bool:
        return _is_transactional(message)


class _ExpressMessageAckClassChanger(_AckClassChanger):
    """Send a wrong class in the acknowledgment of an express message."""

    def has_wrong_ack_class(self, message: Message) -> bool:
        return _is_express(message)


for _rule, _right, _wrong, _kind, _case in (
    (
        "MQDMPR-3.1.1.12-D07",
        ARRIVAL_ACK_CLASS,
        RECEIVE_ACK_CLASS,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    ("MQDMPR-3.1.1.12-D07", ARRIVAL_ACK_CLASS, RECEIVE_ACK_CLASS, _WrongClassSetterInAcksAfterFirst, "second"),
    (
        "MQDMPR-3.1.1.12-D09",
        RECEIVE_ACK_CLASS,
        ARRIVAL_ACK_CLASS,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    ("MQDMPR-3.1.1.12-D09", RECEIVE_ACK_CLASS, ARRIVAL_ACK_CLASS, _ExpressMessageAckClassChanger, "express"),
    (
        "MQDMPR-3.1.1.12-D10",
        BAD_QUEUE_NACK_CLASS,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    (
        "MQDMPR-3.1.1.12-D10",
        BAD_QUEUE_NACK_CLASS,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _RecoverableMessageAckClassChanger,
        "recoverable",
    ),
    (
        "MQDMPR-3.1.1.12-D13",
        QUOTA_NACK_CLASS,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    (
        "MQDMPR-3.1.1.12-D13",
        QUOTA_NACK_CLASS,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _WrongClassSetterInAcksAfterFirst,
        "second",
    ),
    ("MQDMPR-3.1.1.12-D14", ACCESS_DENIED_NACK_CLASS, BAD_QUEUE_NACK_CLASS, _ExpressMessageAckClassChanger, "express"),
    (
        "MQDMPR-3.1.1.12-D14",
        ACCESS_DENIED_NACK_CLASS,
        BAD_QUEUE_NACK_CLASS,
        _WrongClassSetterInAcksAfterFirst,
        "second",
    ),
    (
        "MQDMPR-3.1.1.12-D15",
        MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED,
        MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
        _ExpressMessageAckClassChanger,
        "express",
    ),
    (
        "MQDMPR-3.1.1.12-D15",
        MessageClass.MQMSG_CLASS_NACK_HOP_COUNT_EXCEEDED,
        MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    (
        "MQDMPR-3.1.1.12-D16",
        MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
        ACCESS_DENIED_NACK_CLASS,
        _ExpressMessageAckClassChanger,
        "express",
    ),
    (
        "MQDMPR-3.1.1.12-D16",
        MessageClass.MQMSG_CLASS_NACK_BAD_SIGNATURE,
        ACCESS_DENIED_NACK_CLASS,
        _WrongClassSetterInAcksAfterFirst,
        "second",
    ),
    (
        "MQDMPR-3.1.1.12-D17",
        MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
        ACCESS_DENIED_NACK_CLASS,
        _ExpressMessageAckClassChanger,
        "express",
    ),
    (
        "MQDMPR-3.1.1.12-D17",
        MessageClass.MQMSG_CLASS_NACK_BAD_ENCRYPTION,
        ACCESS_DENIED_NACK_CLASS,
        _WrongClassSetterInAcksAfterFirst,
        "second",
    ),
    (
        "MQDMPR-3.1.1.12-D20",
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
        _ExpressMessageAckClassChanger,
        "express",
    ),
    (
        "MQDMPR-3.1.1.12-D20",
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_MSG,
        MessageClass.MQMSG_CLASS_NACK_NOT_TRANSACTIONAL_Q,
        _RecoverableMessageAckClassChanger,
        "recoverable",
    ),
    ("MQDMPR-3.1.1.12-D23", QUEUE_DELETED_NACK_CLASS, PURGED_NACK_CLASS, _WrongClassSetterInAcksAfterFirst, "second"),
    (
        "MQDMPR-3.1.1.12-D23",
        QUEUE_DELETED_NACK_CLASS,
        PURGED_NACK_CLASS,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    ("MQDMPR-3.1.1.12-D24", PURGED_NACK_CLASS, QUEUE_DELETED_NACK_CLASS, _WrongClassSetterInAcksAfterFirst, "second"),
    (
        "MQDMPR-3.1.1.12-D24",
        PURGED_NACK_CLASS,
        QUEUE_DELETED_NACK_CLASS,
        _RecoverableMessageAckClassChanger,
        "recoverable",
    ),
    ("MQDMPR-3.1.1.12-D25", RECEIVE_TIMEOUT_NACK_CLASS, PURGED_NACK_CLASS, _WrongClassSetterInAcksAfterFirst, "second"),
    (
        "MQDMPR-3.1.1.12-D25",
        RECEIVE_TIMEOUT_NACK_CLASS,
        PURGED_NACK_CLASS,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    (
        "MQDMPR-3.1.1.12-D12",
        MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _RecoverableMessageAckClassChanger,
        "recoverable",
    ),
    (
        "MQDMPR-3.1.1.12-D12",
        MessageClass.MQMSG_CLASS_NACK_REACH_QUEUE_TIMEOUT,
        MessageClass.MQMSG_CLASS_NACK_DELETED,
        _TransactionalMessageAckClassChanger,
        "transactional",
    ),
    (
        "MQDMPR-3.1.1.12-D27",
        MessageClass.MQMSG_CLASS_NACK_RECEIVE_REJECTED,
        PURGED_NACK_CLASS,
        _WrongClassSetterInAcksAfterFirst,
        "second",
    ),
):
    _acked = _right.name.removeprefix("MQMSG_CLASS_")
    add(
        f"queue-manager-{_acked.lower().replace('_', '-')}-of-{_case}-message-with-other-class",
        _rule,
        f"The queue manager sends the class {_wrong.name} instead of {_acked} for a {_case} message.",
        replace_part(type("WrongClass", (_kind,), {"right_ack_class": _right, "wrong_ack_class": _wrong})),
        blind=True,
    )


@fault("receiver-later-order-acks-have-class-normal", breaks="MQDMPR-3.1.1.12-D08", blind=True)
class ReceiverLaterOrderAcksHaveClassNormal(OrderAcks):
    """The receiver sends each OrderAck after the first with the class Normal."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sent = 0

    def send_transactional_ack(self, name: str, message_class: MessageClass, *arguments: Any, **named: Any) -> None:
        if message_class is MessageClass.MQMSG_CLASS_ORDER_ACK:
            self.sent += 1
            if self.sent > 1:
                message_class = MessageClass.MQMSG_CLASS_NORMAL
        super().send_transactional_ack(name, message_class, *arguments, **named)


def _omit_final_acks(when: Callable[[MessagePosition, MessageClass], bool]) -> Install:
    """Build a fault that omits some FinalAcks."""

    class FinalAckOmitter(FinalAcks):
        def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
            if not when(position, reason):
                super().send_final_ack_of_message(position, reason, now)

    return replace_part(FinalAckOmitter)


for _reason, _case in (
    (PURGED_NACK_CLASS, "purged"),
    (RECEIVE_TIMEOUT_NACK_CLASS, "expired"),
    (QUEUE_DELETED_NACK_CLASS, "deleted-with-queue"),
):
    add(
        f"receiver-final-ack-required-for-{_case}-message-ignored",
        "MQDMPR-3.1.1.12-63",
        f"The receiver sends no FinalAck for a message that was {_case.replace('-', ' ')}.",
        _omit_final_acks(lambda position, reason, wanted=_reason: reason is wanted),  # type: ignore[misc]
        blind=True,
    )


@fault("receiver-ignores-final-ack-required-after-first-message", breaks="MQDMPR-3.1.1.12-63", blind=True)
class ReceiverIgnoresFinalAckRequiredAfterFirstMessage(FinalAcks):
    """The receiver sends a FinalAck only for the first message of a sequence."""

    @faulty_only_if(lambda part, position, reason, now: position.MessageReference.TransactionSequenceNumber > 1)
    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        pass


@fault("receiver-final-ack-omitted-if-message-requests-acknowledgments", breaks="MQDMPR-3.1.1.12-62", blind=True)
class ReceiverFinalAckOmittedIfMessageRequestsAcknowledgments(FinalAcks):
    """The receiver sends no FinalAck for a transactional message with FinalAckRequired whose administration queue
    gets an acknowledgment.
    """

    @faulty_only_if(lambda part, position, reason, now: position.MessageReference.AcknowledgementsRequested != 0)
    def send_final_ack_of_message(self, position: MessagePosition, reason: MessageClass, now: Now) -> None:
        pass


@fault("reports-sent-for-recoverable-messages-only", breaks="MQDMPR-3.1.1.12-D61", blind=True)
class ReportsSentForRecoverableMessagesOnly(MessageTracing):
    """The queue manager sends no trace report about an express message."""

    @faulty_only_if(lambda part, message, next_hop, now: message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS)
    def send_report(self, message: Message, next_hop: str | None, now: Now) -> None:
        pass


@fault("report-of-message-without-trace-flag-sent", breaks=("MQDMPR-3.1.1.12-D61", "MQQB-3.1.5.8.9-01"), blind=True)
class ReportOfMessageWithoutTraceFlagSent(MessageTracing):
    """The queue manager sends a trace report about a message whose TR bit is clear if the DebugHeader of the message
    names a queue.
    """

    def trace_received_message(self, message: Message, now: Now) -> None:
        super().trace_received_message(replace(message, TracingRequested=True), now)
