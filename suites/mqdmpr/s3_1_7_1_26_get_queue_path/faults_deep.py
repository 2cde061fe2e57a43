"""Faults of MS-MQDMPR 3.1.7.1.26 Get Queue Path that only special cases reveal: ports and HTTPS."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import PrivateName, PublicName
from reference_qm.core.names.queue_paths import QueuePathOf, QueuePaths
from reference_qm.model.statuses import Status


@fault("path-of-http-name-computer-with-port", breaks="MQDMPR-3.1.7.1.26-07")
class HostWithPort(QueuePaths):
    """For an HTTP format name with a port, the event Get Queue Path returns the host together with the port as the
    computer.
    """

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        _, separator, rest = format_name.partition("://")
        return found._replace(rMachineName=rest.partition("/")[0]) if separator else found


@fault("path-of-https-name-computer-is-address", breaks="MQDMPR-3.1.7.1.26-07")
class HttpsIsAddress(QueuePaths):
    """For an HTTPS format name, the event Get Queue Path returns the complete address as the computer."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        protocol, separator, rest = format_name.partition(":")
        if separator and protocol.upper().endswith("=HTTPS"):
            return found._replace(rMachineName=rest.partition("\\")[0])
        return found


@fault("path-of-private-name-ignores-number", breaks="MQDMPR-3.1.7.1.26-34")
class FirstPrivateQueue(QueuePaths):
    """For an unknown private queue number, the event Get Queue Path returns the path name of another local queue."""

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        found = super()._path_of_private(name)
        if found.rStatus is Status.MQ_OK and not found.rPathName and name.ComputerGuid == self.qm.adm.Identifier:
            queue = next(iter(self.qm.adm.QueueCollection.values()))
            return found._replace(rPathName=f"{found.rMachineName}\\{queue.Pathname}")
        return found


@fault("path-of-public-name-is-that-of-first-public-queue", breaks="MQDMPR-3.1.7.1.26-12")
class FirstPublicQueue(QueuePaths):
    """For each local public queue, the event Get Queue Path returns the path name of the first local public queue."""

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        public = [one for one in self.qm.adm.QueueCollection.values() if one.PrivateQueueNumber is None]
        if any(one.Identifier == name.QueueGuid for one in public):
            name = PublicName(public[0].Identifier)
        return super()._path_of_public(name)


@fault("path-of-direct-name-of-journal-without-journal", breaks="MQDMPR-3.1.7.1.26-10", blind=True)
class JournalOmitted(QueuePaths):
    """The path name of a direct format name ends before the suffix ;JOURNAL."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        kept, suffix, _ = found.rPathName.rpartition(";")
        if suffix and found.rPathName.lower().endswith(";journal"):
            return found._replace(rPathName=kept)
        return found


@fault("machine-of-direct-name-of-address-with-protocol", breaks="MQDMPR-3.1.7.1.26-09", blind=True)
class FirstLabelOnly(QueuePaths):
    """The computer of a direct format name is its address up to the first period."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        if format_name.lower().startswith("direct=os"):
            return found._replace(rMachineName=found.rMachineName.partition(".")[0])
        return found


@fault("path-of-public-name-of-other-queue-manager-own-computer", breaks="MQDMPR-3.1.7.1.26-21", blind=True)
class OwnComputerForAll(QueuePaths):
    """The event Get Queue Path returns the queue manager's own computer for every public format name."""

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        found = super()._path_of_public(name)
        own = self.qm.enterprise.state.LocalQueueManager.ComputerName or ""
        return found._replace(rMachineName=own) if found.rMachineName else found


@fault("path-of-second-private-queue-is-that-of-first", breaks="MQDMPR-3.1.7.1.26-34", blind=True)
class FirstPrivateForAll(QueuePaths):
    """The path name of every local private format name is that of the private queue with the lowest number."""

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        if self.qm.queue_names.find_by_format_name(name) is not None:
            numbers = [one.PrivateQueueNumber for one in self.qm.adm.QueueCollection.values()]
            lowest = min(number for number in numbers if number)
            name = PrivateName(name.ComputerGuid, lowest)
        return super()._path_of_private(name)


@fault("path-of-unknown-private-name-with-low-number-found", breaks="MQDMPR-3.1.7.1.26-29", blind=True)
class LowNumberFound(QueuePaths):
    """Get Queue Path returns MQ_OK for a private format name with an unknown GUID and a queue number below 3."""

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        found = super()._path_of_private(name)
        return found._replace(rStatus=Status.MQ_OK) if name.QueueIdentifier < 3 else found


@fault("computer-of-http-name-ends-at-dot", breaks="MQDMPR-3.1.7.1.26-07", blind=True)
class HttpHostEndsAtDot(QueuePaths):
    """The computer of an HTTP direct format name is its address up to the first period."""

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        found = super().get_queue_path(format_name)
        _, separator, _ = format_name.partition("://")
        return found._replace(rMachineName=found.rMachineName.partition(".")[0]) if separator else found
