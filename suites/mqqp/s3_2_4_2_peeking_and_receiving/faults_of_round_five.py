"""Faults of round five that break rules of MS-MQQP 3.2.4.2 Peeking a Message, 3.2.4.3, 3.2.4.5 and 3.2.4.6."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS


def _is_plain_receive(read: RemoteRead) -> bool:
    """Return whether a read receives without a cursor and without a lookup identifier."""
    return read.receives and read.LookupId is None and not read.CursorHandle


@fault("client-start-receive2-lp-buffer-set-in-later-receive-by-cursor", breaks="MQQP-3.2.4.6-27", blind=True)
class ClientStartReceive2LpBufferSetInLaterReceiveByCursor(ClientMessageReading):
    """From the second receive by the same cursor on, the client sets lpBuffer of RemoteQMStartReceive2 to a pointer to
    an empty buffer.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.used_cursors: set[tuple[int, int]] = set()

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.receives and read.CursorHandle and read.LookupId is None:
            cursor = (read.queue.number, read.CursorHandle)
            if cursor in self.used_cursors:
                described["pRemoteReadDesc"]["lpBuffer"] = b""
            self.used_cursors.add(cursor)
        return described


@fault("client-start-receive2-h-remote-queue-of-queue-opened-last", breaks="MQQP-3.2.4.5-24", blind=True)
class ClientStartReceive2HRemoteQueueOfQueueOpenedLast(ClientMessageReading):
    """In a peek by a cursor, the client sets hRemoteQueue of RemoteQMStartReceive2 to the phQueue of the remote queue
    that it opened last, even if the cursor belongs to another queue.
    """

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.CursorHandle and not read.receives:
            *_, last = self.qm.remote_client.queues.values()
            described["pRemoteReadDesc"]["hRemoteQueue"] = last.QueueHandle
        return described


@fault("client-start-receive-ul-timeout-rounded-up-to-seconds", breaks="MQQP-3.2.4.3-20", blind=True)
class ClientStartReceiveUlTimeoutRoundedUpToSeconds(ClientMessageReading):
    """In a receive without a cursor, the client rounds ulTimeout of RemoteQMStartReceive up to whole seconds."""

    uses_second_method = False

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        self.uses_second_method = True
        try:
            return super().build_start_receive2_description(read)
        finally:
            self.uses_second_method = False

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive_description(read)
        if _is_plain_receive(read) and not self.uses_second_method and read.TimeOut != INFINITE_MS:
            described["ulTimeout"] = -(-read.TimeOut // 1_000) * 1_000 & INFINITE_MS
        return described


@fault("client-server-version-of-first-server-kept-for-receive-by-cursor", breaks="MQQP-3.2.4.6-08", blind=True)
class ClientServerVersionOfFirstServerKeptForReceiveByCursor(ClientMessageReading):
    """In a receive by a cursor, the client uses the version of the server from which it received first by a cursor,
    and ignores the version that the server of the cursor returns.
    """

    first_version: ServerVersion | None = None

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        if not (read.receives and read.CursorHandle):
            return version
        if self.first_version is None:
            self.first_version = version
        return self.first_version


@fault("client-start-receive-called-for-peek-by-cursor-at-version-6-0", breaks="MQQP-3.2.4.5-23", blind=True)
class ClientStartReceiveCalledForPeekByCursorAtVersion60(ClientMessageReading):
    """For a peek by a cursor, the client calls RemoteQMStartReceive on a server whose pMinor is 0, although its pMajor
    is greater than 5.
    """

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        if read.CursorHandle and not read.receives and version is not None and version.Major > 5 and not version.Minor:
            return version._replace(Major=5)
        return version


@fault("client-start-receive2-ul-timeout-of-first-receive-repeated", breaks="MQQP-3.2.4.3-30", blind=True)
class ClientStartReceive2UlTimeoutOfFirstReceiveRepeated(ClientMessageReading):
    """In later receives from an open remote queue, the client repeats the ulTimeout of its first RemoteQMStartReceive2
    with this queue.
    """

    def __init__(self, qm: QueueManager) -> None:
        super().__init__(qm)
        self.timeout_by_queue: dict[int, int] = {}

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if _is_plain_receive(read):
            timeout = self.timeout_by_queue.setdefault(read.queue.number, read.TimeOut)
            described["pRemoteReadDesc"]["ulTimeout"] = timeout
        return described
