"""Steps that several fault files of this section share."""

from __future__ import annotations

from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_reads import RemoteReads
from reference_qm.model.elements import Cursor, OpenQueueDescriptor
from reference_qm.surface.clock import Now


def is_second_start_receive(entry: RemoteReadEntry) -> bool:
    """Return whether an entry belongs to a call of RemoteQMStartReceive2."""
    return entry.call.method.name == "RemoteQMStartReceive2"


class HandleOfWaitedRead(RemoteReads):
    """Remember whether a read had to wait for its message."""

    def remote_receive(
        self, entry: RemoteReadEntry, descriptor: OpenQueueDescriptor, cursor: Cursor | None, now: Now
    ) -> None:
        super().remote_receive(entry, descriptor, cursor, now)
        if entry.call in self.qm.remote.reads:
            entry.Timeout |= 1 << 40
