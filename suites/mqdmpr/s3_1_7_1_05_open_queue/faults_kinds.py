"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue with some kinds of names and accesses only."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName
from reference_qm.codec.format_names import MachineName, MultipleElementName
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.model.states import OutgoingQueueState
from reference_qm.model.statuses import Status
from reference_qm.surface.clock import Now

SEND, RECEIVE, PEEK = QueueAccessType.SEND, QueueAccessType.RECEIVE, QueueAccessType.PEEK


@fault("queue-manager-local-and-remote-queue-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12", blind=True)
class QueueManagerLocalAndRemoteQueueOpenedWithDenyReceive(QueueOpening):
    """The queue manager opens several queues together with DenyReceive if one of them is remote."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if any(self.qm.queue_names.find_by_format_name(one) is None for one in name.Elements):
            shared_mode = QueueShareMode.DENY_NONE
        return super()._open_several(name, required_access, shared_mode, now)


@fault("queue-manager-three-queues-opened-to-peek", breaks="MQDMPR-3.1.7.1.5-09", blind=True)
class QueueManagerThreeQueuesOpenedToPeek(QueueOpening):
    """When a reader requests to open three queues together with PeekAccess, the queue manager opens the first of these
    queues instead of refusing the request.
    """

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if required_access is not SEND and len(name.Elements) > 2:
            return self.open_queue(str(name.Elements[0]), required_access, shared_mode, now)
        return super()._open_several(name, required_access, shared_mode, now)


@fault("queue-manager-machine-name-of-this-computer-opened-to-send", breaks="MQDMPR-3.1.7.1.5-42", blind=True)
class QueueManagerMachineNameOfThisComputerOpenedToSend(QueueOpening):
    """An application can open the machine format name of the local dead-letter queue for sending."""

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        return isinstance(name, MachineName) or super().admits_access(name, required_access)


@fault("queue-manager-missing-queue-by-private-name-opened-to-read", breaks="MQDMPR-3.1.7.1.5-51", blind=True)
class QueueManagerMissingQueueByPrivateNameOpenedToRead(QueueOpening):
    """If a private format name matches no local queue, the queue manager opens another private queue for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        if status is not Status.MQ_ERROR_QUEUE_NOT_FOUND or not format_name.upper().startswith("PRIVATE="):
            return status, opened
        queue = next(iter(self.qm.adm.QueueCollection.values()))
        return self.open_found_queue(queue, format_name, required_access, shared_mode)


@fault("queue-manager-journal-of-missing-queue-opened-to-read", breaks="MQDMPR-3.1.7.1.5-51", blind=True)
class QueueManagerJournalOfMissingQueueOpenedToRead(QueueOpening):
    """If the name of a journal matches no local queue, the queue manager opens the system journal for reading."""

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        if status is not Status.MQ_ERROR_QUEUE_NOT_FOUND or not format_name.upper().endswith(";JOURNAL"):
            return status, opened
        return self.open_found_queue(self.qm.adm.SystemJournalQueue, format_name, required_access, shared_mode)


@fault("queue-manager-missing-queue-by-own-address-treated-as-remote", breaks="MQDMPR-3.1.7.1.5-61", blind=True)
class QueueManagerMissingQueueByOwnAddressTreatedAsRemote(QueueNames):
    """The queue manager treats a direct format name with its own IP address as the name of another computer if no local
    queue matches.
    """

    def is_own_host(self, protocol: str, address: str) -> bool:
        return super().is_own_host(protocol, address) and protocol.upper() != "TCP"


@fault("queue-manager-missing-queue-opened-by-localhost", breaks="MQDMPR-3.1.7.1.5-61", blind=True)
class QueueManagerMissingQueueOpenedByLocalhost(QueueOpening):
    """The queue manager opens an outgoing queue for a missing local queue whose direct format name contains
    "localhost".
    """

    def open_queue(
        self, format_name: str, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        status, opened = super().open_queue(format_name, required_access, shared_mode, now)
        missing = status is Status.MQ_ERROR_QUEUE_NOT_FOUND and required_access is SEND
        if missing and "OS:localhost" in format_name:
            queue = self.qm.destinations.open_outgoing(format_name, now)
            return self.open_found_queue(queue, format_name, required_access, shared_mode)
        return status, opened


@fault("open-queue-exclusive-peeker-of-journal-ignored", breaks="MQDMPR-3.1.7.1.5-110", blind=True)
class OpenQueueExclusivePeekerOfJournalIgnored(QueueOpening):
    """The queue manager opens a journal with ReceiveAccess although another reader has the journal open with PeekAccess
    and DenyReceive.
    """

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        if required_access is RECEIVE and queue.Pathname.lower().endswith(";journal"):
            return True
        return super().is_shared(queue, required_access, shared_mode)


@fault("open-queue-exclusive-receiver-of-subqueue-ignored", breaks="MQDMPR-3.1.7.1.5-106", blind=True)
class OpenQueueExclusiveReceiverOfSubqueueIgnored(QueueOpening):
    """The queue manager opens a subqueue with ReceiveAccess although another reader has the subqueue open with
    ReceiveAccess and DenyReceive.
    """

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        subqueue = queue.parent is not None and not queue.Pathname.lower().endswith(";journal")
        return subqueue or super().is_shared(queue, required_access, shared_mode)


@fault("hardened-security-new-queue-to-second-host-not-locked", breaks="MQDMPR-3.1.7.1.5-97", blind=True)
class HardenedSecurityNewQueueToSecondHostNotLocked(Destinations):
    """In hardened security mode, a new outgoing queue is not Locked if another outgoing queue exists."""

    def initial_state(self, text: str) -> OutgoingQueueState:
        return OutgoingQueueState.INACTIVE if self.qm.adm.OutgoingQueues else super().initial_state(text)
