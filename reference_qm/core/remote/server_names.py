from __future__ import annotations

from typing import Any
from uuid import UUID

from reference_qm.codec import NULL_GUID, PrivateName, PrivateQueuePath, PublicName, PublicQueuePath
from reference_qm.codec.format_names import MachineQueuePath
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.names.queue_formats import SYSTEM_QUEUE_FLAG, QueueFormatType, SuffixType
from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.client_model import RemoteQueue

_READABLE_FORMAT_NAME_EXAMPLES = (
    r"DIRECT=TCP:address\private$\queue, DIRECT=OS:host\private$\queue, PRIVATE=guid\id or PUBLIC=guid"
)


class ServerNames(QueueManagerPart):
    """Finds the server and the queue for the format name that a remote reader uses. Spec: MS-MQMQ 2.1, 2.2.7."""

    __slots__ = ()

    def find_server(self, text: str) -> str:
        """Return the address or host name of the queue manager that hosts the queue with the given format name.
        Spec: MS-MQQP 3.2.4.1.
        """
        name = parse_format_name_of_command(text)
        if isinstance(name, MachineQueuePath) and name.Protocol in ("TCP", "OS"):
            return name.ProtocolAddressSpecification
        if isinstance(name, PrivateQueuePath | PublicQueuePath) and name.Protocol in ("TCP", "OS"):
            return name.ProtocolAddressSpecification
        if not isinstance(name, PrivateName | PublicName):
            raise CommandError(f"{text!a} cannot be opened for reading: use {_READABLE_FORMAT_NAME_EXAMPLES}")
        destination = self.qm.next_hops.get_destination_info(text)
        if destination is None:
            raise CommandError(f"the directory does not know {text!a}: use a direct format name")
        host = destination.HostName or self._find_host_name(destination.QueueManagerGuid)
        if host is None:
            raise CommandError(
                f"the address of queue manager {destination.QueueManagerGuid} is unknown: configure a route"
            )
        return host

    def find_server_identifier(self, queue: RemoteQueue) -> UUID:
        """Return the Identifier of the queue manager that hosts a queue, or NULL if it is unknown. A private format
        name contains the Identifier; for any other format name, the Identifier comes from the configured route to the
        server.
        """
        name = parse_format_name_of_command(queue.FormatName)
        if isinstance(name, PrivateName):
            return name.ComputerGuid
        routes = self.qm.config.routes.items()
        return next((guid for guid, host in routes if host == queue.RemoteServer.host), NULL_GUID)

    def _find_host_name(self, guid: UUID) -> str | None:
        if guid == NULL_GUID or not self.qm.enterprise.state.DirectoryIntegrated:
            return self.qm.config.routes.get(guid)
        machine = self.qm.enterprise.find_queue_manager("Identifier", guid)
        return None if machine is None else machine.QualifiedComputerName or machine.ComputerName


def build_queue_format(text: str) -> dict[str, Any]:
    """Return the QUEUE_FORMAT for a format name that ``find_server`` accepted. Spec: MS-MQMQ 2.2.7."""
    name = parse_format_name_of_command(text)
    if isinstance(name, PublicName):
        return _build_queue_format_struct(QueueFormatType.PUBLIC, 0, name.QueueGuid)
    if isinstance(name, PrivateName):
        suffix = SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL if name.Journal else 0
        return _build_queue_format_struct(
            QueueFormatType.PRIVATE, suffix, {"Lineage": name.ComputerGuid, "Uniquifier": name.QueueIdentifier}
        )
    direct = str(name).partition("=")[2]
    if isinstance(name, MachineQueuePath):
        return _build_queue_format_struct(
            QueueFormatType.DIRECT, SYSTEM_QUEUE_FLAG | SuffixType[name.SystemQueue], direct
        )
    assert isinstance(name, PrivateQueuePath | PublicQueuePath)
    if name.Subqueue is not None:
        return _build_queue_format_struct(QueueFormatType.SUBQUEUE, SuffixType.SUBQUEUE, direct)
    return _build_queue_format_struct(
        QueueFormatType.DIRECT, SYSTEM_QUEUE_FLAG | SuffixType.JOURNAL if name.Journal else 0, direct
    )


def _build_queue_format_struct(kind: QueueFormatType, suffix: int, value: Any) -> dict[str, Any]:
    return {"m_qft": int(kind), "m_SuffixAndFlags": suffix, "m_reserved": 0, "union": value}
