"""Faults of round five that break rules of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.message_positions import MessagePositions
from reference_qm.model.adm import Message, MessagePosition, Queue


@fault("receiver-positive-journaling-beside-negative-ignored", breaks="MQDMPR-3.1.7.1.31-D11", blind=True)
class ReceiverPositiveJournalingBesideNegativeIgnored(MessagePositions):
    """The attribute PositiveJournalingRequested of a received message is False if both JP and JN are set."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.NegativeJournalingRequested and message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = replace(message, PositiveJournalingRequested=False)
        return super().insert_message(queue, message)
