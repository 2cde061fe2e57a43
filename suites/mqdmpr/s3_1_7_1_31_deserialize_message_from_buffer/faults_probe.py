"""Faults of MS-MQDMPR 3.1.7.1.31 Deserialize Message From Buffer, by an author who had not seen the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue


@fault("receiver-message-correlation-ordinal-lost", breaks="MQDMPR-3.1.7.1.31-04", blind=True)
class ReceiverMessageCorrelationOrdinalLost(Positions):
    """The receiver stores zeros as the last four bytes of the CorrelationIdentifier of a message."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
        return super().insert_message(queue, message)
