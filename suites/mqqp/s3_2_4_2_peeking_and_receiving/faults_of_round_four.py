"""Faults that break rules of MS-MQQP 3.2.4.2 to 3.2.4.6 for some values, later reads or simultaneous reads."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault, replace_part
from harness.faults.primitives import combine_installers
from harness.faults.registry import FaultyCore, add
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import RemoteQueue, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import ReadAction
from reference_qm.rpc import QM2QM
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.client import find_method
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket

_FIRST_BUILD_WITH_START_RECEIVE2 = 951
_READ_DESCRIPTION_START_STRUCT = struct.Struct("<5I")
"""The fields of REMOTEREADDESC from hRemoteQueue to dwSize."""
_DW_SIZE_STRUCT = struct.Struct("<I")


@fault("client-request-id-of-cursor-start-receive2-is-oldest-pending-read", breaks="MQQP-3.2.4.6-30", blind=True)
class ClientRequestIdOfCursorStartReceive2IsOldestPendingRead(ClientMessageReading):
    """A client that receives by a cursor with RemoteQMStartReceive2 sets dwRequestID to the RequestId of the oldest
    pending read of the queue.
    """

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.receives and read.CursorHandle and read.LookupId is None:
            pending = self.qm.remote_client.PendingRemoteReadEntryCollection
            oldest = next(entry for entry in pending if entry.queue is read.queue)
            described["pRemoteReadDesc"]["dwRequestID"] = oldest.RequestId
        return described


@fault("client-repeats-dw-request-id-of-previous-cursor-peek-next", breaks="MQQP-3.2.4.5-21", blind=True)
class ClientRepeatsDwRequestIdOfPreviousCursorPeekNext(ClientMessageReading):
    """A client that peeks at the next message by a cursor with RemoteQMStartReceive repeats the dwRequestID of the
    previous peek by this cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.request_ids: dict[tuple[RemoteQueue, int], int] = {}

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        described = self.build_start_receive_description(read)
        if read.CursorHandle and not read.receives:
            place = read.queue, read.CursorHandle
            if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
                described["dwRequestID"] = self.request_ids.get(place, described["dwRequestID"])
            self.request_ids[place] = described["dwRequestID"]
        return (yield from self._call_start_method(read, "RemoteQMStartReceive", {"lpRemoteReadDesc": described}))


class PeekedSizeRecorder(ClientMessageReading):
    """Record, for each connection, the size of the message that the client last peeked at without a cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sizes: dict[str, int] = {}

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        results = yield from super().start_receive(read)
        described = results["lpRemoteReadDesc"]
        if described is not None and read.queue.binding is not None and not read.receives and not read.CursorHandle:
            self.sizes[read.queue.binding.transport] = described["dwSize"]
        return results


def _send_recorded_sizes(faulty: FaultyCore) -> None:
    opnum = find_method(QM2QM, "RemoteQMStartReceive")

    def change_size(effect: Effect) -> Iterable[Effect]:
        reading = faulty.core.client_message_reading
        if not isinstance(effect, SendPacket) or not isinstance(reading, PeekedSizeRecorder):
            return [effect]
        size = reading.sizes.get(effect.transport, 0)
        try:
            pdu = Pdu.parse(effect.data)
        except PduError:
            return [effect]  # not a request, or a request of several fragments
        if not size or not isinstance(pdu.body, Request) or pdu.body.opnum != opnum:
            return [effect]
        stub = pdu.body.stub
        _, cursor, action, _, _ = _READ_DESCRIPTION_START_STRUCT.unpack_from(stub)
        if cursor or action != ReadAction.MQ_ACTION_PEEK_CURRENT:
            return [effect]
        at = _READ_DESCRIPTION_START_STRUCT.size - _DW_SIZE_STRUCT.size
        changed = stub[:at] + _DW_SIZE_STRUCT.pack(size) + stub[at + _DW_SIZE_STRUCT.size :]
        return [replace(effect, data=replace(pdu, body=replace(pdu.body, stub=changed)).build())]

    faulty.effect_filters.append(change_size)


add(
    "client-peek-size-of-previous-message",
    "MQQP-3.2.4.2-16",
    "A client that peeks with RemoteQMStartReceive sets dwSize to the size of the message that it peeked at "
    "before in the same queue.",
    combine_installers(replace_part(PeekedSizeRecorder), _send_recorded_sizes),
    blind=True,
)


@fault("client-sequential-id-of-start-receive2-peek-next-is-previous-one", breaks="MQQP-3.2.4.5-32", blind=True)
class ClientSequentialIdOfStartReceive2PeekNextIsPreviousOne(ClientMessageReading):
    """A client that peeks at the next message by a cursor with RemoteQMStartReceive2 sets SequentialId to the
    SequentialId of the previous message of this cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sequential_ids: dict[tuple[RemoteQueue, int], int] = {}

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["SequentialId"] = self.sequential_ids.get((read.queue, read.CursorHandle), 0)
        return described

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        results = yield from super().start_receive2(read)
        if read.CursorHandle:
            self.sequential_ids[read.queue, read.CursorHandle] = results["lpRemoteReadDesc2"]["SequentialId"]
        return results


@fault("client-cursor-receive-takes-version-5-build-951-for-new", breaks="MQQP-3.2.4.6-09", blind=True)
class ClientCursorReceiveTakesVersion5Build951ForNew(ClientMessageReading):
    """A client that receives by a cursor treats a server of version 5.0 as too old for RemoteQMStartReceive2 only if
    its build number is below 951.
    """

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        receives_by_cursor = read.receives and read.CursorHandle
        if receives_by_cursor and version is not None and (5, 0, _FIRST_BUILD_WITH_START_RECEIVE2) <= version < (5, 1):
            return ServerVersion(5, 1, version.BuildNumber)
        return version


@fault("client-h-cursor-of-plain-start-receive2-is-open-cursor", breaks="MQQP-3.2.4.3-26", blind=True)
class ClientHCursorOfPlainStartReceive2IsOpenCursor(ClientMessageReading):
    """A client that receives with RemoteQMStartReceive2 without a cursor sets hCursor to the handle of a cursor that is
    open in the same queue.
    """

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.receives and read.LookupId is None and not read.CursorHandle:
            cursors = self.qm.remote_client.queue_and_handle_by_cursor.values()
            described["pRemoteReadDesc"]["hCursor"] = next((one for of, one in cursors if of is read.queue), 0)
        return described
