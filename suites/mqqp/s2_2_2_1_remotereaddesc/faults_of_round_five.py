"""Faults of round five that break rules of MS-MQQP 2.2.2.1 REMOTEREADDESC."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.remote.enums import INFINITE_MS
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import ReadDescription, RemoteReadStarting
from reference_qm.rpc import Call

LOWEST_NEGATIVE_DWORD = 0x80000000
"""The lowest u32 that a signed 32-bit integer represents as a negative number."""


@fault("server-remotereaddesc-ul-timeout-read-as-signed", breaks="MQQP-2.2.2.1-D01", blind=True)
class ServerRemotereaddescUlTimeoutReadAsSigned(RemoteReadStarting):
    """The server reads ulTimeout of a REMOTEREADDESC as a signed number, so that it does not wait for a message if
    ulTimeout is 0x80000000 or more, and is not infinite.
    """

    def create_remote_read_entry(self, call: Call, desc: ReadDescription) -> RemoteReadEntry:
        entry = super().create_remote_read_entry(call, desc)
        if LOWEST_NEGATIVE_DWORD <= entry.Timeout < INFINITE_MS:
            entry.Timeout = 0
        return entry
