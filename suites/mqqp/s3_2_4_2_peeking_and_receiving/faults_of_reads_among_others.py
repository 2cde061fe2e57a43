"""Faults of a client in its later reads, in reads while other reads are pending, and in reads without a timeout."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import change_pdus
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.remote.client_message_reading import ClientMessageReading, ServerVersion
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.rpc.bodies import Request

VERSION_OF_RECENT_SERVER = ServerVersion(6, 0, 6000)
"""A version of servers that have RemoteQMStartReceive2."""
GREATEST_DW_SIZE = 0x00420000
START_RECEIVE_OPNUM, DW_SIZE_OFFSET, SIZE_OF_REMOTEREADDESC = 0, 16, 44
"""The opnum of RemoteQMStartReceive, and the place of dwSize in its request."""
HIGHEST_BIT_OF_32_BITS_MASK = 0x80000000

PEEK, RECEIVE, PEEK_BY_CURSOR_SECTION, RECEIVE_BY_CURSOR_SECTION = "3.2.4.2", "3.2.4.3", "3.2.4.5", "3.2.4.6"
"""The sections of the four kinds of reads."""


def find_section_of_read(read: RemoteRead) -> str | None:
    """Return the section of a read, or None for a read by lookup identifier."""
    if read.LookupId is not None:
        return None
    if read.CursorHandle:
        return RECEIVE_BY_CURSOR_SECTION if read.receives else PEEK_BY_CURSOR_SECTION
    return RECEIVE if read.receives else PEEK


class ReadCounterByKind(ClientMessageReading):
    """A part of the queue manager that counts the reads of each kind."""

    sections: tuple[str, ...]

    def changes(self, read: RemoteRead) -> bool:
        """Return whether a read belongs to one of the sections."""
        return find_section_of_read(read) in self.sections

    def count_earlier_reads(self, read: RemoteRead) -> int:
        """Return how many reads of these sections preceded a read, and count the read."""
        counted: list[RemoteRead] = self.__dict__.setdefault("counted", [])
        if not any(one is read for one in counted):
            counted.append(read)
        return next(place for place, one in enumerate(counted) if one is read)


class SelectedReadDescriptionsChanger(ReadCounterByKind):
    """A part of the queue manager that changes the REMOTEREADDESC of some reads; a subclass selects which."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        """Return the changed REMOTEREADDESC of a read."""
        raise NotImplementedError

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        desc = super().build_start_receive_description(read)
        return self.change_description(read, desc) if self.changes(read) else desc


# -- pending reads -----------------------------------------------------------------------------------------------------


class OlderPendingReadEntryRemover(ReadCounterByKind):
    """A part of the queue manager that keeps only the newest entry of a queue's pending reads."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if self.changes(read):
            for entry in [one for one in pending if one.queue is read.queue]:
                pending.remove(entry)
        return super().create_pending_read(read)


