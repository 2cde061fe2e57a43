"""Faults of round five that break rules of MS-MQSO 5.1.1.3 Messages and Message States."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.model.adm import MessagePosition


@fault("sender-failed-message-with-positive-journaling-dead-lettered", breaks="MQSO-5.1.1.3-D08", blind=True)
class SenderFailedMessageWithPositiveJournalingDeadLettered(MessageJournaling):
    """The sender puts a message that it could not deliver into the dead-letter queue if the message requests positive
    journaling only.
    """

    def journal_failed_message(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.PositiveJournalingRequested and not message.NegativeJournalingRequested:
            position.MessageReference = replace(message, NegativeJournalingRequested=True)
        super().journal_failed_message(position)
