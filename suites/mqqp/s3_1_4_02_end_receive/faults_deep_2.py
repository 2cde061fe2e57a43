"""Faults of MS-MQQP 3.1.4.2 RemoteQMEndReceive: receives by LookupIdentifier."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding
from reference_qm.model.statuses import Status


@fault("server-end-of-lookup-receive-with-rr-nack-removes-message", breaks="MQQP-3.1.4.2-06")
class LookupNackRemoves(RemoteEnding):
    """The server removes the message of a receive by LookupIdentifier that ends with RR_NACK."""

    def end_remote_read(self, entry: RemoteReadEntry, delete_message: bool, ended: Callable[[Status], None]) -> None:
        by_lookup = "LOOKUP" in entry.Action.name
        super().end_remote_read(entry, delete_message or by_lookup, ended)
