"""Faults of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6 in the second read of the same kind and with other values."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction

H_QUEUE = (
    *("MQQP-3.2.4.2-14", "MQQP-3.2.4.2-24", "MQQP-3.2.4.3-14", "MQQP-3.2.4.3-24"),
    *("MQQP-3.2.4.5-14", "MQQP-3.2.4.5-24", "MQQP-3.2.4.6-13", "MQQP-3.2.4.6-23"),
)
DW_QUEUE = (
    *("MQQP-3.2.4.2-15", "MQQP-3.2.4.2-25", "MQQP-3.2.4.3-15", "MQQP-3.2.4.3-25"),
    *("MQQP-3.2.4.5-15", "MQQP-3.2.4.5-25", "MQQP-3.2.4.6-14", "MQQP-3.2.4.6-24"),
)
DW_SIZE = (
    *("MQQP-3.2.4.2-16", "MQQP-3.2.4.2-26", "MQQP-3.2.4.3-17", "MQQP-3.2.4.3-27"),
    *("MQQP-3.2.4.5-17", "MQQP-3.2.4.5-27", "MQQP-3.2.4.6-16", "MQQP-3.2.4.6-26"),
)
TIMEOUT = (
    *("MQQP-3.2.4.2-20", "MQQP-3.2.4.2-30", "MQQP-3.2.4.3-20", "MQQP-3.2.4.3-30"),
    *("MQQP-3.2.4.5-20", "MQQP-3.2.4.5-30", "MQQP-3.2.4.6-19", "MQQP-3.2.4.6-29"),
)
REQUEST_ID = (
    *("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31", "MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
    *("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31", "MQQP-3.2.4.6-20", "MQQP-3.2.4.6-30"),
)
CURSOR_OF_CURSOR_READS = ("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26", "MQQP-3.2.4.6-15", "MQQP-3.2.4.6-25")
CURSOR_OF_PLAIN_READS = ("MQQP-3.2.4.2-18", "MQQP-3.2.4.2-28", "MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26")
SEQUENTIAL_ID = ("MQQP-3.2.4.2-32", "MQQP-3.2.4.3-32", "MQQP-3.2.4.5-32", "MQQP-3.2.4.6-31")


class _Counting(ClientReading):
    """Count the reads of the client."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        self.count += 1
        return super().create_pending_read(read)


class _Describing(_Counting):
    """Change the REMOTEREADDESC of a read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        raise NotImplementedError

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        return super().describe_read(read) | self.change(read)


@fault("client-read-of-second-queue-hremotequeue-of-first", breaks=H_QUEUE)
class ClientReadOfSecondQueueHremotequeueOfFirst(_Describing):
    """The client sets hRemoteQueue to the phQueue of the queue that it opened first."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"hRemoteQueue": next(iter(self.qm.remote_client.queues.values())).QueueHandle}


@fault("client-second-read-hremotequeue-is-pdwcontext", breaks=H_QUEUE)
class ClientSecondReadHremotequeueIsPdwcontext(_Describing):
    """The client sets hRemoteQueue to pdwContext in every second read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {} if self.count % 2 else {"hRemoteQueue": read.queue.OpenContext}


@fault("client-second-read-dwqueue-is-phqueue", breaks=DW_QUEUE)
class ClientSecondReadDwqueueIsPhqueue(_Describing):
    """The client sets dwQueue to phQueue in every second read."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {} if self.count % 2 else {"dwQueue": read.queue.QueueHandle}


@fault("client-infinite-read-dwqueue-is-phqueue", breaks=DW_QUEUE)
class ClientInfiniteReadDwqueueIsPhqueue(_Describing):
    """The client sets dwQueue to phQueue in a read without a time limit."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwQueue": read.queue.QueueHandle} if read.TimeOut == INFINITE_MS else {}


@fault("client-second-read-dwsize-of-last-message", breaks=DW_SIZE)
class ClientSecondReadDwsizeOfLastMessage(_Describing):
    """The client passes a buffer with the size of the packet that the server returned last, with its dwSize."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.size = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"dwSize": self.size, "lpBuffer": bytes(self.size)} if self.size else {}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        self.size = 0 if desc is None else desc["dwSize"]
        return super().reconstruct_message(results, server)


