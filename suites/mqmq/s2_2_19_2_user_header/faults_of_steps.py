"""Faults in the use of the UserHeader: expiry, restart, journaling and identifiers. Spec: MS-MQMQ 2.2.19.2."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import set_fields
from harness.faults.registry import add
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.names.message_numbering import MessageNumbering
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.message_lifetimes import MessageLifetimes
from reference_qm.model.adm import INFINITE_TIMEOUT, MessagePosition


class _TimeToBeReceivedWatcherOfSomeMessages(MessageLifetimes):
    """The receiver checks TimeToBeReceived only for some messages; a subclass selects which."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        """Return whether the receiver checks TimeToBeReceived of a message."""
        raise NotImplementedError

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        if self.is_lifetime_watched(position):
            super().start_time_to_be_received_timer(position)


@fault("receiver-expired-transactional-message-kept", breaks=("MQMQ-2.2.19.2-05", "MQMQ-2.2.19.2-D03"), blind=True)
class ReceiverExpiredTransactionalMessageKept(_TimeToBeReceivedWatcherOfSomeMessages):
    """The receiver keeps a transactional message in its queue when TimeToBeReceived expires."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.TransactionIdentifier is None


@fault("receiver-keeps-expired-message-behind-earlier-message", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverKeepsExpiredMessageBehindEarlierMessage(_TimeToBeReceivedWatcherOfSomeMessages):
    """The receiver keeps an expired message in its queue if another message was in the queue before."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        return len(position.QueueReference.MessagePositionList) < 2


@fault("receiver-expired-large-message-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredLargeMessageKept(_TimeToBeReceivedWatcherOfSomeMessages):
    """The receiver keeps a message with a body of more than 4 KiB in its queue when TimeToBeReceived expires."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        return len(position.MessageReference.Body) <= 4096


@fault("receiver-expired-acknowledgment-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredAcknowledgmentKept(_TimeToBeReceivedWatcherOfSomeMessages):
    """The receiver keeps an administration acknowledgment in its queue when TimeToBeReceived expires."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.Class == 0


@fault("receiver-expired-message-with-time-to-reach-queue-kept", breaks="MQMQ-2.2.19.2-05", blind=True)
class ReceiverExpiredMessageWithTimeToReachQueueKept(_TimeToBeReceivedWatcherOfSomeMessages):
    """The receiver keeps a message with a finite TimeToReachQueue in its queue when TimeToBeReceived expires."""

    def is_lifetime_watched(self, position: MessagePosition) -> bool:
        return position.MessageReference.TimeToReachQueue == INFINITE_TIMEOUT


@fault("receiver-reads-only-low-16-bits-of-time-to-be-received", breaks="MQMQ-2.2.19.2-D03", blind=True)
class ReceiverReadsOnlyLow16BitsOfTimeToBeReceived(MessageLifetimes):
    """The receiver reads only the lowest 16 bits of a finite TimeToBeReceived."""

    def start_time_to_be_received_timer(self, position: MessagePosition) -> None:
        message = position.MessageReference
        life = message.TimeToBeReceived
        if life != INFINITE_TIMEOUT and life > 0xFFFF:
            position.MessageReference = replace(message, TimeToBeReceived=life & 0xFFFF)
        super().start_time_to_be_received_timer(position)


@fault("receiver-loses-recoverable-acknowledgments-at-restart", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverLosesRecoverableAcknowledgmentsAtRestart(StateRestoring):
    """The receiver loses the recoverable acknowledgments of its queues at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if position.MessageReference.Class == 0:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-recovers-only-three-messages-of-queue-at-restart", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoversOnlyThreeMessagesOfQueueAtRestart(StateRestoring):
    """The receiver recovers only three messages of each queue at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if len(position.QueueReference.MessagePositionList) < 3:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-recoverable-large-message-lost", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableLargeMessageLost(StateRestoring):
    """The receiver loses recoverable messages with a body of more than 4 KiB at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if len(position.MessageReference.Body) <= 4096:
            super()._insert_message(position, lookup_identifier)


@fault("receiver-restart-loses-message-with-finite-time-to-be-received", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRestartLosesMessageWithFiniteTimeToBeReceived(StateRestoring):
    """The receiver loses recoverable messages with a finite TimeToBeReceived at a restart."""

    def _insert_message(self, position: MessagePosition, lookup_identifier: int) -> None:
        if position.MessageReference.TimeToBeReceived == INFINITE_TIMEOUT:
            super()._insert_message(position, lookup_identifier)


def _skip_journaling_of_messages(method: str, skipped: Any) -> Any:
    def journal(self: Any, position: MessagePosition) -> None:
        message = position.MessageReference
        if skipped(message):
            element = (
                "PositiveJournalingRequested"
                if method == "journal_delivered_message"
                else "NegativeJournalingRequested"
            )
            position.MessageReference = set_fields(message, {element: False})
        getattr(super(cls, self), method)(position)

    cls = type("Skipping", (MessageJournaling,), {method: journal})
    return cls


for _method, _broken_rules, _queue in (
    ("journal_delivered_message", ("MQMQ-2.2.19.2-14", "MQDMPR-3.1.1.12-21"), "system journal"),
    ("journal_failed_message", ("MQMQ-2.2.19.2-13", "MQDMPR-3.1.1.12-24"), "dead-letter queue"),
):
    for _name, _says, _skipped in (
        (
            "transactional",
            "a transactional message",
            lambda message: message.TransactionIdentifier is not None,
        ),
        ("large", "a message with a body of more than 4 KiB", lambda message: len(message.Body) > 4096),
        (
            "recoverable",
            "a recoverable message that is not transactional",
            lambda message: message.TransactionIdentifier is None and message.DeliveryGuarantee.value != "Express",
        ),
        ("express", "an express message", lambda message: message.DeliveryGuarantee.value == "Express"),
        (
            "both",
            "a message with JN and JP set",
            lambda message: message.PositiveJournalingRequested and message.NegativeJournalingRequested,
        ),
    ):
        add(
            f"sender-{_name}-message-not-put-into-{_queue.replace(' ', '-')}",
            _broken_rules,
            f"The sender does not put {_says} into its {_queue}.",
            replace_part(_skip_journaling_of_messages(_method, _skipped)),
            blind=True,
        )


@fault("queue-manager-message-ids-repeated-after-restart", breaks="MQMQ-2.2.19.2-07", blind=True)
class QueueManagerMessageIdsRepeatedAfterRestart(StateRestoring):
    """The queue manager begins with MessageID 1 after a restart."""

    def restore(self, entries: Any) -> None:
        super().restore(entries)
        self.qm.adm.MessageIdOrdinal = 0


@fault("queue-manager-repeats-message-id-after-16-messages", breaks="MQMQ-2.2.19.2-07", blind=True)
class QueueManagerRepeatsMessageIdAfter16Messages(MessageNumbering):
    """The queue manager uses only the message identifiers 1 to 16."""

    def predict_next_message_ordinal(self) -> int:
        return super().predict_next_message_ordinal() % 17 or 1
