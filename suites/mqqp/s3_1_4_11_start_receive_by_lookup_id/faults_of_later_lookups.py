"""Faults of reads by lookup identifier in later reads, or while other reads are pending (MS-MQQP 3.1.4.11)."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.statuses import Status


@fault("client-sends-lookup-id-0-in-later-lookup-peek-current", breaks="MQQP-3.1.4.11-09", blind=True)
class ClientSendsLookupId0InLaterLookupPeekCurrent(ClientMessageReading):
    """The client sets LookupId to 0 in the second and later LOOKUP_PEEK_CURRENT."""

    count = 0

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.Action is ReadAction.MQ_LOOKUP_PEEK_CURRENT:
            self.count += 1
            if self.count > 1:
                read.LookupId = 0
        return (yield from super().start_receive2(read))


@fault("client-lookup-peek-current-by-peek-handle-sends-lookup-id-0", breaks="MQQP-3.1.4.11-09", blind=True)
class ClientLookupPeekCurrentByPeekHandleSendsLookupId0(ClientMessageReading):
    """The client sets LookupId to 0 in a LOOKUP_PEEK_CURRENT of a queue that was opened to peek."""

    def start_receive2(self, read: RemoteRead) -> RemoteCallSequence:
        if read.Action is ReadAction.MQ_LOOKUP_PEEK_CURRENT and not read.queue.may_receive:
            read.LookupId = 0
        return (yield from super().start_receive2(read))


@fault(
    "server-lookup-receive-next-returns-mq-ok-without-message",
    breaks=("MQQP-3.1.4.11-D07", "MQQP-3.1.4.11-18", "MQQP-3.1.4.11-58"),
    blind=True,
)
class ServerLookupReceiveNextReturnsMqOkWithoutMessage(RemoteReads):
    """The server returns MQ_OK if a LOOKUP_RECEIVE_NEXT finds no message."""

    def complete_remote_read(self, entry: RemoteReadEntry, status: Status, position: MessagePosition | None) -> None:
        if position is None and entry.Action is ReadAction.MQ_LOOKUP_RECEIVE_NEXT:
            status = Status.MQ_OK
        super().complete_remote_read(entry, status, position)