class InfiniteReadEntryOmitter(ReadCounterByKind):
    """A part of the queue manager that does not keep the entries of reads without a timeout."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if self.changes(read) and read.TimeOut == INFINITE_MS:
            self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


@fault("client-peek-removes-entry-of-pending-read-of-same-queue", breaks="MQQP-3.2.4.2-06", blind=True)
class ClientPeekRemovesEntryOfPendingReadOfSameQueue(OlderPendingReadEntryRemover):
    """A client that begins a peek forgets the entry of a read of the same queue that is still pending."""

    sections = (PEEK,)


@fault("client-keeps-no-entry-of-peek-without-time-limit", breaks="MQQP-3.2.4.2-06", blind=True)
class ClientKeepsNoEntryOfPeekWithoutTimeLimit(InfiniteReadEntryOmitter):
    """A client keeps no entry of a peek without a timeout."""

    sections = (PEEK,)


@fault("client-cursor-receive-removes-entry-of-pending-read-of-queue", breaks="MQQP-3.2.4.6-06", blind=True)
class ClientCursorReceiveRemovesEntryOfPendingReadOfQueue(OlderPendingReadEntryRemover):
    """A client that begins a receive by a cursor forgets the entry of a pending read of the same queue."""

    sections = (RECEIVE_BY_CURSOR_SECTION,)


@fault("client-keeps-no-entry-of-cursor-receive-without-time-limit", breaks="MQQP-3.2.4.6-06", blind=True)
class ClientKeepsNoEntryOfCursorReceiveWithoutTimeLimit(InfiniteReadEntryOmitter):
    """A client keeps no entry of a receive by a cursor without a timeout."""

    sections = (RECEIVE_BY_CURSOR_SECTION,)


# -- versions ----------------------------------------------------------------------------------------------------------


class RecentVersionSubstituter(ReadCounterByKind):
    """A part of the queue manager that treats some old versions of a server as recent versions; a subclass selects
    which.
    """

    def is_old_version_taken_for_recent(self, version: ServerVersion) -> bool:
        """Return whether the queue manager treats a version as recent."""
        raise NotImplementedError

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        recent = version is not None and self.changes(read) and self.is_old_version_taken_for_recent(version)
        return VERSION_OF_RECENT_SERVER if recent else version


@fault("client-later-peek-calls-start-receive2-on-old-server", breaks="MQQP-3.2.4.2-13", blind=True)
class ClientLaterPeekCallsStartReceive2OnOldServer(RecentVersionSubstituter):
    """For each peek after its first, a client calls RemoteQMStartReceive2 on any server that returns a version."""

    sections = (PEEK,)
    read_count = 0

    def is_old_version_taken_for_recent(self, version: ServerVersion) -> bool:
        self.read_count += 1
        return self.read_count > 1


@fault("client-later-cursor-peek-calls-start-receive2-on-old-server", breaks="MQQP-3.2.4.5-13", blind=True)
class ClientLaterCursorPeekCallsStartReceive2OnOldServer(RecentVersionSubstituter):
    """For each peek by a cursor after its first, a client calls RemoteQMStartReceive2 on any server that returns a
    version.
    """

    sections = (PEEK_BY_CURSOR_SECTION,)
    read_count = 0

    def is_old_version_taken_for_recent(self, version: ServerVersion) -> bool:
        self.read_count += 1
        return self.read_count > 1


@fault("client-later-receive-calls-start-receive2-on-old-server", breaks="MQQP-3.2.4.3-13", blind=True)
class ClientLaterReceiveCallsStartReceive2OnOldServer(RecentVersionSubstituter):
    """For each receive after its first, a client calls RemoteQMStartReceive2 on any server that returns a version."""

    sections = (RECEIVE,)
    read_count = 0

    def is_old_version_taken_for_recent(self, version: ServerVersion) -> bool:
        self.read_count += 1
        return self.read_count > 1


@fault("client-later-cursor-receive-calls-start-receive2-on-old-server", breaks="MQQP-3.2.4.6-12", blind=True)
class ClientLaterCursorReceiveCallsStartReceive2OnOldServer(RecentVersionSubstituter):
    """For each receive by a cursor after its first, a client calls RemoteQMStartReceive2 on any server that returns a
    version.
    """

    sections = (RECEIVE_BY_CURSOR_SECTION,)
    read_count = 0

    def is_old_version_taken_for_recent(self, version: ServerVersion) -> bool:
        self.read_count += 1
        return self.read_count > 1


# -- REMOTEREADDESC ----------------------------------------------------------------------------------------------------


@fault("client-ul-action-of-later-peek-is-peek-next", breaks=("MQQP-3.2.4.2-19", "MQQP-3.2.4.2-29"), blind=True)
class ClientUlActionOfLaterPeekIsPeekNext(SelectedReadDescriptionsChanger):
    """In each peek after its first, a client sets ulAction to MQ_ACTION_PEEK_NEXT."""

    sections = (PEEK,)

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        return {**desc, "ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if self.count_earlier_reads(read) else desc


@fault(
    "client-ul-action-of-peek-without-time-limit-is-receive", breaks=("MQQP-3.2.4.2-19", "MQQP-3.2.4.2-29"), blind=True
)
class ClientUlActionOfPeekWithoutTimeLimitIsReceive(SelectedReadDescriptionsChanger):
    """In a peek without a timeout, a client sets ulAction to MQ_ACTION_RECEIVE."""

    sections = (PEEK,)

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        return {**desc, "ulAction": int(ReadAction.MQ_ACTION_RECEIVE)} if read.TimeOut == INFINITE_MS else desc


class OpenCursorHandleSender(SelectedReadDescriptionsChanger):
    """A part of the queue manager that sets hCursor to an open cursor of the queue, if there is one, although the read
    has no cursor.
    """

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        cursors = [
            handle for queue, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if queue is read.queue
        ]
        return {**desc, "hCursor": cursors[0]} if cursors else desc


class NonzeroHCursorSenderWhileReadIsPending(SelectedReadDescriptionsChanger):
    """A part of the queue manager that sets hCursor to 1 while another read of the queue is pending."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        beside = any(one.queue is read.queue and one is not read.entry for one in pending)
        return {**desc, "hCursor": 1} if beside else desc


@fault("client-h-cursor-of-plain-peek-is-open-cursor-of-queue", breaks="MQQP-3.2.4.2-28", blind=True)
class ClientHCursorOfPlainPeekIsOpenCursorOfQueue(OpenCursorHandleSender):
    """In a peek without a cursor, a client sets hCursor to a cursor of the queue that the application has opened."""

    sections = (PEEK,)


