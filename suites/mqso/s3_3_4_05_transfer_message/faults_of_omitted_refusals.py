"""Faults with which the receiver does not report some messages that it cannot accept."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import MessageClass
from reference_qm.core.transfer.admin_acks import AdminAcks
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("receiver-negative-acknowledgment-of-later-message-omitted", breaks="MQSO-3.3.4.5-D02", blind=True)
class ReceiverNegativeAcknowledgmentOfLaterMessageOmitted(AdminAcks):
    """The receiver sends a negative acknowledgment only for the first message of a source that it cannot accept."""

    def acknowledge_failure(self, message: Message, message_class: MessageClass, now: Now) -> None:
        told: set[object] = self.__dict__.setdefault("told", set())
        source = message.Identifier.QueueManagerGuid
        if source not in told or source == self.qm.adm.Identifier:
            super().acknowledge_failure(message, message_class, now)
        told.add(source)
