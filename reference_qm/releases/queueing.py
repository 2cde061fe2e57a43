"""What releases do otherwise with queues, journals and the directory: subclasses of parts of the queue manager."""

from __future__ import annotations

from dataclasses import replace

from reference_qm.core.enterprise.membership import Membership
from reference_qm.core.names.queue_names import OWN_QUEUE_PATHS
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.store.entries import removal_of
from reference_qm.model.adm import Message, MessagePosition, Queue


class NoDeadLetters(Journaling):
    """A message that failed is not kept. Spec: MS-MQMQ 2.2.19.2, note <3> (NT)."""

    __slots__ = ()

    def journal_failed(self, position: MessagePosition) -> None:
        self.qm.disk.save(removal_of([position]))


class OwnQueuesNotJournaled(Journaling):
    """What is sent to administration, notification and order queues is kept nowhere. Spec: MS-MQQB 1.3.4, note <2>."""

    __slots__ = ()

    def journal_delivered(self, position: MessagePosition) -> None:
        if _names_own_queue(position.MessageReference):
            self.qm.disk.save(removal_of([position]))
        else:
            super().journal_delivered(position)

    def journal_failed(self, position: MessagePosition) -> None:
        if _names_own_queue(position.MessageReference):
            self.qm.disk.save(removal_of([position]))
        else:
            super().journal_failed(position)


class ApplicationQueueUnread(Journaling):
    """ApplicationDeadletterQueue is not looked at. Spec: MS-MQDMPR 3.1.1.12, note <11>."""

    __slots__ = ()

    def dead_letter_queue(self, message: Message) -> Queue:
        return super().dead_letter_queue(replace(message, ApplicationDeadletterQueue=""))


class MemoryNotWatched(Quotas):
    """However short memory is, everything is taken. Spec: MS-MQSO 5.1.1.1, note <6>."""

    __slots__ = ()

    def begin_flow_control(self) -> None:
        """Do nothing."""


class DomainNotWatched(Membership):
    """Whether the domain is another than before is not looked at. Spec: MS-MQSO 6.6.2, notes <12>, <14> (NT)."""

    __slots__ = ()

    @property
    def has_left(self) -> bool:
        return False

    @property
    def has_come(self) -> bool:
        return False


def _names_own_queue(message: Message) -> bool:
    """Return whether a message is for a queue that a queue manager made for itself: by its path name alone."""
    _, separator, path = message.DestinationQueueFormatName.partition("\\")
    return bool(separator) and path.lower() in OWN_QUEUE_PATHS
