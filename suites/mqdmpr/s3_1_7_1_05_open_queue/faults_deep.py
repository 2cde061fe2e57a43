"""Faults of MS-MQDMPR 3.1.7.1.5 Open Queue that only special cases reveal: subqueues, letter case, and peeks."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import FormatName, MultipleElementName
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queueing.queue_opening import Opened, QueueOpening
from reference_qm.model.adm import Queue
from reference_qm.model.enums import QueueAccessType, QueueShareMode
from reference_qm.surface.clock import Now


@fault("queue-manager-open-missing-subqueue-opens-queue", breaks="MQDMPR-3.1.7.1.5-51")
class QueueManagerOpenMissingSubqueueOpensQueue(QueueNames):
    """The queue manager opens the main queue when a format name refers to a subqueue that does not exist."""

    def find_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_by_format_name(name)
        if found is None and getattr(name, "Subqueue", None):
            path = str(name).partition("\\")[2].partition(";")[0]
            return self.qm.adm.QueueCollection.get(path.lower())
        return found


@fault("queue-manager-open-subqueue-opens-queue", breaks="MQDMPR-3.1.7.1.5-118")
class QueueManagerOpenSubqueueOpensQueue(QueueNames):
    """The queue manager opens the main queue when a format name refers to one of its subqueues."""

    def find_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_by_format_name(name)
        subqueue = found is not None and found.parent is not None and getattr(name, "Subqueue", None)
        return found.parent if found is not None and subqueue else found


@fault("queue-manager-open-compares-names-with-regard-to-case", breaks="MQDMPR-3.1.7.1.5-48")
class QueueManagerOpenComparesNamesWithRegardToCase(QueueNames):
    """The queue manager finds no local queue for a direct format name whose letters differ in case from the path name
    of the queue.
    """

    def find_by_format_name(self, name: FormatName) -> Queue | None:
        found = super().find_by_format_name(name)
        written = getattr(name, "QueueName", None)
        if found is None or written is None or found.QueueType.value == "System":
            return found
        return found if written in found.Pathname or found.parent is not None else None


@fault("queue-manager-open-of-queue-restricts-its-subqueues", breaks="MQDMPR-3.1.7.1.5-124")
class QueueManagerOpenOfQueueRestrictsItsSubqueues(QueueOpening):
    """The sharing mode of a reader of a queue also restricts readers of the subqueues of this queue."""

    def is_shared(self, queue: Queue, required_access: QueueAccessType, shared_mode: QueueShareMode) -> bool:
        parent = queue.parent is None or super().is_shared(queue.parent, required_access, shared_mode)
        return parent and super().is_shared(queue, required_access, shared_mode)


@fault("queue-manager-open-http-name-to-peek", breaks="MQDMPR-3.1.7.1.5-38")
class QueueManagerOpenHttpNameToPeek(QueueOpening):
    """The queue manager opens an HTTP format name of a local queue with PeekAccess."""

    def admits_access(self, name: FormatName, required_access: QueueAccessType) -> bool:
        by_http = getattr(name, "Protocol", "") in ("HTTP", "HTTPS")
        return (by_http and required_access is QueueAccessType.PEEK) or super().admits_access(name, required_access)


@fault("queue-manager-open-compares-own-host-name-with-regard-to-case", breaks="MQDMPR-3.1.7.1.5-61")
class QueueManagerOpenComparesOwnHostNameWithRegardToCase(QueueNames):
    """The queue manager treats its own computer name in a direct format name as the name of another computer if the
    name differs in letter case.
    """

    def is_own_host(self, protocol: str, address: str) -> bool:
        found = super().is_own_host(protocol, address)
        known = {self.qm.config.host_name, self.qm.adm.ComputerName, "localhost", "."}
        return found and (protocol.upper() != "OS" or address in known or address == address.lower())


@fault("queue-manager-several-local-queues-opened-with-deny-receive", breaks="MQDMPR-3.1.7.1.5-12")
class QueueManagerSeveralLocalQueuesOpenedWithDenyReceive(QueueOpening):
    """The queue manager opens several queues of its computer together with the sharing mode DenyReceive."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        if all(self.qm.queue_names.find_by_format_name(one) is not None for one in name.Elements):
            shared_mode = QueueShareMode.DENY_NONE
        return super()._open_several(name, required_access, shared_mode, now)


@fault("queue-manager-several-queues-opened-at-most-four", breaks="MQDMPR-3.1.7.1.5-32")
class QueueManagerSeveralQueuesOpenedAtMostFour(QueueOpening):
    """The OpenQueueDescriptor for several queues contains at most four OpenQueueDescriptors."""

    def _open_several(
        self, name: MultipleElementName, required_access: QueueAccessType, shared_mode: QueueShareMode, now: Now
    ) -> Opened:
        status, several = super()._open_several(name, required_access, shared_mode, now)
        if several is not None:
            del several.OpenQueueDescriptorCollection[4:]
        return status, several
