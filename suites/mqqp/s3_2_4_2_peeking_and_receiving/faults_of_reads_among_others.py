"""Faults of a client in its later reads, in reads beside pending reads, and in reads without a timeout."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import pdus
from harness.faults.registry import FaultyCore, Install, add
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.client_reading import ClientReading, ServerVersion
from reference_qm.core.remote.client_steps import RemoteCallSequence
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.rpc.bodies import Request

RECENT = ServerVersion(6, 0, 6000)
"""A version of servers that have RemoteQMStartReceive2."""
GREATEST_SIZE = 0x00420000
START_RECEIVE_OPNUM, DW_SIZE_OFFSET, SIZE_OF_REMOTEREADDESC = 0, 16, 44
"""The opnum of RemoteQMStartReceive, and the place of dwSize in its request."""
HIGH_BIT = 0x80000000

PEEK, RECEIVE, CURSOR_PEEK, CURSOR_RECEIVE = "3.2.4.2", "3.2.4.3", "3.2.4.5", "3.2.4.6"
"""The sections of the four kinds of reads."""


def find_section(read: RemoteRead) -> str | None:
    """Return the section of a read, or None for a read by lookup identifier."""
    if read.LookupId is not None:
        return None
    if read.CursorHandle:
        return CURSOR_RECEIVE if read.receives else CURSOR_PEEK
    return RECEIVE if read.receives else PEEK


class ReadsCounted(ClientReading):
    """A part that counts the reads of each kind."""

    sections: tuple[str, ...]

    def changes(self, read: RemoteRead) -> bool:
        """Return whether a read belongs to one of the sections."""
        return find_section(read) in self.sections

    def count_earlier(self, read: RemoteRead) -> int:
        """Return how many reads of these sections preceded a read, and count the read."""
        counted: list[RemoteRead] = self.__dict__.setdefault("counted", [])
        if not any(one is read for one in counted):
            counted.append(read)
        return next(place for place, one in enumerate(counted) if one is read)


class DescriptionChanged(ReadsCounted):
    """A part that changes the REMOTEREADDESC of some reads."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        """Return the changed description."""
        raise NotImplementedError

    def describe_read(self, read: RemoteRead) -> dict[str, Any]:
        desc = super().describe_read(read)
        return self.change_description(read, desc) if self.changes(read) else desc


# -- pending reads -----------------------------------------------------------------------------------------------------


class EntryOfReadBesideReadLost(ReadsCounted):
    """A part that keeps only the newest entry of a queue's pending reads."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        if self.changes(read):
            for entry in [one for one in pending if one.queue is read.queue]:
                pending.remove(entry)
        return super().create_pending_read(read)


class EntryWithoutTimeoutLost(ReadsCounted):
    """A part that does not keep the entries of reads without a timeout."""

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if self.changes(read) and read.TimeOut == INFINITE_MS:
            self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


@fault("initiator-peek-entry-replaced-by-next-peek", breaks="MQQP-3.2.4.2-06", blind=True)
class InitiatorPeekEntryReplacedByNextPeek(EntryOfReadBesideReadLost):
    """A client that begins a peek forgets the entry of a read of the same queue that is still pending."""

    sections = (PEEK,)


@fault("initiator-peek-entry-without-timeout-lost", breaks="MQQP-3.2.4.2-06", blind=True)
class InitiatorPeekEntryWithoutTimeoutLost(EntryWithoutTimeoutLost):
    """A client keeps no entry of a peek without a timeout."""

    sections = (PEEK,)


@fault("initiator-receive-by-cursor-entry-replaced-by-next-receive", breaks="MQQP-3.2.4.6-06", blind=True)
class InitiatorReceiveByCursorEntryReplacedByNextReceive(EntryOfReadBesideReadLost):
    """A client that begins a receive by a cursor forgets the entry of a pending read of the same queue."""

    sections = (CURSOR_RECEIVE,)


@fault("initiator-receive-by-cursor-entry-without-timeout-lost", breaks="MQQP-3.2.4.6-06", blind=True)
class InitiatorReceiveByCursorEntryWithoutTimeoutLost(EntryWithoutTimeoutLost):
    """A client keeps no entry of a receive by a cursor without a timeout."""

    sections = (CURSOR_RECEIVE,)


# -- versions ----------------------------------------------------------------------------------------------------------


class OldVersionTakenForRecent(ReadsCounted):
    """A part that takes some old versions for recent ones."""

    def is_taken_for_recent(self, version: ServerVersion) -> bool:
        """Return whether a version is taken for a recent one."""
        raise NotImplementedError

    def ask_server_version(self, read: RemoteRead) -> RemoteCallSequence:
        version = yield from super().ask_server_version(read)
        recent = version is not None and self.changes(read) and self.is_taken_for_recent(version)
        return RECENT if recent else version


