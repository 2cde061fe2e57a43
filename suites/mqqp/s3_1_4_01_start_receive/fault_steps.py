"""Steps that several fault files of this section share."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

from harness.faults.primitives import change_pdus
from harness.faults.registry import FaultyCore, Install
from reference_qm.core.part import QM
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.rpc.bodies import Request
from reference_qm.surface.clock import Now

DESCRIPTION_OFFSET_BY_OPNUM = {0: 0, 9: 16, 10: 24}
"""For each opnum of a method that starts a read, the offset of the REMOTEREADDESC in the stub."""


def is_start_receive2(entry: RemoteReadEntry) -> bool:
    """Return whether an entry belongs to a call of RemoteQMStartReceive2."""
    return entry.call.method.name == "RemoteQMStartReceive2"


class RecorderOfWaitOfReadForMessage(RemoteReads):
    """Remember whether a read had to wait for its message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            entry.Timeout |= 1 << 40


class CollectorOfReadsThatWaited(RemoteReads):
    """Collect the reads that had to wait for a message."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.waited: set[RemoteReadEntry | None] = set()

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, cursor, now)
        self._record_waiting_read(entry)

    def remote_peek(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek(entry, descriptor, cursor, now)
        self._record_waiting_read(entry)

    def remote_peek_next(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_peek_next(entry, descriptor, cursor, now)
        self._record_waiting_read(entry)

    def _record_waiting_read(self, entry: RemoteReadEntry) -> None:
        if entry.call in self.qm.remote.reads:
            self.waited.add(entry)


def parse_read_description(stub: bytes, at: int) -> tuple[int, ...]:
    """Return the first four fields of the REMOTEREADDESC at an offset of a stub: hRemoteQueue, hCursor, ulAction and
    ulTimeout, each u32 LE.
    """
    return struct.unpack_from("<4I", stub, at)


def send_with_unknown_context_id(opnum: int, is_wrong: Callable[[list[tuple[int, ...]]], bool]) -> Install:
    """Return an installer of a fault that sends some requests of one method with an unknown p_cont_id. The condition is
    called with the descriptions of all reads, up to the request.
    """

    def install_context_id_changer(faulty: FaultyCore) -> None:
        reads: list[tuple[int, ...]] = []

        def change_context_id_of_request(request: Request) -> Request:
            if request.opnum != opnum or len(request.stub) < 40:
                return request
            reads.append(parse_read_description(request.stub, DESCRIPTION_OFFSET_BY_OPNUM[opnum]))
            return replace(request, p_cont_id=request.p_cont_id + 7) if is_wrong(reads) else request

        change_pdus(Request, change_context_id_of_request)(faulty)

    return install_context_id_changer
