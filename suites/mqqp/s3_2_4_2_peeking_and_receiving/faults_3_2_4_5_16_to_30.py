"""Faults that break the rules MQQP-3.2.4.5-16 to MQQP-3.2.4.5-30."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from suites.mqqp.s3_2_4_2_peeking_and_receiving.fault_steps import ReadDescriptionChanger

CURSOR_HANDLE_RULES = ("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26", "MQQP-3.2.4.6-15", "MQQP-3.2.4.6-25")


@fault("client-h-cursor-of-read-is-newest-cursor", breaks=CURSOR_HANDLE_RULES)
class ClientHCursorOfReadIsNewestCursor(ReadDescriptionChanger):
    """The client sets hCursor to the phCursor that R_QMCreateRemoteCursor returned last."""

    def change(self, read: RemoteRead) -> dict[str, Any]:
        cursors = list(self.qm.remote_client.queue_and_handle_by_cursor.values())
        return {"hCursor": cursors[-1][1]} if read.CursorHandle and cursors else {}


@fault("client-h-cursor-0-in-second-read-by-cursor", breaks=CURSOR_HANDLE_RULES)
class ClientHCursor0InSecondReadByCursor(ReadDescriptionChanger):
    """The client sets hCursor to 0 in the second read by the same cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.used: set[int] = set()

    def change(self, read: RemoteRead) -> dict[str, Any]:
        again = read.CursorHandle in self.used
        self.used.add(read.CursorHandle)
        return {"hCursor": 0} if again else {}


@fault("client-sends-h-cursor-0-in-peek-current-by-cursor", breaks=("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26"))
class ClientSendsHCursor0InPeekCurrentByCursor(ClientMessageReading):
    """The client sets hCursor to 0 when its application requests PEEK_CURRENT by a cursor."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        return {**given, "hCursor": 0} if read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT else given


@fault("client-ul-action-peek-current-in-second-peek-next", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientUlActionPeekCurrentInSecondPeekNext(ReadDescriptionChanger):
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


@fault("client-ul-action-peek-next-in-second-peek-current", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientUlActionPeekNextInSecondPeekCurrent(ReadDescriptionChanger):
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


@fault("client-peek-current-by-cursor-sent-as-peek-next", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientPeekCurrentByCursorSentAsPeekNext(ClientMessageReading):
    """The client sends PEEK_NEXT when its application requests PEEK_CURRENT by a cursor."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        given = super().build_start_receive_description(read)
        current = read.CursorHandle and read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT
        return {**given, "ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if current else given


@fault("client-peek-next-by-cursor-sent-as-peek-current-to-old-server", breaks="MQQP-3.2.4.5-19", blind=True)
class ClientPeekNextByCursorSentAsPeekCurrentToOldServer(ClientMessageReading):
    """The client calls RemoteQMStartReceive with PEEK_CURRENT when its application requests PEEK_NEXT by a cursor."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        if read.CursorHandle and read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            read = replace(read, Action=ReadAction.MQ_ACTION_PEEK_CURRENT)
        return (yield from super().start_receive(read))


@fault("client-ul-timeout-0-in-peek-next-by-start-receive2", breaks="MQQP-3.2.4.5-30", blind=True)
class ClientUlTimeout0InPeekNextByStartReceive2(ClientMessageReading):
    """The client sends ulTimeout 0 when it peeks at the next message by RemoteQMStartReceive2."""

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        described = super().build_start_receive2_description(read)
        if read.Action is ReadAction.MQ_ACTION_PEEK_NEXT:
            described["pRemoteReadDesc"]["ulTimeout"] = 0
        return described


READ_SECTION_NUMBERS = ("MQQP-3.2.4.2", "MQQP-3.2.4.3", "MQQP-3.2.4.5", "MQQP-3.2.4.6")


UNIQUE_REQUEST_ID_RULES = tuple(f"{one}-{number}" for one in READ_SECTION_NUMBERS for number in ("04", "05"))


@fault("client-repeats-five-request-ids-while-reads-are-pending", breaks=UNIQUE_REQUEST_ID_RULES)
class ClientRepeatsFiveRequestIdsWhileReadsArePending(ClientMessageReading):
    """The client has five RequestIds, which it uses in turn, even while a read with the same RequestId is pending."""

    def assign_request_id(self) -> int:
        self.qm.remote_client.last_request_id = self.qm.remote_client.last_request_id % 5 + 1
        return self.qm.remote_client.last_request_id


@fault("client-request-ids-of-cursor-reads-counted-apart", breaks=UNIQUE_REQUEST_ID_RULES)
class ClientRequestIdsOfCursorReadsCountedApart(ClientMessageReading):
    """The client counts the RequestIds of reads with and without a cursor separately."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.counts = {False: 0, True: 0}

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        by_cursor = bool(read.CursorHandle)
        self.counts[by_cursor] += 1
        entry.RequestId = self.counts[by_cursor]
        return entry


@fault("client-peek-uses-newest-cursor-of-queue", breaks="MQQP-3.2.4.5-16", blind=True)
class ClientPeekUsesNewestCursorOfQueue(ClientMessageReading):
    """A client that peeks by a cursor with RemoteQMStartReceive sets hCursor to the newest cursor of the queue."""

    def start_receive(self, read: RemoteRead) -> RemoteCallSequence:
        handles = [
            handle for queue, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if queue is read.queue
        ]
        if read.CursorHandle and handles and read.Action not in RECEIVE_ACTIONS:
            read = replace(read, CursorHandle=handles[-1])
        return (yield from super().start_receive(read))


@fault("client-h-cursor-of-start-receive2-peek-has-only-16-bits", breaks="MQQP-3.2.4.5-26", blind=True)
class ClientHCursorOfStartReceive2PeekHasOnly16Bits(ClientMessageReading):
    """A client that peeks by a cursor with RemoteQMStartReceive2 sets hCursor to the low 16 bits of phCursor."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.Action not in RECEIVE_ACTIONS:
            read = replace(read, CursorHandle=read.CursorHandle & 0xFFFF)
        return (yield from super().start_receive2(read))
