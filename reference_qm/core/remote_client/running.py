"""Carries out sequences of remote calls: a sequence waits, connections and timers go on with it. Spec: MS-MQQP 3.2.4.

A sequence is a generator. It yields a step and gets what came of it, or RemoteError where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reference_qm.core.remote_client.model import RemoteError, Sequence
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc.client import ClientAssociation, outgoing_call
from reference_qm.rpc.interfaces import Interface
from reference_qm.rpc.outgoing import Bound, Failed, Outgoing, OutgoingCall, Returned, Send
from reference_qm.surface.effects import CloseTransport, Connect, ResolveHost, SendPacket
from reference_qm.surface.inputs import Endpoint

if TYPE_CHECKING:
    from reference_qm.core.queue_manager import QueueManager
    from reference_qm.surface.clock import Now
    from reference_qm.surface.inputs import BytesReceived, TransportConnected, TransportFailed, TransportLost


@dataclass(frozen=True, slots=True)
class Resolve:
    """Wait for the addresses of a host; gives the first, text."""

    host: str


@dataclass(frozen=True, slots=True)
class Bind:
    """Construct an RPC binding handle to an interface of a server; gives a Binding. Spec: C706 2.3."""

    server: Endpoint
    interface: Interface


@dataclass(frozen=True, slots=True)
class CallMethod:
    """Call a method; gives its results by name. ``timeout_ms``: how long it may take, None for ever."""

    binding: Binding
    method: str
    arguments: Mapping[str, Any]
    timeout_ms: int | None


@dataclass(frozen=True, slots=True)
class Close:
    """Close an RPC binding handle; whatever else waits on it fails. Gives None."""

    binding: Binding


Step = Resolve | Bind | CallMethod | Close


@dataclass(slots=True, eq=False)
class Binding:
    """An RPC binding handle: a connection to a server, and the calls that wait on it."""

    transport: str
    interface: Interface
    association: ClientAssociation
    opener: Task | None = None
    calls: dict[OutgoingCall, Task] = field(default_factory=dict)
    ended: str | None = None
    """Why it is over."""


@dataclass(slots=True, eq=False)
class Task:
    """A sequence that is being carried out. ``finished`` gets its outcome, or the RemoteError that ended it."""

    number: int
    sequence: Sequence
    finished: Callable[[Any], None]
    waits_for: tuple[Binding, OutgoingCall | None] | str | None = None
    """A binding (for the association, or for a call), a host name, or nothing."""


def run(qm: QueueManager, sequence: Sequence, now: Now, finished: Callable[[Any], None]) -> None:
    """Begin to carry out a sequence."""
    _go_on(qm, Task(qm.next_handle(), sequence, finished), None, now)


def _go_on(qm: QueueManager, task: Task, came: Any, now: Now) -> None:
    """Give a sequence what it waited for, and begin its next step."""
    task.waits_for = None
    _stop_timer(qm, task)
    try:
        step = task.sequence.throw(came) if isinstance(came, RemoteError) else task.sequence.send(came)
    except StopIteration as end:
        task.finished(end.value)
    except RemoteError as error:
        task.finished(error)
    else:
        _BEGIN[type(step)](qm, task, step, now)


def _start_timer(qm: QueueManager, task: Task, duration_ms: int, now: Now) -> None:
    qm.remote_client.tasks[task.number] = task
    duration_ms = max(1, duration_ms // qm.settings.scale)
    qm.timers.start(TimerKey(TimerName.REMOTE_CALL, task.number), now.monotonic_ms, duration_ms)


def _stop_timer(qm: QueueManager, task: Task) -> None:
    if qm.remote_client.tasks.pop(task.number, None) is not None:
        qm.timers.stop(TimerKey(TimerName.REMOTE_CALL, task.number))


# -- steps ------------------------------------------------------------------------------------------------------------


def _begin_resolve(qm: QueueManager, task: Task, step: Resolve, now: Now) -> None:
    task.waits_for = step.host
    waiting = qm.remote_client.resolving.setdefault(step.host, [])
    waiting.append(task)
    if len(waiting) == 1:
        qm.emit(ResolveHost(step.host))


def _begin_bind(qm: QueueManager, task: Task, step: Bind, now: Now) -> None:
    association = ClientAssociation([step.interface])
    binding = Binding(qm.next_transport(), step.interface, association, opener=task)
    qm.remote_client.bindings[binding.transport] = binding
    task.waits_for = (binding, None)
    _start_timer(qm, task, qm.settings.remote_call_ms, now)
    qm.emit(Connect(binding.transport, step.server))


def _begin_call(qm: QueueManager, task: Task, step: CallMethod, now: Now) -> None:
    binding = step.binding
    if binding.ended is not None:
        _go_on(qm, task, RemoteError(f"{step.method} cannot be called: {binding.ended}"), now)
        return
    call = outgoing_call(binding.interface, step.method, step.arguments)
    binding.calls[call] = task
    task.waits_for = (binding, call)
    if step.timeout_ms is not None:
        _start_timer(qm, task, step.timeout_ms, now)
    _take(qm, binding, binding.association.begin(call), now)


def _begin_close(qm: QueueManager, task: Task, step: Close, now: Now) -> None:
    _close(qm, step.binding, now)
    _go_on(qm, task, None, now)


_BEGIN: Mapping[type, Callable[[QueueManager, Task, Any, Now], None]] = {
    Resolve: _begin_resolve,
    Bind: _begin_bind,
    CallMethod: _begin_call,
    Close: _begin_close,
}


# -- what happens -----------------------------------------------------------------------------------------------------


def on_resolved(qm: QueueManager, host: str, addresses: tuple[str, ...], now: Now) -> None:
    """Go on with whoever waits for a host name."""
    for task in qm.remote_client.resolving.pop(host, []):
        found = addresses[0] if addresses else RemoteError(f"host name {host!a} has no address (MS-MQQP 3.2.4.1)")
        _go_on(qm, task, found, now)


def on_connected(qm: QueueManager, event: TransportConnected, now: Now) -> None:
    """Propose the interface on a new connection."""
    binding = qm.remote_client.bindings[event.transport]
    _take(qm, binding, binding.association.bind(), now)


def on_failed(qm: QueueManager, event: TransportFailed, now: Now) -> None:
    """Tell who wanted the connection."""
    _end(qm, qm.remote_client.bindings[event.transport], event.error, now)


def on_lost(qm: QueueManager, event: TransportLost, now: Now) -> None:
    """Tell everybody who waits on the connection."""
    _end(qm, qm.remote_client.bindings[event.transport], f"the connection is lost: {event.reason}", now)


def on_bytes(qm: QueueManager, event: BytesReceived, now: Now) -> None:
    """Take what the server sends."""
    binding = qm.remote_client.bindings[event.transport]
    _take(qm, binding, binding.association.receive_bytes(event.data), now)


def on_remote_call_timer(qm: QueueManager, number: int, now: Now) -> None:
    """Give up what took too long: a call is cancelled with a cancel time-out of zero. Spec: MS-MQQP 3.2.4.1."""
    task = qm.remote_client.tasks.pop(number, None)
    if task is None or not isinstance(task.waits_for, tuple):
        return
    binding, call = task.waits_for
    if call is None:
        binding.opener = None
        _close(qm, binding, now)
        _go_on(qm, task, RemoteError("the server does not answer the bind in time (C706 12.6.4.3)"), now)
        return
    del binding.calls[call]
    for one in binding.association.cancel(call):
        if isinstance(one, Send):
            qm.emit(SendPacket(binding.transport, one.data))
    _go_on(qm, task, RemoteError(f"{call.method.name} is not answered in time: it is cancelled"), now)


def abandon(qm: QueueManager, now: Now) -> None:
    """End every sequence: the queue manager is stopped."""
    reason = "the queue manager is stopped"
    for binding in list(qm.remote_client.bindings.values()):
        _close(qm, binding, now, f"{reason} (MS-MQQB 3.1.4.2)")
    for host in list(qm.remote_client.resolving):
        for task in qm.remote_client.resolving.pop(host):
            _go_on(qm, task, RemoteError(reason), now)


def _take(qm: QueueManager, binding: Binding, happened: list[Outgoing], now: Now) -> None:
    """Carry out what an association says, in order."""
    for one in happened:
        if isinstance(one, Send):
            qm.emit(SendPacket(binding.transport, one.data))
        elif isinstance(one, Bound):
            _opened(qm, binding, binding, now)
        elif isinstance(one, Returned):
            _go_on(qm, binding.calls.pop(one.call), one.results, now)
        elif isinstance(one, Failed):
            task = binding.calls.pop(one.call, None)
            if task is not None:
                _go_on(qm, task, RemoteError(one.error, one.status), now)
        else:
            _close(qm, binding, now, one.reason)


def _opened(qm: QueueManager, binding: Binding, came: Any, now: Now) -> None:
    task, binding.opener = binding.opener, None
    if task is not None:
        _go_on(qm, task, came, now)


def _close(qm: QueueManager, binding: Binding, now: Now, why: str = "the binding handle is closed (C706 2.3)") -> None:
    if binding.ended is None:
        qm.emit(CloseTransport(binding.transport, why))
        _end(qm, binding, why, now)


def _end(qm: QueueManager, binding: Binding, reason: str, now: Now) -> None:
    """Note that a connection is over; whoever waits on it goes on with an error."""
    binding.ended = reason
    qm.remote_client.bindings.pop(binding.transport, None)
    _opened(qm, binding, RemoteError(reason), now)
    _take(qm, binding, binding.association.end(reason), now)
