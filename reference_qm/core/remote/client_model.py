"""Defines the volatile state of the client for remote queues and reads. Spec: MS-MQQP 3.2.1."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reference_qm.core.remote.client_steps import RemoteCallTask, RpcBindingHandle
from reference_qm.core.remote.enums import RECEIVE_ACTIONS, ReadAction
from reference_qm.surface.inputs import Endpoint


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteOpenQueueEntry:
    """An open remote queue. Spec: MS-MQQP 3.2.1.3. ``queue`` contains the address of the server that issued the
    handle.
    """

    OpenQueueDescriptorHandle: int
    RRSessionHandle: UUID | None
    queue: RemoteQueue


@dataclass(slots=True, eq=False, kw_only=True)
class PendingRemoteReadEntry:
    """A peek or receive that the server has not answered. Spec: MS-MQQP 3.2.1.1.

    ``queue`` contains the address of the server that issued the handle. ``token`` is the token of the waiting command.
    ``is_sent_to_server`` states whether the request was sent to the server, and ``is_cancelled_before_sending`` states
    whether the read was cancelled before that.
    """

    OpenQueueDescriptorHandle: int
    RequestId: int
    RemoteReadHandle: UUID | None = None
    queue: RemoteQueue
    token: int
    is_sent_to_server: bool = False
    is_cancelled_before_sending: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteQueue:
    """A queue of another queue manager. It contains all data about the queue, which the specifications divide between
    an application and its supporting server.

    ``number`` is the number of the queue in commands. ``RemoteServer`` is the address for the calls of qmcomm and
    the first call of qm2qm. QueueHandle, QueueDescriptor and OpenContext are the u32 inputs of MS-MQQP 3.2.4.1.
    ``binding`` is the binding handle for all other calls.
    """

    number: int
    FormatName: str
    RemoteServer: Endpoint
    QueueHandle: int = 0
    QueueDescriptor: int = 0
    OpenContext: int = 0
    binding: RpcBindingHandle | None = None
    may_receive: bool = True
    """Whether the queue was opened to receive. Otherwise the queue was opened only to peek."""


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteRead:
    """A requested peek or receive. Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.

    ``TimeOut`` is a u32 in ms. ``CursorHandle`` is a u32, or 0 for a read without a cursor. ``LookupId`` is a u64
    for a read by lookup identifier, or None for any other read.
    """

    queue: RemoteQueue
    Action: ReadAction
    TimeOut: int
    CursorHandle: int = 0
    LookupId: int | None = None
    token: int
    entry: PendingRemoteReadEntry | None = None

    @property
    def receives(self) -> bool:
        """Whether the read removes the message from its queue."""
        return self.Action in RECEIVE_ACTIONS


@dataclass(slots=True, eq=False)
class RemoteReadingClientState:
    """The whole state of the client for remote reading.

    ``binding_by_connection`` contains the bindings by the names of their connections. ``task_by_timer_number`` contains
    the sequences that have a running timer, by the number of the timer. ``tasks_by_unresolved_host`` contains the
    sequences that wait for a host name. ``queues`` contains the remote queues by number.
    """

    PendingRemoteReadEntryCollection: list[PendingRemoteReadEntry] = field(default_factory=list)
    RemoteOpenQueueEntryCollection: list[RemoteOpenQueueEntry] = field(default_factory=list)
    queues: dict[int, RemoteQueue] = field(default_factory=dict)
    queue_and_handle_by_cursor: dict[int, tuple[RemoteQueue, int]] = field(default_factory=dict)
    """For each cursor, by its number in commands: the remote queue and the CursorHandle."""
    binding_by_connection: dict[str, RpcBindingHandle] = field(default_factory=dict)
    task_by_timer_number: dict[int, RemoteCallTask] = field(default_factory=dict)
    tasks_by_unresolved_host: dict[str, list[RemoteCallTask]] = field(default_factory=dict)
    last_request_id: int = 0
