"""Fault of MS-MQQP 3.1.6 Rundown that only a second loss of a connection reveals."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_ending import RemoteEnding


@fault("server-rundown-of-second-lost-connection-keeps-message", breaks=("MQQP-3.1.6.2-01", "MQQP-3.1.6.2-02"))
class ServerRundownOfSecondLostConnectionKeepsMessage(RemoteEnding):
    """The server returns the messages of unfinished receives to the queue only for the first connection
    that is lost.
    """

    calls: frozenset[object] = frozenset()

    def run_down_remote_read(self, entry: RemoteReadEntry) -> None:
        self.calls |= {entry.call.association}
        if len(self.calls) < 2:
            super().run_down_remote_read(entry)
