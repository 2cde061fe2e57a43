"""Imitates Windows releases that handle queues, journals or the directory differently. Each class replaces one part of
the queue manager.
"""

from __future__ import annotations

from dataclasses import replace

from reference_qm.core.enterprise.domain_membership import DomainMembership
from reference_qm.core.names.queue_names import OWN_QUEUE_PATHS
from reference_qm.core.queueing.message_journaling import MessageJournaling
from reference_qm.core.queueing.queue_quotas import QueueQuotas
from reference_qm.core.store.entries import build_removal_change
from reference_qm.model.adm import Message, MessagePosition, Queue


class QueueManagerDiscardsUndeliverableMessages(MessageJournaling):
    """The queue manager discards a message that cannot be delivered, instead of putting it into a dead-letter queue.
    Spec: MS-MQMQ 2.2.19.2, note <3> (NT).
    """

    __slots__ = ()

    def journal_failed_message(self, position: MessagePosition) -> None:
        self.qm.disk.save(build_removal_change([position]))


class MessagesToQueuesOfQueueManagerNotJournaled(MessageJournaling):
    """The queue manager does not journal messages to its own administration, notification and order queues. Spec:
    MS-MQQB 1.3.4, note <2>.
    """

    __slots__ = ()

    def journal_delivered_message(self, position: MessagePosition) -> None:
        if _is_for_own_queue(position.MessageReference):
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_delivered_message(position)

    def journal_failed_message(self, position: MessagePosition) -> None:
        if _is_for_own_queue(position.MessageReference):
            self.qm.disk.save(build_removal_change([position]))
        else:
            super().journal_failed_message(position)


class ApplicationDeadletterQueueIgnored(MessageJournaling):
    """The queue manager ignores ApplicationDeadletterQueue. Spec: MS-MQDMPR 3.1.1.12, note <11>."""

    __slots__ = ()

    def find_dead_letter_queue(self, message: Message) -> Queue:
        return super().find_dead_letter_queue(replace(message, ApplicationDeadletterQueue=""))


class QueueManagerAcceptsMessagesWhenMemoryIsShort(QueueQuotas):
    """The queue manager accepts messages even when memory is short. Spec: MS-MQSO 5.1.1.1, note <6>."""

    __slots__ = ()

    def begin_flow_control(self) -> None:
        """Do nothing, so that messages are accepted."""


class QueueManagerIgnoresDomainChange(DomainMembership):
    """The queue manager ignores a change of domain. Spec: MS-MQSO 6.6.2, notes <12>, <14> (NT)."""

    __slots__ = ()

    @property
    def has_left_domain(self) -> bool:
        return False

    @property
    def has_joined_domain(self) -> bool:
        return False


def _is_for_own_queue(message: Message) -> bool:
    """Return whether the destination of a message is one of the queue manager's own queues, according to its path
    name.
    """
    _, separator, path = message.DestinationQueueFormatName.partition("\\")
    return bool(separator) and path.lower() in OWN_QUEUE_PATHS
