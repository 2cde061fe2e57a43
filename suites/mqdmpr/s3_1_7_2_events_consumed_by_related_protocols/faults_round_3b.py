"""Faults that break rules of MS-MQDMPR 3.1.7.2.2 Message Position Available."""

from __future__ import annotations

from operator import attrgetter

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.model.adm import MessagePosition


@fault("queue-manager-peeks-completed-before-earlier-receive", breaks="MQDMPR-3.1.7.2.2-11", blind=True)
class QueueManagerPeeksCompletedBeforeEarlierReceive(Waiting):
    """A message first completes all pending peeks of a handle, including the peeks that began to wait after a pending
    receive.
    """

    def release_readers(self, position: MessagePosition) -> None:
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in sorted(descriptor.WaitingMessageReadOperationCollection, key=attrgetter("DestructiveRead")):
                if reader.number in self.qm.readers:
                    found = self._find_message_for(reader, position)
                    if found is None:
                        return
                    self.satisfy_reader(reader, found)
