from __future__ import annotations

from typing import NamedTuple

from reference_qm.codec import FormatError, parse_format_name
from reference_qm.codec.format_names import DirectName, PrivateName, PublicName
from reference_qm.core.names.queue_names import host_of_url
from reference_qm.core.part import Part
from reference_qm.model.statuses import Status


class QueuePathOf(NamedTuple):
    """Return values of Get Queue Path: rStatus, rPathName and rMachineName, which may be empty."""

    rStatus: Status
    rPathName: str = ""
    rMachineName: str = ""


_ILLEGAL = QueuePathOf(Status.MQ_ERROR_ILLEGAL_FORMATNAME)


class QueuePaths(Part):
    """The path name of a queue that has a format name. Spec: MS-MQDMPR 3.1.7.1.26."""

    __slots__ = ()

    def get_queue_path(self, format_name: str) -> QueuePathOf:
        """Give the path name of a queue, as far as it can be known, and its computer. Spec: MS-MQDMPR 3.1.7.1.26.

        Both are empty, with MQ_OK, for format names that are of no single queue, for which no step is printed; what is
        no format name at all is illegal.
        """
        try:
            name = parse_format_name(format_name)
        except FormatError:
            return _ILLEGAL
        if isinstance(name, DirectName):
            return _path_of_direct(name, format_name)
        if isinstance(name, PublicName):
            return self._path_of_public(name)
        if isinstance(name, PrivateName):
            return self._path_of_private(name)
        return QueuePathOf(Status.MQ_OK)

    def _path_of_public(self, name: PublicName) -> QueuePathOf:
        """Read the directory. The computer of a queue is the first part of its path name (MS-MQMQ 2.1.1)."""
        queue = self.qm.enterprise.find_queue(name.QueueGuid)
        if queue is None or queue.Pathname is None:
            return _ILLEGAL
        return QueuePathOf(Status.MQ_OK, queue.Pathname, queue.Pathname.partition("\\")[0])

    def _path_of_private(self, name: PrivateName) -> QueuePathOf:
        """Read the directory; only the path name of a queue that is here is known.

        Printed is to look among the local queues when the queue manager that was found has the "QueueGuid" of the
        format name, which it always has: read as when it is the local one, or another's queue would get the name of one
        that is here. A private queue's Pathname is kept without its computer, which a path name begins with (MS-MQMQ
        2.1.1).
        """
        machine = self.qm.enterprise.find_queue_manager("Identifier", name.ComputerGuid)
        if machine is None or machine.ComputerName is None:
            return _ILLEGAL
        queue = self.qm.queue_names.find_by_format_name(name)
        path = "" if queue is None else f"{machine.ComputerName}\\{queue.Pathname}"
        return QueuePathOf(Status.MQ_OK, path, machine.ComputerName)


def _path_of_direct(name: DirectName, text: str) -> QueuePathOf:
    address = name.ProtocolAddressSpecification
    if name.Protocol in ("HTTP", "HTTPS"):
        return QueuePathOf(Status.MQ_OK, "", host_of_url(address))
    _, separator, rest = text.partition("\\")
    return QueuePathOf(Status.MQ_OK, address + separator + rest, address)
