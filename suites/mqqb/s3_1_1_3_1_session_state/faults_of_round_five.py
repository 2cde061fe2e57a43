"""Faults of the fifth round that break rules of MS-MQQB 3.1.1.3.1 Session State."""

from __future__ import annotations

from collections.abc import Mapping

from harness.faults.parts import replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.enterprise.state_restoring import StateRestoring
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.store.entries import build_message_relocation, build_removal_change
from reference_qm.core.transfer.message_sending import MessageSending
from reference_qm.model.adm import OutgoingMessagePosition, Session

_SENT_MARK = "sent"


class _SentMessageMarker(MessageSending):
    """The sender stores on disk which messages it has sent."""

    def transmit(self, session: Session, position: OutgoingMessagePosition, packet: UserMessagePacket) -> None:
        super().transmit(session, position, packet)
        for key, values in build_message_relocation(position.MessagePosition).items():
            if isinstance(values, dict):
                self.qm.disk.save({key: {**values, _SENT_MARK: True}})


class _SentMessagesRestoredLast(StateRestoring):
    """The sender restores the messages that it has sent after the messages that it has not sent."""

    def restore(self, entries: Mapping[str, object]) -> None:
        super().restore(entries)
        for queue in self.qm.adm.OutgoingQueues.values():
            table = queue.session.OutgoingMessageTable
            for position in table:
                values = entries.get(f"message:{position.MessagePosition.key}")
                if isinstance(values, dict) and values.get(_SENT_MARK):
                    table.remove(position)
                    table.add(position)


add(
    "sender-unacknowledged-messages-behind-unsent-messages-after-restart",
    "MQQB-3.1.1.3.1-12",
    "After a restart, the sender puts the messages that it had sent, and that were not acknowledged, behind the "
    "messages that it had not sent.",
    combine_installers(replace_part(_SentMessageMarker), replace_part(_SentMessagesRestoredLast)),
    blind=True,
)


def _remove_restored_messages_from_disk(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        restored = [one.MessagePosition for one in queue.session.AwaitingFinalACKTable.values()]
        qm.disk.save(build_removal_change(restored))


add(
    "sender-awaiting-final-ack-table-lost-at-second-restart",
    "MQQB-3.1.1.3.1-13",
    "The messages in AwaitingFinalACKTable of the sender survive one restart, but not a second restart.",
    change_core_at_restart(_remove_restored_messages_from_disk),
    blind=True,
)
