"""Faults of MS-MQQB 3.1.1.3 Queue Manager State, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.transfer.own_messages import OwnMessages
from reference_qm.model.adm import Message
from reference_qm.surface.clock import Now


@fault("sender-message-id-incremented-twice-for-own-message", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdIncrementedTwiceForOwnMessage(OwnMessages):
    """The sender increments MessageIdOrdinal by two for an administration acknowledgment or a report."""

    def send(self, message: Message, now: Now) -> None:
        before = self.qm.adm.MessageIdOrdinal
        super().send(message, now)
        if self.qm.adm.MessageIdOrdinal != before:
            self.qm.numbering.assign_identifier()
