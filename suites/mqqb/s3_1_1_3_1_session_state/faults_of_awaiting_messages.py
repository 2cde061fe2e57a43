"""Faults in AwaitingFinalACKTable after a restart (MS-MQQB 3.1.1.3.1)."""

from __future__ import annotations

from harness.faults.primitives import change_core_at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager


def _remove_messages_without_jp_awaiting_final_ack(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        table = queue.session.AwaitingFinalACKTable
        for key, position in list(table.items()):
            if not position.UserMessage.UserHeader.JP:
                del table[key]


def _keep_only_first_message_awaiting_final_ack(qm: QueueManager) -> None:
    for queue in qm.adm.OutgoingQueues.values():
        table = queue.session.AwaitingFinalACKTable
        for key in list(table)[1:]:
            del table[key]


add(
    "sender-awaiting-final-ack-table-messages-with-only-jn-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "The sender loses the messages in AwaitingFinalACKTable that set JN but not JP when it restarts.",
    change_core_at_restart(_remove_messages_without_jp_awaiting_final_ack),
    blind=True,
)
add(
    "sender-awaiting-final-ack-table-later-messages-lost-at-restart",
    "MQQB-3.1.1.3.1-13",
    "The sender loses all messages in AwaitingFinalACKTable except the first one when it restarts.",
    change_core_at_restart(_keep_only_first_message_awaiting_final_ack),
    blind=True,
)