@fault("client-h-cursor-of-plain-peek-is-1-beside-pending-read", breaks="MQQP-3.2.4.2-28", blind=True)
class ClientHCursorOfPlainPeekIs1BesidePendingRead(NonzeroHCursorSenderWhileReadIsPending):
    """In a peek without a cursor, a client sets hCursor to 1 while another read of the queue is pending."""

    sections = (PEEK,)


@fault(
    "client-h-cursor-of-plain-receive-is-open-cursor-of-queue",
    breaks=("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"),
    blind=True,
)
class ClientHCursorOfPlainReceiveIsOpenCursorOfQueue(OpenCursorHandleSender):
    """In a receive without a cursor, a client sets hCursor to a cursor of the queue that the application has opened."""

    sections = (RECEIVE,)


@fault(
    "client-h-cursor-of-plain-receive-is-1-beside-pending-read",
    breaks=("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"),
    blind=True,
)
class ClientHCursorOfPlainReceiveIs1BesidePendingRead(NonzeroHCursorSenderWhileReadIsPending):
    """In a receive without a cursor, a client sets hCursor to 1 while another read of the queue is pending."""

    sections = (RECEIVE,)


class RequestIdChangerWhileReadIsPending(SelectedReadDescriptionsChanger):
    """A part of the queue manager that sends a dwRequestID other than the RequestId of the entry while other reads are
    pending.
    """

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        beside = len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1
        return {**desc, "dwRequestID": desc["dwRequestID"] | HIGHEST_BIT_OF_32_BITS_MASK} if beside else desc


class RequestIdChangerOfInfiniteRead(SelectedReadDescriptionsChanger):
    """A part of the queue manager that sends a dwRequestID other than the RequestId of the entry in a read without a
    timeout.
    """

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        endless = read.TimeOut == INFINITE_MS
        return {**desc, "dwRequestID": desc["dwRequestID"] | HIGHEST_BIT_OF_32_BITS_MASK} if endless else desc


@fault(
    "client-dw-request-id-of-peek-beside-pending-read-wrong", breaks=("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"), blind=True
)
class ClientDwRequestIdOfPeekBesidePendingReadWrong(RequestIdChangerWhileReadIsPending):
    """While another read is pending, a client peeks with a dwRequestID that is not the RequestId of the entry."""

    sections = (PEEK,)


@fault(
    "client-dw-request-id-of-peek-without-time-limit-wrong", breaks=("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"), blind=True
)
class ClientDwRequestIdOfPeekWithoutTimeLimitWrong(RequestIdChangerOfInfiniteRead):
    """A client peeks without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (PEEK,)


@fault(
    "client-dw-request-id-of-receive-beside-pending-read-wrong",
    breaks=("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
    blind=True,
)
class ClientDwRequestIdOfReceiveBesidePendingReadWrong(RequestIdChangerWhileReadIsPending):
    """While another read is pending, a client receives with a dwRequestID that is not the RequestId of the entry."""

    sections = (RECEIVE,)


@fault(
    "client-dw-request-id-of-receive-without-time-limit-wrong",
    breaks=("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
    blind=True,
)
class ClientDwRequestIdOfReceiveWithoutTimeLimitWrong(RequestIdChangerOfInfiniteRead):
    """A client receives without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (RECEIVE,)


