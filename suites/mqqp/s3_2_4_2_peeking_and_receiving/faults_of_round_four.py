"""Faults that break rules of MS-MQQP 3.2.4.2 to 3.2.4.6 for some values, later reads or simultaneous reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteQueue, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, Version
from reference_qm.core.remote.client_steps import Sequence
from reference_qm.core.remote.enums import ReadAction

_BUILD_OF_THIRD_CONDITION = 951


@fault("client-cursor-receive2-request-id-of-oldest-pending-read", breaks="MQQP-3.2.4.6-30", blind=True)
class CursorReceive2RequestIdOfOldestRead(ClientReading):
    """The client that receives by a cursor with RemoteQMStartReceive2 sets dwRequestID to the RequestId of the oldest
    pending read of the queue.
    """

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read2(read)
        if read.receives and read.CursorHandle and read.LookupId is None:
            pending = self.qm.remote_client.PendingRemoteReadEntryCollection
            oldest = next(entry for entry in pending if entry.queue is read.queue)
            described["pRemoteReadDesc"]["dwRequestID"] = oldest.RequestId
        return described


@fault("client-cursor-peek-next-request-id-of-previous-peek-repeated", breaks="MQQP-3.2.4.5-21", blind=True)
class CursorPeekNextRequestIdRepeated(ClientReading):
    """The client that peeks at the next message by a cursor with RemoteQMStartReceive repeats the dwRequestID of the
    previous peek by this cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.request_ids: dict[tuple[RemoteQueue, int], int] = {}

    def start_receive(self, read: RemoteRead) -> Sequence:
        described = self.describe_read(read)
        if read.CursorHandle and not read.receives:
            place = read.queue, read.CursorHandle
            if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
                described["dwRequestID"] = self.request_ids.get(place, described["dwRequestID"])
            self.request_ids[place] = described["dwRequestID"]
        return (yield from self._call_start_method(read, "RemoteQMStartReceive", {"lpRemoteReadDesc": described}))


@fault("client-peek-size-of-previous-message", breaks="MQQP-3.2.4.2-16", blind=True)
class PeekSizeOfPreviousMessage(ClientReading):
    """The client that peeks with RemoteQMStartReceive sets dwSize to the size of the message that it peeked at
    before in the same queue.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sizes: dict[RemoteQueue, int] = {}

    def start_receive(self, read: RemoteRead) -> Sequence:
        described = self.describe_read(read)
        is_plain_peek = not read.receives and not read.CursorHandle
        if is_plain_peek:
            described["dwSize"] = self.sizes.get(read.queue, 0)
        results = yield from self._call_start_method(read, "RemoteQMStartReceive", {"lpRemoteReadDesc": described})
        if is_plain_peek and results["lpRemoteReadDesc"] is not None:
            self.sizes[read.queue] = results["lpRemoteReadDesc"]["dwSize"]
        return results


@fault("client-cursor-peek2-next-sequential-id-of-previous-message", breaks="MQQP-3.2.4.5-32", blind=True)
class CursorPeek2NextSequentialIdOfPreviousMessage(ClientReading):
    """The client that peeks at the next message by a cursor with RemoteQMStartReceive2 sets SequentialId to the
    SequentialId of the previous message of this cursor.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.sequential_ids: dict[tuple[RemoteQueue, int], int] = {}

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read2(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["SequentialId"] = self.sequential_ids.get((read.queue, read.CursorHandle), 0)
        return described

    def start_receive2(self, read: RemoteRead) -> Sequence:
        results = yield from super().start_receive2(read)
        if read.CursorHandle:
            self.sequential_ids[read.queue, read.CursorHandle] = results["lpRemoteReadDesc2"]["SequentialId"]
        return results


@fault("client-cursor-receive-version-5-0-of-build-951-treated-as-new", breaks="MQQP-3.2.4.6-09", blind=True)
class CursorReceiveVersion50OfLaterBuildTreatedAsNew(ClientReading):
    """The client that receives by a cursor treats a server of version 5.0 as too old for RemoteQMStartReceive2 only if
    its build number is below 951.
    """

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        version = yield from super().ask_server_version(read)
        receives_by_cursor = read.receives and read.CursorHandle
        if receives_by_cursor and version is not None and (5, 0, _BUILD_OF_THIRD_CONDITION) <= version < (5, 1):
            return Version(5, 1, version.BuildNumber)
        return version


@fault("client-peek-version-4-1-treated-as-new", breaks="MQQP-3.2.4.2-13", blind=True)
class PeekVersion41TreatedAsNew(ClientReading):
    """The client calls RemoteQMStartReceive2 for a peek on a server whose major version is below 5, if the minor
    version is at least 1.
    """

    def ask_server_version(self, read: RemoteRead) -> Sequence:
        version = yield from super().ask_server_version(read)
        is_plain_peek = not read.receives and not read.CursorHandle and read.LookupId is None
        if is_plain_peek and version is not None and version.Major < 5 and version.Minor >= 1:
            return Version(5, version.Minor, version.BuildNumber)
        return version


@fault("client-receive2-cursor-of-queue-with-open-cursor", breaks="MQQP-3.2.4.3-26", blind=True)
class Receive2CursorOfQueueWithOpenCursor(ClientReading):
    """The client that receives with RemoteQMStartReceive2 without a cursor sets hCursor to the handle of a cursor that
    is open in the same queue.
    """

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        described = super().describe_read2(read)
        if read.receives and read.LookupId is None and not read.CursorHandle:
            cursors = self.qm.remote_client.cursors.values()
            described["pRemoteReadDesc"]["hCursor"] = next((one for of, one in cursors if of is read.queue), 0)
        return described
