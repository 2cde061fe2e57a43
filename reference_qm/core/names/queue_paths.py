from __future__ import annotations

from typing import NamedTuple

from reference_qm.codec import FormatError, parse_format_name
from reference_qm.codec.format_names import DirectName, PrivateName, PublicName
from reference_qm.core.names.queue_names import parse_host_of_url
from reference_qm.core.part import QueueManagerPart
from reference_qm.model.statuses import Status


class QueuePathResult(NamedTuple):
    """The return values of Get Queue Path: rStatus, rPathName and rMachineName. The names may be empty."""

    rStatus: Status
    rPathName: str = ""
    rMachineName: str = ""


_ILLEGAL_FORMAT_NAME_RESULT = QueuePathResult(Status.MQ_ERROR_ILLEGAL_FORMATNAME)


class QueuePaths(QueueManagerPart):
    """Finds the path name of the queue that a format name identifies. Spec: MS-MQDMPR 3.1.7.1.26."""

    __slots__ = ()

    def get_queue_path(self, format_name: str) -> QueuePathResult:
        """Return the path name and the computer of the queue that a format name identifies. Spec: MS-MQDMPR
        3.1.7.1.26.

        An unknown path name or computer name is returned as an empty string. The document has no step for a format name
        of several queues: this method returns MQ_OK with two empty names. For a text that is not a format name, the
        status is MQ_ERROR_ILLEGAL_FORMATNAME.
        """
        try:
            name = parse_format_name(format_name)
        except FormatError:
            return _ILLEGAL_FORMAT_NAME_RESULT
        if isinstance(name, DirectName):
            return _find_path_of_direct_format_name(name, format_name)
        if isinstance(name, PublicName):
            return self._find_path_of_public_queue(name)
        if isinstance(name, PrivateName):
            return self._find_computer_of_private_queue(name)
        return QueuePathResult(Status.MQ_OK)

    def _find_path_of_public_queue(self, name: PublicName) -> QueuePathResult:
        """Find the path name of a public queue in the directory.

        The first part of the path name is the name of the computer (MS-MQMQ 2.1.1).
        """
        queue = self.qm.enterprise.find_queue(name.QueueGuid)
        if queue is None or queue.Pathname is None:
            return _ILLEGAL_FORMAT_NAME_RESULT
        return QueuePathResult(Status.MQ_OK, queue.Pathname, queue.Pathname.partition("\\")[0])

    def _find_computer_of_private_queue(self, name: PrivateName) -> QueuePathResult:
        """Find the computer of a private queue in the directory. The path name is returned only for a local queue.

        The document searches the local queues if the directory's queue manager has the "QueueGuid" of the format
        name, which is always true. Here the local queues are searched only for the local queue manager. Otherwise a
        remote queue would get the name of a local queue. The Pathname of a private queue is stored without its
        computer, but the returned path name begins with the computer (MS-MQMQ 2.1.1).
        """
        machine = self.qm.enterprise.find_queue_manager("Identifier", name.ComputerGuid)
        if machine is None or machine.ComputerName is None:
            return _ILLEGAL_FORMAT_NAME_RESULT
        queue = self.qm.queue_names.find_queue_by_format_name(name)
        path = "" if queue is None else f"{machine.ComputerName}\\{queue.Pathname}"
        return QueuePathResult(Status.MQ_OK, path, machine.ComputerName)


def _find_path_of_direct_format_name(name: DirectName, text: str) -> QueuePathResult:
    address = name.ProtocolAddressSpecification
    if name.Protocol in ("HTTP", "HTTPS"):
        return QueuePathResult(Status.MQ_OK, "", parse_host_of_url(address))
    _, separator, rest = text.partition("\\")
    return QueuePathResult(Status.MQ_OK, address + separator + rest, address)
