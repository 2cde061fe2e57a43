"""Defines the volatile state of the server for its remote readers. Spec: MS-MQQP 3.1.1, MS-MQMP 3.1.1.7, 3.1.1.8."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Generic, NamedTuple, TypeVar
from uuid import UUID

from reference_qm.core.remote.enums import ReadAction
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.rpc import Call


class RemoteReadTag(NamedTuple):
    """The iTag of a remote read, which consists of the handle and the dwRequestID. The handle is included because
    request numbers are unique only within a handle.
    """

    OpenQueueDescriptorHandle: int
    RequestId: int


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteReadEntry:
    """A remote read that has started and has not ended. Spec: MS-MQQP 3.1.1.2.

    ``Timeout`` is a u32 in ms. ``UserMessagePacket`` is the position of the message that the read found, or None.
    The message of a receive is locked until ``ended`` is true. ``call`` is the call that began the read.
    ``cancelled`` states whether the client cancelled this call, and ``ended`` states whether the receive was ended.
    """

    OpenQueueDescriptorHandle: int
    Timeout: int
    Action: ReadAction
    RequestId: int
    call: Call
    UserMessagePacket: MessagePosition | None = None
    cancelled: bool = False
    ended: bool = False

    @property
    def tag(self) -> RemoteReadTag:
        """Return the iTag of the read."""
        return RemoteReadTag(self.OpenQueueDescriptorHandle, self.RequestId)


@dataclass(slots=True, eq=False, kw_only=True)
class OpenQueueEntry:
    """A queue that a remote client opened. Spec: MS-MQQP 3.1.1.4."""

    OpenQueueDescriptorHandle: int
    ClientId: UUID


@dataclass(slots=True, eq=False)
class RemoteQueueOpenContextHandle:
    """The state to which a PCTX_OPENREMOTE_HANDLE_TYPE refers. Spec: MS-MQMP 3.1.1.8."""

    OpenQueueDescriptorReference: OpenQueueDescriptor


RpcHandleEntry = TypeVar("RpcHandleEntry", RemoteReadEntry, OpenQueueEntry)


class HandleEntryCollection(Generic[RpcHandleEntry]):
    """An ordered collection of entries that can be searched by OpenQueueDescriptorHandle. Spec: MS-MQQP 3.1.1.3,
    3.1.1.5.
    """

    def __init__(self) -> None:
        self._by_handle: dict[int, dict[RpcHandleEntry, None]] = {}

    def __len__(self) -> int:
        return sum(len(entries) for entries in self._by_handle.values())

    def __iter__(self) -> Iterator[RpcHandleEntry]:
        return chain.from_iterable(self._by_handle.values())

    def list_entries_of_handle(self, handle: int) -> list[RpcHandleEntry]:
        """Return the entries for the open queue with the given handle."""
        return list(self._by_handle.get(handle, ()))

    def add(self, entry: RpcHandleEntry) -> None:
        """Append an entry."""
        self._by_handle.setdefault(entry.OpenQueueDescriptorHandle, {})[entry] = None

    def remove(self, entry: RpcHandleEntry) -> None:
        """Remove an entry if it is in the collection."""
        entries = self._by_handle.get(entry.OpenQueueDescriptorHandle, {})
        entries.pop(entry, None)
        if not entries:
            self._by_handle.pop(entry.OpenQueueDescriptorHandle, None)
