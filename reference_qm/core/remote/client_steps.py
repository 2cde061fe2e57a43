"""Defines the steps that a sequence of remote calls can yield, and the error that a failed step raises. Spec:
MS-MQQP 3.2.4.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from reference_qm.rpc.client import ClientAssociation
from reference_qm.rpc.interfaces import Interface
from reference_qm.rpc.outgoing import OutgoingCall
from reference_qm.surface.inputs import Endpoint


@dataclass(frozen=True, slots=True)
class ResolveHostStep:
    """A step that resolves a host name. The result is the first address as a string."""

    host: str


@dataclass(frozen=True, slots=True)
class BindStep:
    """A step that constructs an RPC binding handle to an interface of a server. The result is an RpcBindingHandle.
    Spec: C706 2.3.
    """

    server: Endpoint
    interface: Interface


@dataclass(frozen=True, slots=True)
class CallMethodStep:
    """A step that calls a method. The result contains the method's results by name. ``timeout_ms`` is the time
    limit of the call, or None for no limit.
    """

    binding: RpcBindingHandle
    method: str
    arguments: Mapping[str, Any]
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class CloseBindingStep:
    """A step that closes an RPC binding handle. Its result is None. Other steps that wait for the same handle fail."""

    binding: RpcBindingHandle


RemoteCallStep = ResolveHostStep | BindStep | CallMethodStep | CloseBindingStep

RemoteCallSequence: TypeAlias = Generator[RemoteCallStep, Any, Any]
"""A sequence of remote calls: a generator that yields steps, is resumed with the result of each step, and returns
its outcome.
"""


class RemoteError(Exception):
    """Raised when a remote operation failed. The message has one line.

    ``status`` is the failure HRESULT, the NTSTATUS or the status of the fault (u32), or None if the server sent no
    status.
    """

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


@dataclass(slots=True, eq=False)
class RpcBindingHandle:
    """An RPC binding handle: a connection to a server, with the calls that have not been answered."""

    transport: str
    interface: Interface
    association: ClientAssociation
    opening_task: RemoteCallTask | None = None
    task_by_call: dict[OutgoingCall, RemoteCallTask] = field(default_factory=dict)
    end_reason: str | None = None
    """The reason why the connection ended, or None while the connection is in use."""


@dataclass(slots=True, eq=False)
class RemoteCallTask:
    """A running sequence of remote calls. ``on_finished`` is called with the outcome of the sequence, or with the
    RemoteError that ended it.
    """

    number: int
    sequence: RemoteCallSequence
    on_finished: Callable[[Any], None]
    awaited_answer: tuple[RpcBindingHandle, OutgoingCall | None] | str | None = None
    """What the task waits for: the answer to a call (a binding and the call), the association (a binding and None), a
    host name, or nothing (None).
    """
