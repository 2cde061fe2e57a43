"""Faults of MS-MQDMPR 3.1.7.1.27 Enqueue Message To An Open Queue."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import MessageIdentifier
from reference_qm.core.commands.commands import Commands
from reference_qm.core.errors import CommandError
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("enqueued-twice", breaks="MQDMPR-3.1.7.1.27-04")
class Twice(Enqueueing):
    """A message for one queue elsewhere is put into its outgoing queue twice."""

    def put_message(self, queue: Queue, message: Message, token: int | None, result: Result, now: Now) -> Result | None:
        if isinstance(queue, OutgoingQueue):
            super().put_message(queue, message, None, Result(), now)
            number = self.qm.numbering.assign_identifier()
            message = replace(message, Identifier=MessageIdentifier(self.qm.adm.Identifier, number))
        done: Result | None = super().put_message(queue, message, token, result, now)
        return done


@fault("enqueueing-always-succeeds", breaks="MQDMPR-3.1.7.1.27-08")
class AlwaysSucceeds(Commands):
    """Who sends to one queue is told that it took the message, also when it has no room for it."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        try:
            done: Result | None = super().send_message(request, token, now)
        except CommandError:
            return Result({"message_id": f"{{{self.qm.adm.Identifier}}}\\0"})
        return done


@fault("enqueueing-fails-when-taken", breaks="MQDMPR-3.1.7.1.27-08")
class FailsWhenTaken(Commands):
    """Who sends to one queue here is told that it fails, although the queue took the message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        done: Result | None = super().send_message(request, token, now)
        if done is not None and self.qm.destinations.find_local(request.to) is not None:
            raise CommandError("the queue did not say that it took the message")
        return done


class _Several(Enqueueing):
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
        """Put a copy into each queue of a descriptor of several."""
        status: EnqueueStatus = super().enqueue_to_open_queue(descriptor, message, now, transaction)
        return status


@fault("copies-go-on-after-a-refusal", breaks="MQDMPR-3.1.7.1.27-18")
class GoOnAfterRefusal(_Several):
    """When one of several queues does not take its copy, the others get theirs."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        worst = EnqueueStatus.NO_ERROR
        for single in list(descriptor.OpenQueueDescriptorCollection):
            alone = replace(descriptor, OpenQueueDescriptorCollection=[single])
            worst = super().enqueue_copies(alone, message, now, transaction) or worst
        return worst


@fault("copies-refused-silently", breaks="MQDMPR-3.1.7.1.27-18")
class RefusedSilently(_Several):
    """Who sends to several queues does not learn that one of them did not take its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        super().enqueue_copies(descriptor, message, now, transaction)
        return EnqueueStatus.NO_ERROR


@fault("copies-taken-but-refused", breaks="MQDMPR-3.1.7.1.27-19")
class TakenButRefused(_Several):
    """Who sends to several queues is told that it fails, although each took its copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        status: EnqueueStatus = super().enqueue_copies(descriptor, message, now, transaction)
        return status or EnqueueStatus.QUEUE_QUOTA_EXCEEDED


@fault("copies-list-their-own-queue", breaks="MQDMPR-3.1.7.1.27-10")
class ListTheirOwnQueue(Enqueueing):
    """A copy of a message for several queues lists its own queue only."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            message = replace(message, DestinationMultiQueueFormatName=message.DestinationQueueFormatName)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("copies-are-empty-but-one", breaks="MQDMPR-3.1.7.1.27-12")
class EmptyButOne(_Several):
    """Of the copies for several queues the first alone has a label."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        for number, single in enumerate(list(descriptor.OpenQueueDescriptorCollection)):
            alone = replace(descriptor, OpenQueueDescriptorCollection=[single])
            copy = replace(message, Label=message.Label if number == 0 else "")
            if status := super().enqueue_copies(alone, copy, now, transaction):
                return status
        return EnqueueStatus.NO_ERROR


@fault("copies-for-the-first-queue", breaks="MQDMPR-3.1.7.1.27-13")
class ForTheFirstQueue(Enqueueing):
    """Every copy names the first queue as its destination, in whichever it is."""

    def _enqueue_message(
        self, queue: Queue | None, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        if message.DestinationMultiQueueFormatName is not None:
            first = message.DestinationMultiQueueFormatName.partition(",")[0]
            message = replace(message, DestinationQueueFormatName=first)
        status: EnqueueStatus = super()._enqueue_message(queue, message, now, transaction)
        return status


@fault("copies-but-the-last", breaks="MQDMPR-3.1.7.1.27-14")
class ButTheLast(_Several):
    """The last of several queues gets no copy."""

    def enqueue_copies(
        self, descriptor: OpenQueueDescriptor, message: Message, now: Now, transaction: Transaction | None
    ) -> EnqueueStatus:
        but_one = list(descriptor.OpenQueueDescriptorCollection)[:-1]
        status: EnqueueStatus = super().enqueue_copies(
            replace(descriptor, OpenQueueDescriptorCollection=but_one), message, now, transaction
        )
        return status
