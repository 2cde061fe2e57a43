from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reference_qm.core.part import QueueManagerPart
from reference_qm.core.remote.client_steps import (
    BindStep,
    CallMethodStep,
    CloseBindingStep,
    RemoteCallSequence,
    RemoteCallTask,
    RemoteError,
    ResolveHostStep,
    RpcBindingHandle,
)
from reference_qm.model.timers import TimerKey, TimerName
from reference_qm.rpc.client import ClientAssociation, build_outgoing_call
from reference_qm.rpc.outgoing import AssociationBound, CallFailed, CallReturned, ClientOutput, SendPdusToServer
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseTransport, Connect, ResolveHost, SendPacket
from reference_qm.surface.inputs import BytesReceived, TransportConnected, TransportFailed, TransportLost


class ClientTasks(QueueManagerPart):
    """Runs sequences of remote calls. A sequence waits until an event of a connection or a timer resumes it.

    Spec: MS-MQQP 3.2.4.

    A sequence is a generator. The generator yields a step and is resumed with the result of the step. If the step
    fails, RemoteError is raised at the yield.
    """

    __slots__ = ()

    def run(self, sequence: RemoteCallSequence, now: Now, finished: Callable[[Any], None]) -> None:
        """Start a sequence of remote calls. When the sequence ends, ``finished`` is called with its outcome."""
        self._resume_remote_call_task(RemoteCallTask(self.qm.assign_handle(), sequence, finished), None, now)

    def _resume_remote_call_task(self, task: RemoteCallTask, came: Any, now: Now) -> None:
        """Pass the result of the last step to a waiting sequence, and begin the next step of the sequence."""
        task.awaited_answer = None
        self._stop_timer(task)
        try:
            step = task.sequence.throw(came) if isinstance(came, RemoteError) else task.sequence.send(came)
        except StopIteration as end:
            task.on_finished(end.value)
        except RemoteError as error:
            task.on_finished(error)
        else:
            _BEGIN_BY_STEP_TYPE[type(step)](self)(task, step, now)

    def _start_timer(self, task: RemoteCallTask, duration_ms: int, now: Now) -> None:
        self.qm.remote_client.task_by_timer_number[task.number] = task
        duration_ms = max(1, duration_ms // self.qm.settings.scale)
        self.qm.timers.start(TimerKey(TimerName.REMOTE_CALL, task.number), now.monotonic_ms, duration_ms)

    def _stop_timer(self, task: RemoteCallTask) -> None:
        if self.qm.remote_client.task_by_timer_number.pop(task.number, None) is not None:
            self.qm.timers.stop(TimerKey(TimerName.REMOTE_CALL, task.number))

    # -- steps --------------------------------------------------------------------------------------------------------

    def _begin_host_resolution(self, task: RemoteCallTask, step: ResolveHostStep, now: Now) -> None:
        task.awaited_answer = step.host
        waiting = self.qm.remote_client.tasks_by_unresolved_host.setdefault(step.host, [])
        waiting.append(task)
        if len(waiting) == 1:
            self.qm.emit_effect(ResolveHost(step.host))

    def _begin_bind(self, task: RemoteCallTask, step: BindStep, now: Now) -> None:
        association = ClientAssociation([step.interface], security=self.qm.config.rpc_client)
        binding = RpcBindingHandle(self.qm.assign_transport_name(), step.interface, association, opening_task=task)
        self.qm.remote_client.binding_by_connection[binding.transport] = binding
        task.awaited_answer = (binding, None)
        self._start_timer(task, self.qm.settings.remote_call_ms, now)
        self.qm.emit_effect(Connect(binding.transport, step.server))

    def _begin_remote_call(self, task: RemoteCallTask, step: CallMethodStep, now: Now) -> None:
        binding = step.binding
        if binding.end_reason is not None:
            self._resume_remote_call_task(
                task, RemoteError(f"{step.method} cannot be called: {binding.end_reason}"), now
            )
            return
        call = build_outgoing_call(binding.interface, step.method, step.arguments)
        binding.task_by_call[call] = task
        task.awaited_answer = (binding, call)
        if step.timeout_ms is not None:
            self._start_timer(task, step.timeout_ms, now)
        self._carry_out_outputs(binding, binding.association.begin_call(call), now)

    def _begin_close(self, task: RemoteCallTask, step: CloseBindingStep, now: Now) -> None:
        self._close_binding(step.binding, now)
        self._resume_remote_call_task(task, None, now)

    # -- events -------------------------------------------------------------------------------------------------------

    def on_host_resolved(self, host: str, addresses: tuple[str, ...], now: Now) -> None:
        """Resume the sequences that wait for a host name."""
        for task in self.qm.remote_client.tasks_by_unresolved_host.pop(host, []):
            found = addresses[0] if addresses else RemoteError(f"host name {host!a} has no address (MS-MQQP 3.2.4.1)")
            self._resume_remote_call_task(task, found, now)

    def on_connected(self, event: TransportConnected, now: Now) -> None:
        """Send a bind request for the interface on a new connection."""
        binding = self.qm.remote_client.binding_by_connection[event.transport]
        self._carry_out_outputs(binding, binding.association.bind(), now)

    def on_connect_failed(self, event: TransportFailed, now: Now) -> None:
        """Resume the sequences of remote calls that wait for a connection, and report to them that the connection could
        not be established.
        """
        self._end_binding(self.qm.remote_client.binding_by_connection[event.transport], event.error, now)

    def on_connection_lost(self, event: TransportLost, now: Now) -> None:
        """Resume the sequences of remote calls that wait for an answer on a connection, and report to them that the
        connection was lost.
        """
        self._end_binding(
            self.qm.remote_client.binding_by_connection[event.transport], f"the connection is lost: {event.reason}", now
        )

    def on_bytes(self, event: BytesReceived, now: Now) -> None:
        """Handle bytes that were received from a server."""
        binding = self.qm.remote_client.binding_by_connection[event.transport]
        self._carry_out_outputs(binding, binding.association.receive_bytes(event.data), now)

    def on_remote_call_timer(self, number: int, now: Now) -> None:
        """End a step that took too long. If the step is a call, cancel the call with a cancel timeout of zero.

        Spec: MS-MQQP 3.2.4.1.
        """
        task = self.qm.remote_client.task_by_timer_number.pop(number)
        assert isinstance(task.awaited_answer, tuple)  # a wait for a host name has no timer
        binding, call = task.awaited_answer
        if call is None:
            binding.opening_task = None
            self._close_binding(binding, now)
            self._resume_remote_call_task(
                task, RemoteError("the server did not answer the bind in time (C706 12.6.4.3)"), now
            )
            return
        del binding.task_by_call[call]
        for one in binding.association.cancel_call(call):
            if isinstance(one, SendPdusToServer):
                self.qm.emit_effect(SendPacket(binding.transport, one.data))
        self._resume_remote_call_task(
            task, RemoteError(f"{call.method.name} was not answered in time; the call was cancelled"), now
        )

    def abandon_all_tasks(self, now: Now) -> None:
        """Resume every sequence with an error, because the queue manager stops."""
        reason = "the queue manager is stopped"
        for binding in list(self.qm.remote_client.binding_by_connection.values()):
            self._close_binding(binding, now, f"{reason} (MS-MQQB 3.1.4.2)")
        for host in list(self.qm.remote_client.tasks_by_unresolved_host):
            for task in self.qm.remote_client.tasks_by_unresolved_host.pop(host):
                self._resume_remote_call_task(task, RemoteError(reason), now)

    def _carry_out_outputs(self, binding: RpcBindingHandle, happened: list[ClientOutput], now: Now) -> None:
        """Carry out the outputs of an association in the order in which the association returned them."""
        for one in happened:
            if isinstance(one, SendPdusToServer):
                self.qm.emit_effect(SendPacket(binding.transport, one.data))
            elif isinstance(one, AssociationBound):
                self._resume_opening_task(binding, binding, now)
            elif isinstance(one, CallReturned):
                self._resume_remote_call_task(binding.task_by_call.pop(one.call), one.results, now)
            elif isinstance(one, CallFailed):
                task = binding.task_by_call.pop(one.call, None)
                if task is not None:
                    self._resume_remote_call_task(task, RemoteError(one.error, one.status), now)
            else:
                self._close_binding(binding, now, one.reason)

    def _resume_opening_task(self, binding: RpcBindingHandle, came: Any, now: Now) -> None:
        task, binding.opening_task = binding.opening_task, None
        if task is not None:
            self._resume_remote_call_task(task, came, now)

    def _close_binding(
        self, binding: RpcBindingHandle, now: Now, why: str = "the binding handle is closed (C706 2.3)"
    ) -> None:
        if binding.end_reason is None:
            self.qm.emit_effect(CloseTransport(binding.transport, why))
            self._end_binding(binding, why, now)

    def _end_binding(self, binding: RpcBindingHandle, reason: str, now: Now) -> None:
        """Remove an RPC binding handle whose connection ended. Resume the sequences of calls that wait for this
        connection, and report the error to them.
        """
        binding.end_reason = reason
        self.qm.remote_client.binding_by_connection.pop(binding.transport, None)
        self._resume_opening_task(binding, RemoteError(reason), now)
        self._carry_out_outputs(binding, binding.association.fail_all_calls(reason), now)


_BEGIN_BY_STEP_TYPE: Mapping[type, Callable[[ClientTasks], Callable[[RemoteCallTask, Any, Now], None]]] = {
    ResolveHostStep: lambda part: part._begin_host_resolution,
    BindStep: lambda part: part._begin_bind,
    CallMethodStep: lambda part: part._begin_remote_call,
    CloseBindingStep: lambda part: part._begin_close,
}
