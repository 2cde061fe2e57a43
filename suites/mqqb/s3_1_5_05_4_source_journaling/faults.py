"""Faults of MS-MQQB 3.1.5.5.4 Source Journaling."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.model.adm import MessagePosition


@fault("sender-message-with-jp-and-jn-not-journaled", breaks="MQQB-3.1.5.5.4-01", blind=True)
class SenderMessageWithJpAndJnNotJournaled(Journaling):
    """The sender does not journal a delivered message with JP and JN."""

    def journal_delivered(self, position: MessagePosition) -> None:
        message = position.MessageReference
        if message.NegativeJournalingRequested:
            position.MessageReference = replace(message, PositiveJournalingRequested=False)
        super().journal_delivered(position)