@fault(
    "client-dw-request-id-of-cursor-peek-beside-pending-read-wrong",
    breaks=("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
    blind=True,
)
class ClientDwRequestIdOfCursorPeekBesidePendingReadWrong(RequestIdChangerWhileReadIsPending):
    """While another read is pending, a client peeks by a cursor with a dwRequestID that is not the RequestId of the
    entry.
    """

    sections = (PEEK_BY_CURSOR_SECTION,)


@fault(
    "client-dw-request-id-of-cursor-peek-without-time-limit-wrong",
    breaks=("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
    blind=True,
)
class ClientDwRequestIdOfCursorPeekWithoutTimeLimitWrong(RequestIdChangerOfInfiniteRead):
    """A client peeks by a cursor without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (PEEK_BY_CURSOR_SECTION,)


@fault("client-dw-request-id-of-cursor-receive-beside-pending-read-wrong", breaks="MQQP-3.2.4.6-30", blind=True)
class ClientDwRequestIdOfCursorReceiveBesidePendingReadWrong(RequestIdChangerWhileReadIsPending):
    """While another read is pending, a client receives by a cursor with a dwRequestID that is not the RequestId of the
    entry.
    """

    sections = (RECEIVE_BY_CURSOR_SECTION,)


@fault("client-dw-request-id-of-cursor-receive-without-time-limit-wrong", breaks="MQQP-3.2.4.6-30", blind=True)
class ClientDwRequestIdOfCursorReceiveWithoutTimeLimitWrong(RequestIdChangerOfInfiniteRead):
    """A client receives by a cursor without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (RECEIVE_BY_CURSOR_SECTION,)


def _send_nonzero_dw_size(is_changed: Callable[[int, int], bool]) -> Install:
    """Return an installer of a fault with which a client sends a nonzero dwSize in peeks without a cursor by
    RemoteQMStartReceive. ``is_changed`` is called with the number of earlier peeks and with ulTimeout.
    """

    def install_dw_size(faulty: FaultyCore) -> None:
        peeks = itertools.count()

        def change_stub(body: Request) -> Request:
            stub = body.stub
            if body.opnum != START_RECEIVE_OPNUM or len(stub) < SIZE_OF_REMOTEREADDESC:
                return body
            cursor, action, timeout_ms = struct.unpack_from("<III", stub, 4)
            if cursor or action != ReadAction.MQ_ACTION_PEEK_CURRENT or not is_changed(next(peeks), timeout_ms):
                return body
            size = GREATEST_DW_SIZE.to_bytes(4, "little")
            return replace(body, stub=stub[:DW_SIZE_OFFSET] + size + stub[DW_SIZE_OFFSET + 4 :])

        change_pdus(Request, change_stub)(faulty)

    return install_dw_size


add(
    "initiator-peek-dwsize-of-later-read-nonzero",
    "MQQP-3.2.4.2-16",
    "In each peek after its first, a client sets dwSize to 0x00420000.",
    _send_nonzero_dw_size(lambda earlier, timeout_ms: earlier > 0),
    blind=True,
)
add(
    "initiator-peek-dwsize-without-timeout-nonzero",
    "MQQP-3.2.4.2-16",
    "In a peek without a timeout, a client sets dwSize to 0x00420000.",
    _send_nonzero_dw_size(lambda earlier, timeout_ms: timeout_ms == INFINITE_MS),
    blind=True,
)


# -- REMOTEREADDESC2 ---------------------------------------------------------------------------------------------------


class SequentialIdChanger(ReadCounterByKind):
    """A part of the queue manager that sends a nonzero SequentialId in some reads; a subclass selects which."""

    def sends_nonzero_sequential_id(self, read: RemoteRead) -> bool:
        """Return whether the SequentialId of a read is nonzero."""
        raise NotImplementedError

    def build_start_receive2_description(self, read: RemoteRead) -> dict[str, Any]:
        description = super().build_start_receive2_description(read)
        if self.changes(read) and self.sends_nonzero_sequential_id(read):
            assert read.entry is not None
            return {**description, "SequentialId": read.entry.RequestId}
        return description


class SequentialIdChangerOfLaterReads(SequentialIdChanger):
    """A part of the queue manager that sends a nonzero SequentialId in each read after the first."""

    def sends_nonzero_sequential_id(self, read: RemoteRead) -> bool:
        return self.count_earlier_reads(read) > 0


class SequentialIdChangerOfInfiniteRead(SequentialIdChanger):
    """A part of the queue manager that sends a nonzero SequentialId in each read without a timeout."""

    def sends_nonzero_sequential_id(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("client-sequential-id-nonzero-in-later-peek", breaks="MQQP-3.2.4.2-32", blind=True)
class ClientSequentialIdNonzeroInLaterPeek(SequentialIdChangerOfLaterReads):
    """In each peek after its first, a client sets SequentialId to its dwRequestID."""

    sections = (PEEK,)


@fault("client-sequential-id-nonzero-in-peek-without-time-limit", breaks="MQQP-3.2.4.2-32", blind=True)
class ClientSequentialIdNonzeroInPeekWithoutTimeLimit(SequentialIdChangerOfInfiniteRead):
    """In a peek without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (PEEK,)


@fault("client-sequential-id-nonzero-in-later-receive", breaks="MQQP-3.2.4.3-32", blind=True)
class ClientSequentialIdNonzeroInLaterReceive(SequentialIdChangerOfLaterReads):
    """In each receive after its first, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE,)


@fault("client-sequential-id-nonzero-in-receive-without-time-limit", breaks="MQQP-3.2.4.3-32", blind=True)
class ClientSequentialIdNonzeroInReceiveWithoutTimeLimit(SequentialIdChangerOfInfiniteRead):
    """In a receive without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE,)


@fault("client-sequential-id-nonzero-in-later-cursor-receive", breaks="MQQP-3.2.4.6-31", blind=True)
class ClientSequentialIdNonzeroInLaterCursorReceive(SequentialIdChangerOfLaterReads):
    """In each receive by a cursor after its first, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE_BY_CURSOR_SECTION,)


@fault("client-sequential-id-nonzero-in-cursor-receive-without-time-limit", breaks="MQQP-3.2.4.6-31", blind=True)
class ClientSequentialIdNonzeroInCursorReceiveWithoutTimeLimit(SequentialIdChangerOfInfiniteRead):
    """In a receive by a cursor without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE_BY_CURSOR_SECTION,)
