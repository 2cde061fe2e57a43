"""Faults of round five that break rules of MS-MQSO 4.3.1 Black Box Relationship Diagram, and 4.3.3."""

from __future__ import annotations

from collections.abc import Hashable

from harness.faults.parts import fault
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.core.sessions.session_address_resolving import SessionAddressResolving, is_ip_address_text
from reference_qm.core.sessions.session_connecting import get_outgoing_queue
from reference_qm.model.adm import Session
from reference_qm.model.elements import Cursor, OnReadAnswered, OpenQueueDescriptor
from reference_qm.model.states import ConnectionStatus
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now


@fault("queue-manager-second-waiting-receive-of-queue-ended-at-once", breaks="MQSO-4.3.1.1-01", blind=True)
class QueueManagerSecondWaitingReceiveOfQueueEndedAtOnce(WaitingReads):
    """While a receive of one application waits at a queue, the queue manager ends the receive of another application
    at once, without a message.
    """

    def wait_for_new_message(
        self,
        queue_desc: OpenQueueDescriptor,
        timeout_ms: int | None,
        destructive_read: bool,
        answered: OnReadAnswered,
        now: Now,
        tag: Hashable | None = None,
        cursor: Cursor | None = None,
        transaction: Transaction | None = None,
    ) -> None:
        queue = queue_desc.QueueReference
        if destructive_read and cursor is None and queue is not None:
            for descriptor in queue.OpenQueueDescriptorCollection.values():
                if any(one.DestructiveRead for one in descriptor.WaitingMessageReadOperationCollection):
                    answered(Status.MQ_ERROR_IO_TIMEOUT, None)
                    return
        super().wait_for_new_message(queue_desc, timeout_ms, destructive_read, answered, now, tag, cursor, transaction)


@fault("sender-direct-name-with-host-name-needs-directory", breaks="MQSO-4.3.3-D02", blind=True)
class SenderDirectNameWithHostNameNeedsDirectory(SessionAddressResolving):
    """A sender without a directory does not send messages to a direct format name that contains a host name instead of
    an address.
    """

    def resolve_host_address(self, session: Session, now: Now) -> None:
        name = get_outgoing_queue(session).DestinationFormatName
        destination = self.qm.next_hops.get_destination_info(name)
        without_directory = not self.qm.enterprise.state.DirectoryIntegrated
        host = None if destination is None or not name.lower().startswith("direct=") else destination.HostName
        if without_directory and host is not None and not is_ip_address_text(host):
            status = ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE
            self.qm.session_closing.close_session_after_failed_establishment(
                session, status, "there is no directory", now
            )
            return
        super().resolve_host_address(session, now)
