"""Faults that break rules of MS-MQQP 3.1.4.1 and 3.1.4.10 about cursors, and reads that wait."""

from __future__ import annotations

from harness.faults.calls import with_arguments
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation


@fault(
    "server-waiting-read-by-cursor-skips-message",
    breaks=("MQQP-3.1.4.1-D15", "MQQP-3.1.4.1-D17", "MQQP-3.1.4.10-31", "MQQP-3.1.4.10-40"),
)
class ServerWaitingReadByCursorSkipsMessage(Waiting):
    """The server completes a waiting read by a cursor only with a message after the message at the cursor."""

    def _find_message_for(self, reader: WaitingMessageReadOperation, new: MessagePosition) -> MessagePosition | None:
        cursor = reader.CursorReference
        if cursor is None:
            return super()._find_message_for(reader, new)
        return self.qm.seeking.seek_available(cursor.MessagePositionReference, not reader.DestructiveRead)


add(
    "server-waiting-receive-without-request-id",
    ("MQQP-3.1.4.1-D15", "MQQP-3.1.4.10-31"),
    "The server does not keep the dwRequestID of a waiting receive.",
    with_arguments(Waiting.wait_for_new_message, tag=lambda given: None),
)
