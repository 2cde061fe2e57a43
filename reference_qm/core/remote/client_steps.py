"""Steps that a sequence of remote calls can wait for, and what carries one out. Spec: MS-MQQP 3.2.4."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reference_qm.rpc.client import ClientAssociation
from reference_qm.rpc.interfaces import Interface
from reference_qm.rpc.outgoing import OutgoingCall
from reference_qm.surface.inputs import Endpoint


@dataclass(frozen=True, slots=True)
class Resolve:
    """Wait for the addresses of a host: the first is returned, a string."""

    host: str


@dataclass(frozen=True, slots=True)
class Bind:
    """Construct an RPC binding handle to an interface of a server; returns a Binding. Spec: C706 2.3."""

    server: Endpoint
    interface: Interface


@dataclass(frozen=True, slots=True)
class CallMethod:
    """Call a method; returns its results by name. ``timeout_ms``: how long it may take, None for ever."""

    binding: Binding
    method: str
    arguments: Mapping[str, Any]
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class Close:
    """Close an RPC binding handle; whatever else waits on it fails. Returns None."""

    binding: Binding


Step = Resolve | Bind | CallMethod | Close

Sequence: TypeAlias = Generator[Step, Any, Any]
"""A sequence of the specification: yields what it waits for, gets what came of it, returns its outcome."""


class RemoteError(Exception):
    """A remote operation that cannot be carried out: one line.

    ``status``: the failure HRESULT or NTSTATUS, or the status of the fault, u32; None when the server sent none.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True, eq=False)
class Binding:
    """An RPC binding handle: a connection to a server, and the calls that wait on it."""

    transport: str
    interface: Interface
    association: ClientAssociation
    opener: Task | None = None
    calls: dict[OutgoingCall, Task] = field(default_factory=dict)
    ended: str | None = None
    """The reason for its end."""


@dataclass(slots=True, eq=False)
class Task:
    """A sequence that is being carried out. ``finished`` gets its outcome, or the RemoteError that ended it."""

    number: int
    sequence: Sequence
    finished: Callable[[Any], None]
    waits_for: tuple[Binding, OutgoingCall | None] | str | None = None
    """A binding (for the association, or for a call), a host name, or nothing."""
