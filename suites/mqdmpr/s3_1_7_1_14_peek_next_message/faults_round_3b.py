"""Faults that break rules of MS-MQDMPR 3.1.7.1.14 Peek Next Message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import WaitingMessageReadOperation
from reference_qm.model.position_list import Boundary


@fault("queue-manager-peek-next-releases-no-other-handle", breaks="MQDMPR-3.1.7.1.14-27", blind=True)
class QueueManagerPeekNextReleasesNoOtherHandle(Waiting):
    """A message that completes a pending peek at the next message completes no pending read of another handle."""

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            peeked_next = False
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_message_for(reader, position)
                    if found is None:
                        return
                    peeked_next = peeked_next or _peeks_next(reader)
                    self.satisfy_reader(reader, found)
            if peeked_next:
                return


def _peeks_next(reader: WaitingMessageReadOperation) -> bool:
    cursor = reader.CursorReference
    return (
        not reader.DestructiveRead and cursor is not None and not isinstance(cursor.MessagePositionReference, Boundary)
    )
