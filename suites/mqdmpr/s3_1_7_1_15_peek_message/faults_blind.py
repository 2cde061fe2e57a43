"""Faults of MS-MQDMPR 3.1.7.1.15, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition


@fault("second-waiting-peek-by-cursor-not-released", breaks="MQDMPR-3.1.7.1.15-26", blind=True)
class SecondWaitingPeekByCursorNotReleased(Waiting):
    """An arriving message completes only the first of several pending peeks by cursors."""

    def release_readers(self, position: MessagePosition) -> None:
        served = False
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                by_cursor = reader.CursorReference is not None and not reader.DestructiveRead
                if reader.number not in self.qm.readers or (served and by_cursor):
                    continue
                found = self._find_message_for(reader, position)
                if found is None:
                    return
                self.satisfy_reader(reader, found)
                served = served or by_cursor
