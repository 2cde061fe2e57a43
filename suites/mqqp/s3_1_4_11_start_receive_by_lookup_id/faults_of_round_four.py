"""Faults that break rules of MS-MQQP 3.1.4.11 for some actions, for one refusal or after other reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteQueue, RemoteRead
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.core.remote.remote_reads import LAST_LOOKUP_ID, LOOKUP_ID_WITHOUT_PRIORITY_BITS, RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call

_LOOKUP_PEEK_ACTIONS = (
    ReadAction.MQ_LOOKUP_PEEK_CURRENT,
    ReadAction.MQ_LOOKUP_PEEK_NEXT,
    ReadAction.MQ_LOOKUP_PEEK_PREV,
)
_PREVIOUS_MESSAGE_LOOKUP_ACTIONS = (ReadAction.MQ_LOOKUP_PEEK_PREV, ReadAction.MQ_LOOKUP_RECEIVE_PREV)


@fault("client-ul-timeout-of-lookup-peek-next-copied-from-earlier-read", breaks="MQQP-3.1.4.11-12", blind=True)
class ClientUlTimeoutOfLookupPeekNextCopiedFromEarlierRead(ClientMessageReading):
    """The client sets ulTimeout in a LOOKUP_PEEK_NEXT to the ulTimeout of its preceding read of the same queue without
    a LookupId.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.timeouts: dict[RemoteQueue, int] = {}

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        if read.LookupId is None:
            self.timeouts[read.queue] = read.TimeOut
        elif read.Action is ReadAction.MQ_LOOKUP_PEEK_NEXT:
            described["ulTimeout"] = self.timeouts.get(read.queue, 0)
        return described


@fault("server-accepts-lookup-peek-without-remote-qm-open-queue", breaks="MQQP-3.1.4.11-25", blind=True)
class ServerAcceptsLookupPeekWithoutRemoteQmOpenQueue(RemoteReadStarting):
    """The server accepts a peek by RemoteQMStartReceiveByLookupId with the handle of a queue that only
    R_QMOpenRemoteQueue has opened.
    """

    def check_open_queue(self, desc: ReadDescription) -> Status:
        return Status.MQ_OK if desc["ulAction"] in _LOOKUP_PEEK_ACTIONS else super().check_open_queue(desc)


@fault("server-sequential-id-of-lookup-prev-taken-from-lookup-id-of-call", breaks="MQQP-3.1.4.11-55", blind=True)
class ServerSequentialIdOfLookupPrevTakenFromLookupIdOfCall(RemoteReads):
    """The server sets SequentialId in the answer to a LOOKUP_PEEK_PREV or LOOKUP_RECEIVE_PREV to the lower 7 bytes of
    the LookupId of the call.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.given_lookup_id: int | None = None

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        given = call.arguments.get("LookupId")
        follows = entry is not None and entry.Action in _PREVIOUS_MESSAGE_LOOKUP_ACTIONS and given != LAST_LOOKUP_ID
        self.given_lookup_id = given if follows else None
        super().answer_read(call, status, entry)
        self.given_lookup_id = None

    def get_sequential_id(self, position: MessagePosition) -> int:
        if self.given_lookup_id is None:
            return super().get_sequential_id(position)
        return self.given_lookup_id & LOOKUP_ID_WITHOUT_PRIORITY_BITS


@fault("server-lookup-receive-access-denied-thrown", breaks="MQQP-3.1.4.11-D08", blind=True)
class ServerLookupReceiveAccessDeniedThrown(RemoteReads):
    """The server throws MQ_ERROR_ACCESS_DENIED when RemoteQMStartReceiveByLookupId receives with a handle that was
    opened only to peek.
    """

    def answer_read(self, call: Call, status: Status, entry: RemoteReadEntry | None = None) -> None:
        if "LookupId" in call.arguments and status is Status.MQ_ERROR_ACCESS_DENIED:
            self.qm.remote.carry_out_outputs(call.fault(status))
        else:
            super().answer_read(call, status, entry)