@fault("initiator-peek-version-of-later-read-taken-for-recent", breaks="MQQP-3.2.4.2-13", blind=True)
class InitiatorPeekVersionOfLaterReadTakenForRecent(OldVersionTakenForRecent):
    """For each peek after its first, a client calls RemoteQMStartReceive2 on any server that returns a version."""

    sections = (PEEK,)
    reads = 0

    def is_taken_for_recent(self, version: ServerVersion) -> bool:
        self.reads += 1
        return self.reads > 1


@fault("initiator-peek-by-cursor-version-of-later-read-taken-for-recent", breaks="MQQP-3.2.4.5-13", blind=True)
class InitiatorPeekByCursorVersionOfLaterReadTakenForRecent(OldVersionTakenForRecent):
    """For each peek by a cursor after its first, a client calls RemoteQMStartReceive2 on any server that returns a
    version.
    """

    sections = (CURSOR_PEEK,)
    reads = 0

    def is_taken_for_recent(self, version: ServerVersion) -> bool:
        self.reads += 1
        return self.reads > 1


@fault("initiator-receive-version-of-later-read-taken-for-recent", breaks="MQQP-3.2.4.3-13", blind=True)
class InitiatorReceiveVersionOfLaterReadTakenForRecent(OldVersionTakenForRecent):
    """For each receive after its first, a client calls RemoteQMStartReceive2 on any server that returns a version."""

    sections = (RECEIVE,)
    reads = 0

    def is_taken_for_recent(self, version: ServerVersion) -> bool:
        self.reads += 1
        return self.reads > 1


@fault("initiator-receive-by-cursor-version-of-later-read-taken-for-recent", breaks="MQQP-3.2.4.6-12", blind=True)
class InitiatorReceiveByCursorVersionOfLaterReadTakenForRecent(OldVersionTakenForRecent):
    """For each receive by a cursor after its first, a client calls RemoteQMStartReceive2 on any server that returns a
    version.
    """

    sections = (CURSOR_RECEIVE,)
    reads = 0

    def is_taken_for_recent(self, version: ServerVersion) -> bool:
        self.reads += 1
        return self.reads > 1


# -- REMOTEREADDESC ----------------------------------------------------------------------------------------------------


