"""Steps that several fault files of this section share."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, RemoteMessage
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead


class PreviousAnswerRecorder(ClientMessageReading):
    """Remember the answer to the last read."""

    last_packet_size = 0
    last_sequential_id = 0
    last_handle: UUID | None = None

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        second = results.get("lpRemoteReadDesc2")
        if second is None:
            self.last_packet_size = results["lpRemoteReadDesc"]["dwSize"]
        else:
            self.last_packet_size = second["pRemoteReadDesc"]["dwSize"]
            self.last_sequential_id = second["SequentialId"]
        return super().reconstruct_message(results, server)


class ClientReadCounter(ClientMessageReading):
    """Count the reads of the client."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        self.count += 1
        return super().create_pending_read(read)


class ReadDescriptionChanger(ClientReadCounter):
    """Change the REMOTEREADDESC of a read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        raise NotImplementedError

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        return super().build_start_receive_description(read) | self.change(read)
