"""Faults of MS-MQSO 4.3.1.2, by an author who had not seen the checks."""

from __future__ import annotations

from uuid import UUID

from harness.faults.made_up import OTHER_GUID
from harness.faults.parts import fault
from reference_qm.codec import PublicName, parse_format_name
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.queueing.publishing import OnStatus, Publishing
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.model.adm import OutgoingQueue, Queue
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import TransactionalOperation
from reference_qm.surface.clock import Now


@fault("message-expired-before-commit-not-kept-as-dead-letter", breaks="MQSO-4.3.1.2-04", blind=True)
class MessageExpiredBeforeCommitNotKeptAsDeadLetter(TransactionEvents):
    """If a message expires before its transaction commits, the sender discards the message despite negative
    journaling.
    """

    def commit_enqueue(self, operation: TransactionalOperation, now: Now) -> None:
        queue = operation.MessagePositionReference.QueueReference
        if isinstance(queue, OutgoingQueue):
            for outgoing in queue.session.OutgoingMessageTable:
                mine = outgoing.MessagePosition is operation.MessagePositionReference
                if mine and self.qm.lifetimes.has_expired(outgoing.UserMessage, now):
                    self.qm.sending.remove_unsent(queue.session, outgoing)
                    return
        super().commit_enqueue(operation, now)


@fault("queue-manager-public-queue-created-after-start-without-directory", breaks="MQSO-4.3.1.3-D01", blind=True)
class QueueManagerPublicQueueCreatedAfterStartWithoutDirectory(Publishing):
    """A queue manager that is configured for a directory, but is in workgroup mode because the directory was
    unavailable at its start, creates public queues.
    """

    def publish(self, queue: Queue, published: OnStatus) -> None:
        if self.qm.config.directory_integrated and not self.qm.enterprise.state.DirectoryIntegrated:
            queue.Identifier = OTHER_GUID
            published(Status.MQ_OK)
        else:
            super().publish(queue, published)


@fault("sender-message-to-public-queue-not-routed", breaks="MQSO-4.3.1.3-D02", blind=True)
class SenderMessageToPublicQueueNotRouted(NextHops):
    """The sender sends a message for a public format name directly to the computer of the queue, even if the route
    leads through a routing server; messages for private format names are routed correctly.
    """

    named_publicly = False

    def get_destination_info(self, format_name: str) -> Destination | None:
        self.named_publicly = isinstance(parse_format_name(format_name), PublicName)
        return super().get_destination_info(format_name)

    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.named_publicly else super().get_next_hop_identifiers(guid)
