"""The client's state of remote queues and reads. All volatile. Spec: MS-MQQP 3.2.1."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reference_qm.core.remote.client_steps import Binding, Task
from reference_qm.core.remote.enums import RECEIVING, ReadAction
from reference_qm.surface.inputs import Endpoint


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteOpenQueueEntry:
    """A remote queue that is open. Spec: MS-MQQP 3.2.1.3. ``queue`` says at which server the handle is one."""

    OpenQueueDescriptorHandle: int
    RRSessionHandle: UUID | None
    queue: RemoteQueue


@dataclass(slots=True, eq=False, kw_only=True)
class PendingRemoteReadEntry:
    """A peek or receive that the server has not answered. Spec: MS-MQQP 3.2.1.1.

    ``queue`` says at which server the handle is one, ``token`` whose command waits for the message; ``is_known``:
    whether the server was asked for it; ``is_over``: whether it was cancelled before that.
    """

    OpenQueueDescriptorHandle: int
    RequestId: int
    RemoteReadHandle: UUID | None = None
    queue: RemoteQueue
    token: int
    is_known: bool = False
    is_over: bool = False


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteQueue:
    """A queue of another queue manager, as the application and its supporting server know it.

    ``number``: what commands call it. ``server``: where the calls of qmcomm and the first of qm2qm go. QueueHandle,
    QueueDescriptor and OpenContext are the inputs of MS-MQQP 3.2.4.1, u32; ``binding`` is where the others go.
    """

    number: int
    FormatName: str
    RemoteServer: Endpoint
    QueueHandle: int = 0
    QueueDescriptor: int = 0
    OpenContext: int = 0
    binding: Binding | None = None
    receives: bool = True
    """Whether it was opened to receive, and not only to peek."""


@dataclass(slots=True, eq=False, kw_only=True)
class RemoteRead:
    """A peek or receive that is asked for. Spec: MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.

    ``TimeOut`` u32 ms. ``CursorHandle`` u32, 0 without a cursor. ``LookupId`` u64, for a read by lookup identifier.
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
        """Whether it removes the message."""
        return self.Action in RECEIVING


@dataclass(slots=True, eq=False)
class RemoteClient:
    """Everything that the client's side keeps.

    ``bindings``: by the name of their transport. ``tasks``: the sequences that wait for a time, by the number of their
    timer. ``resolving``: those that wait for a host name. ``queues``: by number.
    """

    PendingRemoteReadEntryCollection: list[PendingRemoteReadEntry] = field(default_factory=list)
    RemoteOpenQueueEntryCollection: list[RemoteOpenQueueEntry] = field(default_factory=list)
    queues: dict[int, RemoteQueue] = field(default_factory=dict)
    cursors: dict[int, tuple[RemoteQueue, int]] = field(default_factory=dict)
    """The remote queue and the CursorHandle by the number that commands call a cursor."""
    bindings: dict[str, Binding] = field(default_factory=dict)
    tasks: dict[int, Task] = field(default_factory=dict)
    resolving: dict[str, list[Task]] = field(default_factory=dict)
    last_request_id: int = 0
