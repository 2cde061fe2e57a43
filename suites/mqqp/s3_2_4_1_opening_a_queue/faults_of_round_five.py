"""Faults of round five that break rules of MS-MQQP 3.2.4.1 Opening a Queue."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.codec import PrivateName
from reference_qm.core.names.destination_resolving import parse_format_name_of_command
from reference_qm.core.remote.client_model import RemoteQueue
from reference_qm.core.remote.client_queue_opening import ClientQueueOpening


@fault("client-remote-open-queue-entry-handle-of-first-opening", breaks="MQQP-3.2.4.1-17", blind=True)
class ClientRemoteOpenQueueEntryHandleOfFirstOpening(ClientQueueOpening):
    """When a client opens a remote queue that it has already open, it creates the second RemoteOpenQueueEntry with the
    RRSessionHandle of the first.
    """

    def add_remote_open_queue_entry(self, queue: RemoteQueue, context: UUID | None) -> None:
        for entry in self.qm.remote_client.RemoteOpenQueueEntryCollection:
            if entry.queue.FormatName == queue.FormatName:
                context = entry.RRSessionHandle
                break
        super().add_remote_open_queue_entry(queue, context)


@fault("client-open-queue-lic-guid-of-private-format-name", breaks="MQQP-3.2.4.1-10", blind=True)
class ClientOpenQueueLicGuidOfPrivateFormatName(ClientQueueOpening):
    """When a client opens a remote queue by a private format name, it sets pLicGuid of RemoteQMOpenQueue to the
    ComputerGuid of the format name.
    """

    def build_open_queue_arguments(self, queue: RemoteQueue) -> dict[str, Any]:
        arguments = super().build_open_queue_arguments(queue)
        name = parse_format_name_of_command(queue.FormatName)
        if isinstance(name, PrivateName):
            arguments["pLicGuid"] = name.ComputerGuid
        return arguments
