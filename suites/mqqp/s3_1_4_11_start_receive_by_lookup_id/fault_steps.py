"""Steps that several fault files of this section share."""

from __future__ import annotations

from typing import Any

from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call

SeekResult = tuple[Status, MessagePosition | None]


def is_lookup_call(call: Call) -> bool:
    """Return whether a call is RemoteQMStartReceiveByLookupId."""
    return call.method.name == "RemoteQMStartReceiveByLookupId"


class ReadAnswerChanger(RemoteReads):
    """Change the answers to reads."""

    def change(self, call: Call, status: Status, entry: RemoteReadEntry | None) -> Call:
        """Return the call with a changed answer."""
        return call

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        super().answer_read(self.change(call, status, entry) if is_lookup_call(call) else call, status, entry)


MESSAGE_NOT_FOUND_RESULT: SeekResult = (Status.MQ_ERROR_MESSAGE_NOT_FOUND, None)


class LookupRequestChanger(ClientMessageReading):
    """Change the requests of a client that reads by lookup identifier."""

    action: ReadAction

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        return {**given, **self.change(read)} if read.Action is self.action else given

    def change(self, read: RemoteRead) -> dict[str, Any]:
        """Return the wrong fields of a read with the action."""
        return {}
