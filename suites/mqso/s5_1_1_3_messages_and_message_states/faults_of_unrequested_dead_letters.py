"""Faults with which messages without negative journaling become dead letters."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.model.adm import MessagePosition


@fault("sender-transactional-message-without-journaling-dead-lettered", breaks="MQSO-5.1.1.3-D08", blind=True)
class SenderTransactionalMessageWithoutJournalingDeadLettered(MessageJournaling):
    """A transactional message that cannot be delivered becomes a dead letter even if it does not request negative
    journaling.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        if position.MessageReference.TransactionIdentifier is not None:
            message = replace(position.MessageReference, NegativeJournalingRequested=True)
            position.MessageReference = message
        super().journal_failed_message(position)


@fault("sender-message-with-dead-letter-queue-name-made-dead-letter", breaks="MQSO-5.1.1.3-D08", blind=True)
class SenderMessageWithDeadLetterQueueNameMadeDeadLetter(MessageJournaling):
    """A message that names a dead-letter queue becomes a dead letter even if it does not request negative
    journaling.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        if position.MessageReference.ApplicationDeadletterQueue:
            message = replace(position.MessageReference, NegativeJournalingRequested=True)
            position.MessageReference = message
        super().journal_failed_message(position)
