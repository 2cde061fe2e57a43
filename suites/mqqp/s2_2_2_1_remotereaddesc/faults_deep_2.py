"""Faults of MS-MQQP 2.2.2.1 REMOTEREADDESC with other methods, large messages and second reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, RemoteMessage
from reference_qm.core.remote.client_steps import RemoteError
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVE_ACTIONS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.core.remote.remote_starting import Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.model.states import DeliveryGuarantee
from reference_qm.model.statuses import Status
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


class _Answer(RemoteReads):
    """Change the REMOTEREADDESC of an answer that contains a message."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        raise NotImplementedError

    def describe_remote_message(self, position: MessagePosition) -> dict[str, Any]:
        found = super().describe_remote_message(position)
        return found | self.change(position, found)


@fault("server-dwarrivetime-of-second-read-of-first-message", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeOfSecondReadOfFirstMessage(_Answer):
    """The server returns the dwArriveTime of the first message that it returned for each later message of the queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[str, int] = {}

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        return {"dwArriveTime": self.first.setdefault(position.QueueReference.Pathname, found["dwArriveTime"])}


@fault("server-dwarrivetime-of-newest-message", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeOfNewestMessage(_Answer):
    """The server returns the dwArriveTime of the last message of the queue."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        times = [one.MessageReference.ArrivalTime for one in position.QueueReference.MessagePositionList]
        return {"dwArriveTime": max([found["dwArriveTime"], *times])}


@fault("server-dwarrivetime-of-transactional-message-of-sending", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeOfTransactionalMessageOfSending(_Answer):
    """The server returns SentTime as dwArriveTime of a message of a transactional queue."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        sent = position.MessageReference.SentTime
        return {"dwArriveTime": sent} if position.QueueReference.Transactional else {}


@fault("server-dwarrivetime-of-express-message-of-sending", breaks="MQQP-2.2.2.1-07")
class ServerDwarrivetimeOfExpressMessageOfSending(_Answer):
    """The server returns SentTime as dwArriveTime of an express message."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        message = position.MessageReference
        return {"dwArriveTime": message.SentTime} if message.DeliveryGuarantee is DeliveryGuarantee.EXPRESS else {}


@fault("server-shorter-packet-padded-to-size-of-longest", breaks="MQQP-2.2.2.1-03")
class ServerShorterPacketPaddedToSizeOfLongest(_Answer):
    """The server pads lpBuffer of a packet to the size of the longest packet that it returned before."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.size = 0

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        self.size = max(self.size, found["dwSize"])
        return {"dwSize": self.size, "lpBuffer": found["lpBuffer"].ljust(self.size, b"\0")}


@fault("server-large-packet-padded-to-4-kb", breaks=("MQQP-2.2.2.1-03", "MQQP-2.2.2.1-D04"))
class ServerLargePacketPaddedTo4Kb(_Answer):
    """The server pads lpBuffer of a packet above 4,096 bytes to a multiple of 4,096 bytes."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        size = found["dwSize"]
        padded = size if size < 4096 else (size + 4095) // 4096 * 4096
        return {"dwSize": padded, "lpBuffer": found["lpBuffer"].ljust(padded, b"\0")}


@fault("server-packet-above-1-mb-cut", breaks="MQQP-2.2.2.1-D04")
class ServerPacketAbove1MbCut(_Answer):
    """The server returns only the first 1,048,576 bytes of a longer packet."""

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        data = found["lpBuffer"][: 1 << 20]
        return {"dwSize": len(data), "lpBuffer": data}


@fault("server-packet-of-first-message-for-every-message", breaks=("MQQP-2.2.2.1-10", "MQQP-2.2.2.1-D04"))
class ServerPacketOfFirstMessageForEveryMessage(_Answer):
    """The server returns the packet of the first message that it read for every later message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.seen: dict[int, bytes] = {}

    def change(self, position: MessagePosition, found: dict[str, Any]) -> dict[str, Any]:
        self.seen.setdefault(id(position), found["lpBuffer"])
        data = next(iter(self.seen.values()))
        again = len(self.seen) > 1
        return {"lpBuffer": data, "dwSize": len(data)} if again else {}


class _Starting(RemoteStarting):
    """Change the time-out of a read."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        raise NotImplementedError

    def create_remote_read_entry(self, call: Call, desc: Desc) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        entry.Timeout = self.limit(entry, desc)
        return entry


@fault("server-infinite-peek-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfinitePeekDoesNotWait(_Starting):
    """The server does not wait for a message in a peek with ulTimeout 0xFFFFFFFF."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        infinite = entry.Timeout == INFINITE_MS and entry.Action not in RECEIVE_ACTIONS
        return 0 if infinite else entry.Timeout


@fault("server-infinite-receive-by-cursor-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfiniteReceiveByCursorDoesNotWait(_Starting):
    """The server does not wait for a message in a read by a cursor with ulTimeout 0xFFFFFFFF."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        return 0 if entry.Timeout == INFINITE_MS and desc["hCursor"] else entry.Timeout


@fault("server-infinite-start-receive-does-not-wait", breaks="MQQP-2.2.2.1-02")
class ServerInfiniteStartReceiveDoesNotWait(_Starting):
    """The server does not wait for a message in a RemoteQMStartReceive with ulTimeout 0xFFFFFFFF."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        old = entry.call.method.name == "RemoteQMStartReceive"
        return 0 if entry.Timeout == INFINITE_MS and old else entry.Timeout


@fault("server-timeout-of-peek-in-seconds", breaks="MQQP-2.2.2.1-D01")
class ServerTimeoutOfPeekInSeconds(_Starting):
    """The server takes ulTimeout of a peek as seconds."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        finite = entry.Timeout != INFINITE_MS and entry.Action not in RECEIVE_ACTIONS
        return entry.Timeout * 1000 if finite else entry.Timeout


@fault("server-timeout-of-second-waiting-read-of-first", breaks="MQQP-2.2.2.1-D01")
class ServerTimeoutOfSecondWaitingReadOfFirst(_Starting):
    """The server gives a read the time-out of the read that already waits on the same handle."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        first = self.qm.remote.RemoteReadEntryCollection.of(entry.OpenQueueDescriptorHandle)[0]
        return first.Timeout


@fault("server-timeout-rounded-up-to-5-seconds", breaks="MQQP-2.2.2.1-D01")
class ServerTimeoutRoundedUpTo5Seconds(_Starting):
    """The server lets a read by a cursor wait at least five seconds."""

    def limit(self, entry: RemoteReadEntry, desc: Desc) -> int:
        return max(entry.Timeout, 5000) if desc["hCursor"] and entry.Timeout else entry.Timeout


@fault("server-second-cursor-reads-by-first-cursor", breaks="MQQP-2.2.2.1-01")
class ServerSecondCursorReadsByFirstCursor(RemoteStarting):
    """The server reads by the first cursor of the handle for every cursor of the handle that the client names."""

    def find_remote_cursor(self, descriptor: OpenQueueDescriptor, handle: int) -> Cursor | None:
        found = super().find_remote_cursor(descriptor, handle)
        return None if found is None else next(iter(descriptor.CursorCollection.values()))


@fault("server-receive-ignores-cursor", breaks="MQQP-2.2.2.1-01")
class ServerReceiveIgnoresCursor(RemoteReads):
    """The server receives from the front of the queue, although the client names a cursor."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, None, now)


class _Refusing(RemoteStarting):
    """Refuse some reads."""

    def is_refused(self, desc: Desc) -> bool:
        raise NotImplementedError

    def check_open_queue(self, desc: Desc) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if self.is_refused(desc) else super().check_open_queue(desc)


@fault("server-peek-with-reserved-refused", breaks="MQQP-2.2.2.1-06")
class ServerPeekWithReservedRefused(_Refusing):
    """The server refuses a peek whose Reserved is 0xFFFFFFFF."""

    def is_refused(self, desc: Desc) -> bool:
        return desc["Reserved"] == 0xFFFFFFFF and desc["ulAction"] not in RECEIVE_ACTIONS


@fault("server-receive-by-cursor-with-eacknack-1-refused", breaks="MQQP-2.2.2.1-09")
class ServerReceiveByCursorWithEacknack1Refused(_Refusing):
    """The server refuses a read by a cursor whose eAckNack is RR_NACK."""

    def is_refused(self, desc: Desc) -> bool:
        return desc["eAckNack"] == 1 and bool(desc["hCursor"])


@fault("server-eacknack-1-returns-message-at-once", breaks="MQQP-2.2.2.1-09")
class ServerEacknack1ReturnsMessageAtOnce(RemoteReads):
    """The server returns the message of a receive to the queue at once when eAckNack of the request is RR_NACK."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        second = entry.call.arguments.get("lpRemoteReadDesc2")
        desc = entry.call.arguments["lpRemoteReadDesc"] if second is None else second["pRemoteReadDesc"]
        super().complete_remote_read(entry, status, position)
        if position is not None and desc["eAckNack"] == 1 and entry.Action in RECEIVE_ACTIONS:
            self.qm.positions.unlock_message(position)


@fault("client-second-answer-with-reserved-0-refused", breaks="MQQP-2.2.2.1-06")
class ClientSecondAnswerWithReserved0Refused(ClientReading):
    """The client refuses a message whose Reserved is 0, in the second read of a queue."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.count = 0

    def reconstruct_message(self, results: dict[str, Any], server: Any) -> RemoteMessage:
        self.count += 1
        desc = results.get("lpRemoteReadDesc") or results["lpRemoteReadDesc2"]["pRemoteReadDesc"]
        if self.count > 1 and desc is not None and desc["Reserved"] == 0:
            raise RemoteError("Reserved is 0")
        return super().reconstruct_message(results, server)


@fault("client-infinite-peek-ul-timeout-0x7fffffff", breaks="MQQP-2.2.2.1-02")
class ClientInfinitePeekUlTimeout0x7fffffff(ClientReading):
    """The client sets ulTimeout to 0x7FFFFFFF in a peek without a time limit."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        infinite = read.TimeOut == INFINITE_MS and not read.receives
        return super().describe_read(read) | ({"ulTimeout": 0x7FFFFFFF} if infinite else {})


@fault("client-infinite-read-by-cursor-ul-timeout-0x7fffffff", breaks="MQQP-2.2.2.1-02")
class ClientInfiniteReadByCursorUlTimeout0x7fffffff(ClientReading):
    """The client sets ulTimeout to 0x7FFFFFFF in a read by a cursor without a time limit."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        infinite = read.TimeOut == INFINITE_MS and bool(read.CursorHandle)
        return super().describe_read(read) | ({"ulTimeout": 0x7FFFFFFF} if infinite else {})
