"""Faults that break rules of MS-MQDMPR 3.1.7.2 Events Consumed by Related Protocols."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.positions import Positions
from reference_qm.core.queueing.waiting import Waiting
from reference_qm.directory.enums import QueueType
from reference_qm.model.adm import MessagePosition, Queue

RELEASED_READERS = 2


@fault("queue-manager-moved-message-not-in-total-bytes", breaks="MQDMPR-3.1.7.2.2-03", blind=True)
class QueueManagerMovedMessageNotInTotalBytes(Positions):
    """The TotalBytes of a queue or subqueue does not increase when a message is moved to it."""

    def move_message(self, position: MessagePosition, queue: Queue) -> MessagePosition | None:
        target = super().move_message(position, queue)
        if target is not None and target.counted_in is not None and queue.QueueType is not QueueType.SYSTEM:
            target.counted_in.TotalBytes -= target.size
            target.counted_in.storage.used -= target.size
            target.size = 0
        return target


@fault("queue-manager-message-releases-only-one-further-reader", breaks="MQDMPR-3.1.7.2.2-14", blind=True)
class QueueManagerMessageReleasesOnlyOneFurtherReader(Waiting):
    """A message that completes a pending peek completes only one further pending read, even if that read is a
    peek.
    """

    def release_readers(self, position: MessagePosition) -> None:
        released = 0
        for descriptor in list(position.QueueReference.OpenQueueDescriptorCollection.values()):
            for reader in list(descriptor.WaitingMessageReadOperationCollection):
                if reader.number in self.qm.readers:
                    found = self._find_message_for(reader, position)
                    if found is None or released == RELEASED_READERS:
                        return
                    released += 1
                    self.satisfy_reader(reader, found)
