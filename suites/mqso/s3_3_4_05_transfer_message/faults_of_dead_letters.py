"""Faults in the dead-letter queues of messages that could not be transferred."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import Message, MessagePosition, Queue

RULES_OF_DEAD_LETTERS = (
    "MQSO-3.3.4.5-D05",
    "MQSO-4.3.1.2-04",
    "MQSO-5.1.1.2-D13",
    "MQSO-5.1.1.3-D02",
    "MQSO-5.1.1.3-D08",
)


@fault("sender-dead-letter-of-later-message-omitted", breaks=RULES_OF_DEAD_LETTERS, blind=True)
class SenderDeadLetterOfLaterMessageOmitted(MessageJournaling):
    """The sender puts only the first of several messages that it could not transfer into the dead-letter queue."""

    def journal_failed_message(self, position: MessagePosition) -> None:
        if self.__dict__.get("has_failed"):
            self.qm.disk.save(build_removal_change([position]))
            return
        self.__dict__["has_failed"] = position.MessageReference.NegativeJournalingRequested
        super().journal_failed_message(position)


@fault(
    "sender-dead-letter-of-transactional-message-in-nontransactional-queue", breaks=RULES_OF_DEAD_LETTERS, blind=True
)
class SenderDeadLetterOfTransactionalMessageInNontransactionalQueue(MessageJournaling):
    """The sender puts a transactional message that it could not transfer into the nontransactional dead-letter
    queue.
    """

    def find_dead_letter_queue(self, message: Message) -> Queue:
        queue = super().find_dead_letter_queue(message)
        if queue is self.qm.adm.SystemTransactionalDeadletterQueue:
            return self.qm.adm.SystemDeadletterQueue
        return queue
