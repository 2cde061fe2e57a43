"""Faults in one of several peeks of a client: MQQP-3.2.4.2-02 to MQQP-3.2.4.2-29."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.part import QM
from reference_qm.core.remote.client_message_reading import ClientMessageReading
from reference_qm.core.remote.client_model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote.enums import INFINITE_MS, ReadAction


class _PeekEntryOmitter(ClientMessageReading):
    """Peek without an entry in PendingRemoteReadEntryCollection under some condition; a subclass selects which."""

    def is_peek_entry_omitted(self, read: RemoteRead) -> bool:
        """Return whether the peek gets no entry."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        lacks_entry = not read.receives and self.is_peek_entry_omitted(read)
        entry = super().create_pending_read(read)
        if lacks_entry:
            self.qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry


@fault("client-keeps-no-entry-of-peek-while-earlier-read-waits", breaks="MQQP-3.2.4.2-02", blind=True)
class ClientKeepsNoEntryOfPeekWhileEarlierReadWaits(_PeekEntryOmitter):
    """A client whose earlier read waits creates no PendingRemoteReadEntry for a peek."""

    def is_peek_entry_omitted(self, read: RemoteRead) -> bool:
        return bool(self.qm.remote_client.PendingRemoteReadEntryCollection)


@fault("client-peek-with-timeout-has-no-pending-read-entry", breaks="MQQP-3.2.4.2-02", blind=True)
class ClientPeekWithTimeoutHasNoPendingReadEntry(_PeekEntryOmitter):
    """A client creates no PendingRemoteReadEntry for a peek with a timeout."""

    def is_peek_entry_omitted(self, read: RemoteRead) -> bool:
        return read.TimeOut != INFINITE_MS


@fault("client-peek-by-peek-handle-has-no-pending-read-entry", breaks="MQQP-3.2.4.2-02", blind=True)
class ClientPeekByPeekHandleHasNoPendingReadEntry(_PeekEntryOmitter):
    """A client creates no PendingRemoteReadEntry for a peek of a queue that it opened to peek."""

    def is_peek_entry_omitted(self, read: RemoteRead) -> bool:
        return not read.queue.may_receive


class _WrongHandleSetterOfPeekEntries(ClientMessageReading):
    """Store a wrong OpenQueueDescriptorHandle in the entry of a peek."""

    def find_wrong_handle(self, read: RemoteRead) -> int:
        """Return the handle that the entry of the peek gets."""
        raise NotImplementedError

    def create_pending_read(self, read: RemoteRead) -> PendingRemoteReadEntry:
        entry = super().create_pending_read(read)
        if not read.receives:
            entry.OpenQueueDescriptorHandle = self.find_wrong_handle(read)
        return entry


@fault("client-pending-peek-entry-has-handle-of-first-queue", breaks="MQQP-3.2.4.2-03", blind=True)
class ClientPendingPeekEntryHasHandleOfFirstQueue(_WrongHandleSetterOfPeekEntries):
    """The PendingRemoteReadEntry of a peek has the handle of the first queue that is open."""

    def find_wrong_handle(self, read: RemoteRead) -> int:
        return next(iter(self.qm.remote_client.queues.values())).QueueHandle


@fault("client-pending-peek-entry-has-dwp-queue-as-handle", breaks="MQQP-3.2.4.2-03", blind=True)
class ClientPendingPeekEntryHasDwpQueueAsHandle(_WrongHandleSetterOfPeekEntries):
    """OpenQueueDescriptorHandle in the PendingRemoteReadEntry of a peek is dwpQueue instead of phQueue."""

    def find_wrong_handle(self, read: RemoteRead) -> int:
        return read.queue.QueueDescriptor


@fault("client-pending-peek-entry-with-timeout-has-handle-1-too-large", breaks="MQQP-3.2.4.2-03", blind=True)
class ClientPendingPeekEntryWithTimeoutHasHandle1TooLarge(_WrongHandleSetterOfPeekEntries):
    """OpenQueueDescriptorHandle in the PendingRemoteReadEntry of a peek with a timeout is 1 too large."""

    def find_wrong_handle(self, read: RemoteRead) -> int:
        return read.queue.QueueHandle + int(read.TimeOut != INFINITE_MS)


_UL_ACTION_RULES = ("MQQP-3.2.4.2-19", "MQQP-3.2.4.2-29")
_LP_BUFFER_RULES = ("MQQP-3.2.4.2-17", "MQQP-3.2.4.2-27")


@fault("client-peek-with-time-out-sent-as-peek-next", breaks=_UL_ACTION_RULES, blind=True)
class ClientPeekWithTimeOutSentAsPeekNext(ClientMessageReading):
    """The client sends ulAction MQ_ACTION_PEEK_NEXT for a peek with a timeout."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        found = super().build_start_receive_description(read)
        is_timed = not read.CursorHandle and not read.receives and 0 < read.TimeOut < INFINITE_MS
        return found | ({"ulAction": int(ReadAction.MQ_ACTION_PEEK_NEXT)} if is_timed else {})


@fault("client-later-peek-sent-as-receive", breaks=_UL_ACTION_RULES, blind=True)
class ClientLaterPeekSentAsReceive(ClientMessageReading):
    """From the second peek on, the client sends ulAction MQ_ACTION_RECEIVE for a peek without a cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.peeked = False

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        found = super().build_start_receive_description(read)
        if read.CursorHandle or read.receives or read.LookupId is not None:
            return found
        again, self.peeked = self.peeked, True
        return found | ({"ulAction": int(ReadAction.MQ_ACTION_RECEIVE)} if again else {})


@fault("client-peek-with-time-out-sends-buffer", breaks=_LP_BUFFER_RULES, blind=True)
class ClientPeekWithTimeOutSendsBuffer(ClientMessageReading):
    """The client sends an lpBuffer that is not NULL with a peek that has a timeout."""

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        is_timed = not read.CursorHandle and not read.receives and 0 < read.TimeOut < INFINITE_MS
        return super().build_start_receive_description(read) | ({"lpBuffer": b""} if is_timed else {})


@fault("client-later-peek-sends-buffer", breaks=_LP_BUFFER_RULES, blind=True)
class ClientLaterPeekSendsBuffer(ClientMessageReading):
    """From the second peek on, the client sends an lpBuffer that is not NULL with a peek without a cursor."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.peeked = False

    def build_start_receive_description(self, read: RemoteRead) -> dict[str, Any]:
        found = super().build_start_receive_description(read)
        if read.CursorHandle or read.receives or read.LookupId is not None:
            return found
        again, self.peeked = self.peeked, True
        return found | ({"lpBuffer": b""} if again else {})
