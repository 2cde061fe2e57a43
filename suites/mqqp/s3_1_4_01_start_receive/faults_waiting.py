"""Faults of MS-MQQP 3.1.4.1 and 3.1.4.10: the entries of waiting reads."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction
from reference_qm.core.remote.model import RemoteReadEntry
from reference_qm.core.remote.remote_read_starting import RemoteReadStarting
from reference_qm.rpc import Call

ReadDescriptionFields = dict[str, Any]
WAITING_READ_ENTRY_RULES = ("MQQP-3.1.4.1-D14", "MQQP-3.1.4.10-24", "MQQP-3.1.4.10-30")


class RemoteReadEntryOmitter(RemoteReadStarting):
    """Do not add the entries of some reads to RemoteReadEntryCollection; a subclass selects which."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        """Return whether the entry of a read is not added."""
        raise NotImplementedError

    def create_remote_read_entry(self, call: Call, desc: ReadDescriptionFields) -> RemoteReadEntry:
        unlisted = self.is_read_entry_omitted(desc)
        entry = super().create_remote_read_entry(call, desc)
        if unlisted:
            self.qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry


@fault("server-infinite-wait-has-no-remote-read-entry", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerInfiniteWaitHasNoRemoteReadEntry(RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a read whose ulTimeout is infinite."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        return desc["ulTimeout"] == INFINITE_MS


@fault("server-waiting-receive-by-cursor-has-no-remote-read-entry", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerWaitingReceiveByCursorHasNoRemoteReadEntry(RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a waiting RECEIVE with hCursor."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        return desc["ulAction"] == ReadAction.MQ_ACTION_RECEIVE and desc["hCursor"] != 0


@fault("server-third-waiting-read-of-handle-has-no-remote-read-entry", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerThirdWaitingReadOfHandleHasNoRemoteReadEntry(RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a third waiting read of one queue handle."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        return len(self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])) == 2


@fault("server-waiting-read-of-second-handle-has-no-remote-read-entry", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerWaitingReadOfSecondHandleHasNoRemoteReadEntry(RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a waiting read while a read of another queue handle is waiting."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        pending = self.qm.remote.RemoteReadEntryCollection
        return any(entry.OpenQueueDescriptorHandle != desc["hRemoteQueue"] for entry in pending)


@fault("server-waiting-read-of-request-id-0-has-no-remote-read-entry", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerWaitingReadOfRequestId0HasNoRemoteReadEntry(RemoteReadEntryOmitter):
    """The server keeps no RemoteReadEntry for a waiting read whose dwRequestID is 0."""

    def is_read_entry_omitted(self, desc: ReadDescriptionFields) -> bool:
        return desc["dwRequestID"] == 0


@fault("server-remote-read-entry-keeps-request-id-of-16-bits", breaks=WAITING_READ_ENTRY_RULES, blind=True)
class ServerRemoteReadEntryKeepsRequestIdOf16Bits(RemoteReadStarting):
    """The RemoteReadEntry of a read keeps only the low 16 bits of dwRequestID."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescriptionFields) -> RemoteReadEntry:
        return super().create_remote_read_entry(call, desc | {"dwRequestID": desc["dwRequestID"] & 0xFFFF})


@fault("server-second-waiting-read-keeps-timeout-of-first", breaks="MQQP-3.1.4.1-D14", blind=True)
class ServerSecondWaitingReadKeepsTimeoutOfFirst(RemoteReadStarting):
    """The server gives a waiting read the ulTimeout of the read of the same queue handle that began to wait earlier."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescriptionFields) -> RemoteReadEntry:
        earlier = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        changes = {"ulTimeout": earlier[0].Timeout} if earlier else {}
        return super().create_remote_read_entry(call, desc | changes)


@fault("server-second-waiting-read-keeps-action-of-first", breaks="MQQP-3.1.4.1-D14", blind=True)
class ServerSecondWaitingReadKeepsActionOfFirst(RemoteReadStarting):
    """The server gives a waiting read without a cursor the ulAction of the read of the same queue handle that began to
    wait earlier.
    """

    def create_remote_read_entry(self, call: Call, desc: ReadDescriptionFields) -> RemoteReadEntry:
        earlier = self.qm.remote.RemoteReadEntryCollection.list_entries_of_handle(desc["hRemoteQueue"])
        changes = {"ulAction": earlier[0].Action} if earlier and not desc["hCursor"] else {}
        return super().create_remote_read_entry(call, desc | changes)


@fault("server-waiting-read-keeps-timeout-of-16-bits", breaks="MQQP-3.1.4.1-D14", blind=True)
class ServerWaitingReadKeepsTimeoutOf16Bits(RemoteReadStarting):
    """The RemoteReadEntry of a read keeps only the low 16 bits of a ulTimeout that is not infinite."""

    def create_remote_read_entry(self, call: Call, desc: ReadDescriptionFields) -> RemoteReadEntry:
        kept = desc["ulTimeout"] if desc["ulTimeout"] == INFINITE_MS else desc["ulTimeout"] & 0xFFFF
        return super().create_remote_read_entry(call, desc | {"ulTimeout": kept})
