"""Faults in the source journal after a restart."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import MessagePosition


@fault("sender-journaled-message-lost-at-restart", breaks="MQSO-5.1.1.2-D12", blind=True)
class SenderJournaledMessageLostAtRestart(MessageJournaling):
    """The source journal loses its recoverable messages at a restart."""

    def journal_delivered_message(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))
        position.key = 0
        super().journal_delivered_message(position)
