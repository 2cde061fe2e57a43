"""The steps that a sequence of remote calls can yield, and the errors it can get. Spec: MS-MQQP 3.2.4."""

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
    """Wait for the addresses of a host. Returns the first address as a string."""

    host: str


@dataclass(frozen=True, slots=True)
class Bind:
    """Construct an RPC binding handle to an interface of a server; returns a Binding. Spec: C706 2.3."""

    server: Endpoint
    interface: Interface


@dataclass(frozen=True, slots=True)
class CallMethod:
    """Call a method. Returns its results by name. ``timeout_ms``: the time limit of the call, None for unlimited."""

    binding: Binding
    method: str
    arguments: Mapping[str, Any]
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class Close:
    """Close an RPC binding handle; all steps that wait for the handle fail. Returns None."""

    binding: Binding


Step = Resolve | Bind | CallMethod | Close

Sequence: TypeAlias = Generator[Step, Any, Any]
"""A sequence of remote calls: a generator that yields steps, gets their results, and returns its outcome."""


class RemoteError(Exception):
    """A remote operation failed; the message has one line.

    ``status``: the failure HRESULT or NTSTATUS, or the status of the fault, u32; None when the server sent no status.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True, eq=False)
class Binding:
    """An RPC binding handle: a connection to a server, and the calls that wait for answers."""

    transport: str
    interface: Interface
    association: ClientAssociation
    opener: Task | None = None
    calls: dict[OutgoingCall, Task] = field(default_factory=dict)
    ended: str | None = None
    """The reason for the end of the connection."""


@dataclass(slots=True, eq=False)
class Task:
    """A running sequence of remote calls. ``finished`` gets its outcome, or the RemoteError that ended it."""

    number: int
    sequence: Sequence
    finished: Callable[[Any], None]
    waits_for: tuple[Binding, OutgoingCall | None] | str | None = None
    """The object that the task awaits: a binding (for the association, or for a call), a host name, or None."""
