"""Faults of MS-MQDMPR 3.1.7.1.31 of the probe, written without reading the checks."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.model.adm import Message, MessagePosition, Queue


@fault("receiver-message-correlation-ordinal-lost", breaks="MQDMPR-3.1.7.1.31-04", blind=True)
class CorrelationOrdinalLost(Positions):
    """The receiver sets the last four bytes of Message.CorrelationIdentifier of received messages to zero."""

    def insert_message(self, queue: Queue, message: Message) -> MessagePosition:
        if message.Identifier.QueueManagerGuid != self.qm.adm.Identifier:
            message = replace(message, CorrelationIdentifier=message.CorrelationIdentifier[:16] + bytes(4))
        return super().insert_message(queue, message)
