"""Faults of the event Get Queue Path for names without a known queue, and for several public queues."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec.format_names import PrivateName, PublicName
from reference_qm.core.names.queue_paths import QueuePathResult, QueuePaths
from reference_qm.model.statuses import Status


@fault("queue-manager-get-queue-path-returns-format-name-for-unknown-path", breaks="MQDMPR-3.1.7.1.26-03", blind=True)
class QueueManagerGetQueuePathReturnsFormatNameForUnknownPath(QueuePaths):
    """If the queue manager does not know the path name, the event Get Queue Path returns the format name as path
    name.
    """

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        unknown = found.rStatus is Status.MQ_OK and not (found.rPathName or found.rMachineName)
        return found._replace(rPathName=format_name) if unknown else found


@fault("get-queue-path-returns-local-computer-for-unknown-queue", breaks="MQDMPR-3.1.7.1.26-03", blind=True)
class GetQueuePathReturnsLocalComputerForUnknownQueue(QueuePaths):
    """If the queue manager does not know the computer, the event Get Queue Path returns its own computer name."""

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        found = super().get_queue_path(format_name)
        unknown = found.rStatus is Status.MQ_OK and not (found.rPathName or found.rMachineName)
        name = self.qm.enterprise.state.LocalQueueManager.ComputerName or ""
        return found._replace(rMachineName=name) if unknown else found


@fault("get-queue-path-of-remote-private-queue-contains-its-number", breaks="MQDMPR-3.1.7.1.26-03", blind=True)
class GetQueuePathOfRemotePrivateQueueContainsItsNumber(QueuePaths):
    """For a private queue of another computer, the event Get Queue Path returns a path name with the number of the
    queue.
    """

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        found = super()._find_computer_of_private_queue(name)
        if found.rStatus is Status.MQ_OK and not found.rPathName:
            return found._replace(rPathName=rf"{found.rMachineName}\private$\{name.QueueIdentifier:08x}")
        return found


@fault("queue-manager-path-of-second-public-queue-is-path-of-first", breaks="MQDMPR-3.1.7.1.26-21", blind=True)
class QueueManagerPathOfSecondPublicQueueIsPathOfFirst(QueuePaths):
    """The event Get Queue Path returns the path name of the public queue that it found first, for every public queue
    that it finds.
    """

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        if found.rStatus is not Status.MQ_OK:
            return found
        first: QueuePathResult = self.__dict__.setdefault("first", found)
        return first


@fault("get-queue-path-of-local-public-queue-returns-dns-name", breaks="MQDMPR-3.1.7.1.26-21", blind=True)
class GetQueuePathOfLocalPublicQueueReturnsDnsName(QueuePaths):
    """For a public queue of this computer, the event Get Queue Path returns the DNS name of the computer."""

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        found = super()._find_path_of_public_queue(name)
        local = self.qm.enterprise.state.LocalQueueManager
        if found.rMachineName and found.rMachineName == local.ComputerName:
            return found._replace(rMachineName=f"{local.QualifiedComputerName}.")
        return found