@fault("initiator-peek-ulaction-of-later-read-peek-next", breaks=("MQQP-3.2.4.2-19", "MQQP-3.2.4.2-29"), blind=True)
class InitiatorPeekUlactionOfLaterReadPeekNext(DescriptionChanged):
    """In each peek after its first, a client sets ulAction to MQ_ACTION_PEEK_NEXT."""

    sections = (PEEK,)

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        return {**desc, "ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if self.count_earlier(read) else desc


@fault("initiator-peek-ulaction-without-timeout-receive", breaks=("MQQP-3.2.4.2-19", "MQQP-3.2.4.2-29"), blind=True)
class InitiatorPeekUlactionWithoutTimeoutReceive(DescriptionChanged):
    """In a peek without a timeout, a client sets ulAction to MQ_ACTION_RECEIVE."""

    sections = (PEEK,)

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        return {**desc, "ulAction": int(ReadAction.MQ_ACTION_RECEIVE)} if read.TimeOut == INFINITE_MS else desc


class HCursorOfOpenCursorSent(DescriptionChanged):
    """A part that sets hCursor to an open cursor of the queue, if there is one, although the read has no cursor."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        cursors = [
            handle for queue, handle in self.qm.remote_client.queue_and_handle_by_cursor.values() if queue is read.queue
        ]
        return {**desc, "hCursor": cursors[0]} if cursors else desc


class HCursorOfReadBesideReadNonzero(DescriptionChanged):
    """A part that sets hCursor to 1 while another read of the queue is pending."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        pending = self.qm.remote_client.PendingRemoteReadEntryCollection
        beside = any(one.queue is read.queue and one is not read.entry for one in pending)
        return {**desc, "hCursor": 1} if beside else desc


@fault("initiator-peek-hcursor-of-open-cursor", breaks="MQQP-3.2.4.2-28", blind=True)
class InitiatorPeekHcursorOfOpenCursor(HCursorOfOpenCursorSent):
    """In a peek without a cursor, a client sets hCursor to a cursor of the queue that the application has opened."""

    sections = (PEEK,)


@fault("initiator-peek-hcursor-beside-pending-read-nonzero", breaks="MQQP-3.2.4.2-28", blind=True)
class InitiatorPeekHcursorBesidePendingReadNonzero(HCursorOfReadBesideReadNonzero):
    """In a peek without a cursor, a client sets hCursor to 1 while another read of the queue is pending."""

    sections = (PEEK,)


@fault("initiator-receive-hcursor-of-open-cursor", breaks=("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"), blind=True)
class InitiatorReceiveHcursorOfOpenCursor(HCursorOfOpenCursorSent):
    """In a receive without a cursor, a client sets hCursor to a cursor of the queue that the application has opened."""

    sections = (RECEIVE,)


@fault(
    "initiator-receive-hcursor-beside-pending-read-nonzero", breaks=("MQQP-3.2.4.3-16", "MQQP-3.2.4.3-26"), blind=True
)
class InitiatorReceiveHcursorBesidePendingReadNonzero(HCursorOfReadBesideReadNonzero):
    """In a receive without a cursor, a client sets hCursor to 1 while another read of the queue is pending."""

    sections = (RECEIVE,)


class RequestIdBesideReadChanged(DescriptionChanged):
    """A part that sends another dwRequestID than the RequestId of the entry while other reads are pending."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        beside = len(self.qm.remote_client.PendingRemoteReadEntryCollection) > 1
        return {**desc, "dwRequestID": desc["dwRequestID"] | HIGH_BIT} if beside else desc


class RequestIdWithoutTimeoutChanged(DescriptionChanged):
    """A part that sends another dwRequestID than the RequestId of the entry in a read without a timeout."""

    def change_description(self, read: RemoteRead, desc: dict[str, Any]) -> dict[str, Any]:
        endless = read.TimeOut == INFINITE_MS
        return {**desc, "dwRequestID": desc["dwRequestID"] | HIGH_BIT} if endless else desc


@fault(
    "initiator-peek-dwrequestid-beside-pending-read-wrong", breaks=("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"), blind=True
)
class InitiatorPeekDwrequestidBesidePendingReadWrong(RequestIdBesideReadChanged):
    """While another read is pending, a client peeks with a dwRequestID that is not the RequestId of the entry."""

    sections = (PEEK,)


@fault("initiator-peek-dwrequestid-without-timeout-wrong", breaks=("MQQP-3.2.4.2-21", "MQQP-3.2.4.2-31"), blind=True)
class InitiatorPeekDwrequestidWithoutTimeoutWrong(RequestIdWithoutTimeoutChanged):
    """A client peeks without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (PEEK,)


@fault(
    "initiator-receive-dwrequestid-beside-pending-read-wrong",
    breaks=("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"),
    blind=True,
)
class InitiatorReceiveDwrequestidBesidePendingReadWrong(RequestIdBesideReadChanged):
    """While another read is pending, a client receives with a dwRequestID that is not the RequestId of the entry."""

    sections = (RECEIVE,)


@fault("initiator-receive-dwrequestid-without-timeout-wrong", breaks=("MQQP-3.2.4.3-21", "MQQP-3.2.4.3-31"), blind=True)
class InitiatorReceiveDwrequestidWithoutTimeoutWrong(RequestIdWithoutTimeoutChanged):
    """A client receives without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (RECEIVE,)


@fault(
    "initiator-peek-by-cursor-dwrequestid-beside-pending-read-wrong",
    breaks=("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
    blind=True,
)
class InitiatorPeekByCursorDwrequestidBesidePendingReadWrong(RequestIdBesideReadChanged):
    """While another read is pending, a client peeks by a cursor with a dwRequestID that is not the RequestId of the
    entry.
    """

    sections = (CURSOR_PEEK,)


@fault(
    "initiator-peek-by-cursor-dwrequestid-without-timeout-wrong",
    breaks=("MQQP-3.2.4.5-21", "MQQP-3.2.4.5-31"),
    blind=True,
)
class InitiatorPeekByCursorDwrequestidWithoutTimeoutWrong(RequestIdWithoutTimeoutChanged):
    """A client peeks by a cursor without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (CURSOR_PEEK,)


@fault("initiator-receive-by-cursor-dwrequestid-beside-pending-read-wrong", breaks="MQQP-3.2.4.6-30", blind=True)
class InitiatorReceiveByCursorDwrequestidBesidePendingReadWrong(RequestIdBesideReadChanged):
    """While another read is pending, a client receives by a cursor with a dwRequestID that is not the RequestId of the
    entry.
    """

    sections = (CURSOR_RECEIVE,)


@fault("initiator-receive-by-cursor-dwrequestid-without-timeout-wrong", breaks="MQQP-3.2.4.6-30", blind=True)
class InitiatorReceiveByCursorDwrequestidWithoutTimeoutWrong(RequestIdWithoutTimeoutChanged):
    """A client receives by a cursor without a timeout with a dwRequestID that is not the RequestId of the entry."""

    sections = (CURSOR_RECEIVE,)


def _send_dw_size(is_changed: Callable[[int, int], bool]) -> Install:
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
            size = GREATEST_SIZE.to_bytes(4, "little")
            return replace(body, stub=stub[:DW_SIZE_OFFSET] + size + stub[DW_SIZE_OFFSET + 4 :])

        pdus(Request, change_stub)(faulty)

    return install_dw_size


add(
    "initiator-peek-dwsize-of-later-read-nonzero",
    "MQQP-3.2.4.2-16",
    "In each peek after its first, a client sets dwSize to 0x00420000.",
    _send_dw_size(lambda earlier, timeout_ms: earlier > 0),
    blind=True,
)
add(
    "initiator-peek-dwsize-without-timeout-nonzero",
    "MQQP-3.2.4.2-16",
    "In a peek without a timeout, a client sets dwSize to 0x00420000.",
    _send_dw_size(lambda earlier, timeout_ms: timeout_ms == INFINITE_MS),
    blind=True,
)


# -- REMOTEREADDESC2 ---------------------------------------------------------------------------------------------------


class SequentialIdChanged(ReadsCounted):
    """A part that sends a nonzero SequentialId in some reads."""

    def sends_nonzero(self, read: RemoteRead) -> bool:
        """Return whether the SequentialId of a read is nonzero."""
        raise NotImplementedError

    def describe_read2(self, read: RemoteRead) -> dict[str, Any]:
        description = super().describe_read2(read)
        if self.changes(read) and self.sends_nonzero(read):
            assert read.entry is not None
            return {**description, "SequentialId": read.entry.RequestId}
        return description


class SequentialIdOfLaterReadNonzero(SequentialIdChanged):
    """A part that sends a nonzero SequentialId in each read after the first."""

    def sends_nonzero(self, read: RemoteRead) -> bool:
        return self.count_earlier(read) > 0


class SequentialIdWithoutTimeoutNonzero(SequentialIdChanged):
    """A part that sends a nonzero SequentialId in each read without a timeout."""

    def sends_nonzero(self, read: RemoteRead) -> bool:
        return read.TimeOut == INFINITE_MS


@fault("initiator-peek-sequentialid-of-later-read-nonzero", breaks="MQQP-3.2.4.2-32", blind=True)
class InitiatorPeekSequentialidOfLaterReadNonzero(SequentialIdOfLaterReadNonzero):
    """In each peek after its first, a client sets SequentialId to its dwRequestID."""

    sections = (PEEK,)


@fault("initiator-peek-sequentialid-without-timeout-nonzero", breaks="MQQP-3.2.4.2-32", blind=True)
class InitiatorPeekSequentialidWithoutTimeoutNonzero(SequentialIdWithoutTimeoutNonzero):
    """In a peek without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (PEEK,)


@fault("initiator-receive-sequentialid-of-later-read-nonzero", breaks="MQQP-3.2.4.3-32", blind=True)
class InitiatorReceiveSequentialidOfLaterReadNonzero(SequentialIdOfLaterReadNonzero):
    """In each receive after its first, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE,)


@fault("initiator-receive-sequentialid-without-timeout-nonzero", breaks="MQQP-3.2.4.3-32", blind=True)
class InitiatorReceiveSequentialidWithoutTimeoutNonzero(SequentialIdWithoutTimeoutNonzero):
    """In a receive without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (RECEIVE,)


@fault("initiator-receive-by-cursor-sequentialid-of-later-read-nonzero", breaks="MQQP-3.2.4.6-31", blind=True)
class InitiatorReceiveByCursorSequentialidOfLaterReadNonzero(SequentialIdOfLaterReadNonzero):
    """In each receive by a cursor after its first, a client sets SequentialId to its dwRequestID."""

    sections = (CURSOR_RECEIVE,)


@fault("initiator-receive-by-cursor-sequentialid-without-timeout-nonzero", breaks="MQQP-3.2.4.6-31", blind=True)
class InitiatorReceiveByCursorSequentialidWithoutTimeoutNonzero(SequentialIdWithoutTimeoutNonzero):
    """In a receive by a cursor without a timeout, a client sets SequentialId to its dwRequestID."""

    sections = (CURSOR_RECEIVE,)
