"""Faults of MS-MQQP 3.2.4.2 to 3.2.4.7 that only reads by a cursor, or failures at the end of a read, reveal."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading
from reference_qm.core.remote.client_steps import RemoteError, Sequence
from reference_qm.core.remote.enums import Ack, ReadAction


@fault("client-peek-current-by-cursor-sent-as-peek-next", breaks=("MQQP-3.2.4.5-19", "MQQP-3.2.4.5-29"))
class ClientPeekCurrentByCursorSentAsPeekNext(ClientReading):
    """The client sends PEEK_NEXT when its application requests PEEK_CURRENT by a cursor."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        current = read.CursorHandle and read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT
        return {**given, "ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if current else given


@fault("client-peek-current-by-cursor-hcursor-0", breaks=("MQQP-3.2.4.5-16", "MQQP-3.2.4.5-26"))
class ClientPeekCurrentByCursorHcursor0(ClientReading):
    """The client sets hCursor to 0 when its application requests PEEK_CURRENT by a cursor."""

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        given = super().describe_read(read)
        return {**given, "hCursor": 0} if read.Action is ReadAction.MQ_ACTION_PEEK_CURRENT else given


@fault("client-pending-read-entry-kept-after-failed-end-receive", breaks=("MQQP-3.2.4.3-39", "MQQP-3.2.4.6-38"))
class ClientPendingReadEntryKeptAfterFailedEndReceive(ClientReading):
    """The client keeps the PendingRemoteReadEntry of a receive whose RemoteQMEndReceive returned a failure."""

    def end_receive(self, entry: PendingRemoteReadEntry, ack: Ack) -> Sequence:
        try:
            yield from super().end_receive(entry, ack)
        except RemoteError:
            self.qm.remote_client.PendingRemoteReadEntryCollection.append(entry)
            raise