@fault("client-long-timeout-sent-as-signed-maximum", breaks=TIMEOUT)
class ClientLongTimeoutSentAsSignedMaximum(_Describing):
    """The client sets ulTimeout to 0x7FFFFFFF for a read with a longer time-out that is not infinite."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": min(read.TimeOut, 0x7FFFFFFF)} if read.TimeOut != INFINITE_MS else {}


@fault("client-timeout-rounded-to-seconds", breaks=TIMEOUT)
class ClientTimeoutRoundedToSeconds(_Describing):
    """The client rounds ulTimeout down to whole seconds."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": read.TimeOut // 1000 * 1000} if read.TimeOut != INFINITE_MS else {}


@fault("client-timeout-of-second-read-of-first", breaks=TIMEOUT)
class ClientTimeoutOfSecondReadOfFirst(_Describing):
    """The client sets ulTimeout of each read of a queue to the time-out of the first read of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, int] = {}

    def change(self, read: RemoteRead) -> dict[str, Any]:
        return {"ulTimeout": self.first.setdefault(read.queue.number, read.TimeOut)}


@fault("client-request-id-in-low-byte-only", breaks=REQUEST_ID)
class ClientRequestIdInLowByteOnly(_Describing):
    """The client sends the RequestId of a concurrent read plus 0x100."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        assert read.entry is not None
        return {"dwRequestID": read.entry.RequestId + 0x100} if len(pending) > 1 else {}


@fault("client-read-by-first-cursor-hcursor-of-newest", breaks=CURSOR_OF_CURSOR_READS)
class ClientReadByFirstCursorHcursorOfNewest(_Describing):
    """The client sets hCursor to the phCursor that R_QMCreateRemoteCursor returned last."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        cursors = list(self.qm.remote_client.cursors.values())
        return {"hCursor": cursors[-1][1]} if read.CursorHandle and cursors else {}


@fault("client-second-read-by-cursor-hcursor-0", breaks=CURSOR_OF_CURSOR_READS)
class ClientSecondReadByCursorHcursor0(_Describing):
    """The client sets hCursor to 0 in the second read by the same cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[int] = set()

    def change(self, read: RemoteRead) -> dict[str, Any]:
        again = read.CursorHandle in self.used
        self.used.add(read.CursorHandle)
        return {"hCursor": 0} if again else {}


@fault("client-plain-read-after-cursor-read-hcursor-stays", breaks=CURSOR_OF_PLAIN_READS)
class ClientPlainReadAfterCursorReadHcursorStays(_Describing):
    """The client sets hCursor of a read without a cursor to the cursor of the read before it."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = 0

    def change(self, read: RemoteRead) -> dict[str, Any]:
        self.last = read.CursorHandle or self.last
        return {"hCursor": self.last}


@fault("client-second-read-sequential-id-of-first-answer", breaks=SEQUENTIAL_ID)
class ClientSecondReadSequentialIdOfFirstAnswer(_Counting):
    """The client sets SequentialId to the SequentialId that the server returned last."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.last = 0

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        return super().describe_read2(read) | {"SequentialId": self.last}

    def reconstruct_message(self, results: dict[str, Any], server: UUID) -> RemoteMessage:
        self.last = (results.get("lpRemoteReadDesc2") or {}).get("SequentialId", 0)
        return super().reconstruct_message(results, server)


@fault("client-second-peek-by-cursor-ulaction-peek-current", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientSecondPeekByCursorUlactionPeekCurrent(_Describing):
    """The client sets ulAction to PEEK_CURRENT in the second PEEK_NEXT of the same cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[int] = set()

    def change(self, read: RemoteRead) -> dict[str, Any]:
        if read.Action is not ReadAction.MQ_ACTION_PEEK_NEXT:
            return {}
        again = read.CursorHandle in self.used
        self.used.add(read.CursorHandle)
        return {"ulAction": int(ReadAction.MQ_ACTION_PEEK_CURRENT)} if again else {}


@fault("client-peek-current-by-cursor-after-peek-ulaction-peek-next", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientPeekCurrentByCursorAfterPeekUlactionPeekNext(_Describing):
    """The client sets ulAction to PEEK_NEXT in the second PEEK_CURRENT of the same cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[int] = set()

    def change(self, read: RemoteRead) -> dict[str, Any]:
        if read.Action is not ReadAction.MQ_ACTION_PEEK_CURRENT or not read.CursorHandle:
            return {}
        again = read.CursorHandle in self.used
        self.used.add(read.CursorHandle)
        return {"ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if again else {}
