"""Steps that several fault files of this section share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


class CopyEnqueueingChanger(MessageEnqueueing):
    """Change the step that puts a message into several queues."""

    def enqueue_to_open_queue(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None = None
    ) -> EnqueueStatus:
        if not descriptor.Multiple:
            status: EnqueueStatus = super().enqueue_to_open_queue(descriptor, message, now, transaction)
            return status
        return self.enqueue_copies(descriptor, message, now, transaction)

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        """Put a copy into each queue of a descriptor for several queues."""
        status: EnqueueStatus = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return status


class LaterMessageCopyChanger(MessageEnqueueing):
    """Change the second and later copies of a message."""

    changed_attributes: Mapping[str, Any] = MappingProxyType({})

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        if not descriptor.Multiple:
            return super().enqueue_to_open_queue(descriptor, message, now, transaction)
        every = list(descriptor.OpenQueueDescriptorCollection)
        try:
            for number, single in enumerate(every):
                descriptor.OpenQueueDescriptorCollection[:] = [single]
                copy = self.change_copy(message, descriptor, every, number)
                if copy is not None:
                    status = super().enqueue_to_open_queue(descriptor, copy, now, transaction)
                    if status is not EnqueueStatus.NO_ERROR:
                        return status
        finally:
            descriptor.OpenQueueDescriptorCollection[:] = every
        return EnqueueStatus.NO_ERROR

    def change_copy(
        self, message: Message, descriptor: OpenQueueDescriptor, every: list[OpenQueueDescriptor], number: int
    ) -> Message | None:
        """Return the copy with the given number before its destination is set, or None to omit the copy."""
        return replace(message, **self.changed_attributes) if number else message
