"""Manages the associations of DCE/RPC clients and their timers. Spec: MS-MQQP 2.1, 3.1.3."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from reference_qm.core.events import RpcEventOccurred
from reference_qm.model.timers import TimerKey, TimerName, Timers
from reference_qm.model.unfinished import UnfinishedPacketByteCounts
from reference_qm.rpc import Association, CloseAssociation, RpcOutput, RpcServer, SendBytes
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import CloseRpcConnection, SendRpcBytes
from reference_qm.surface.inputs import RpcAccepted, RpcBytesReceived, RpcConnectionLost


@dataclass(slots=True, eq=False)
class _AssociationEntry:
    """An association with the name of its connection, the number of its timer, and the time when the timer expires
    (in ms of the monotonic clock).
    """

    connection_name: str
    timer_number: int
    association: Association
    due_ms: int | None = None


class ServerAssociations:
    """Manages all associations of a server: sends outgoing bytes at once, and posts an event for each received call or
    cancel.
    """

    def __init__(
        self,
        server: RpcServer,
        timers: Timers,
        unfinished: UnfinishedPacketByteCounts,
        emit: Callable[[SendRpcBytes | CloseRpcConnection], None],
        post: Callable[[RpcEventOccurred], None],
    ) -> None:
        self.server = server
        self.timers = timers
        self.unfinished = unfinished
        self._last_association_number = 0
        self._by_connection: dict[str, _AssociationEntry] = {}
        self._entry_by_number: dict[int, _AssociationEntry] = {}
        self._entry_by_association: dict[Association, _AssociationEntry] = {}
        self._emit = emit
        self._post = post

    def __len__(self) -> int:
        return len(self._by_connection)

    # -- events of connections ----------------------------------------------------------------------------------------

    def accept(self, event: RpcAccepted, now: Now) -> None:
        """Accept a new connection."""
        self._last_association_number += 1
        association = self.server.accept(event.remote.host, str(event.local.port), now)
        held = _AssociationEntry(event.connection, self._last_association_number, association)
        self._by_connection[held.connection_name] = held
        self._entry_by_number[held.timer_number] = held
        self._entry_by_association[association] = held
        self._set_timer(held, now)

    def receive(self, event: RpcBytesReceived, now: Now) -> None:
        """Handle bytes that were received on a connection. Bytes of an unknown connection are dropped, because the
        connection has already ended.
        """
        held = self._by_connection.get(event.connection)
        if held is not None:
            self.carry_out_outputs(held.association.receive_bytes(event.data, now))
            self.unfinished.note(event.connection, held.association.unfinished_bytes)
            self._set_timer(held, now)

    def close_connection(self, connection: str, reason: str) -> None:
        """Close a connection if it is still open."""
        held = self._by_connection.get(connection)
        if held is not None:
            self.carry_out_outputs(held.association.close(reason))

    def remove_connection(self, event: RpcConnectionLost) -> None:
        """Remove a lost connection, and post the events for its unanswered calls and open handles."""
        held = self._by_connection.get(event.connection)
        if held is not None:
            self._forget_association(held)
            self.carry_out_outputs(held.association.on_connection_lost())

    def on_timer(self, number: int, now: Now) -> None:
        """Handle the expiry of the timer of the association with the given number."""
        self.carry_out_outputs(self._entry_by_number[number].association.handle_timer(now))

    def stop(self) -> None:
        """End every association. Answers that are ready are sent first; calls that are still waiting get no
        answer.
        """
        why = "the queue manager is stopped (MS-RPCE 3.3.3.4.2)"
        for held in list(self._by_connection.values()):
            self.carry_out_outputs([*held.association.shut_down(), *held.association.close(why)])

    # -- outputs ------------------------------------------------------------------------------------------------------

    def carry_out_outputs(self, outputs: Iterable[RpcOutput]) -> None:
        """Carry out the outputs that an association or an answered call returned: send the bytes, and post the
        events.
        """
        for output in outputs:
            if isinstance(output, SendBytes | CloseAssociation):
                self._carry_out_rpc_output(output)
            else:
                self._post(RpcEventOccurred(output))

    def _carry_out_rpc_output(self, output: SendBytes | CloseAssociation) -> None:
        held = self._entry_by_association.get(output.association)
        if held is None:
            return  # the connection was lost in the meantime
        if isinstance(output, SendBytes):
            self._emit(SendRpcBytes(held.connection_name, output.data))
        else:
            self._forget_association(held)
            self._emit(CloseRpcConnection(held.connection_name, output.reason))

    def _forget_association(self, held: _AssociationEntry) -> None:
        self.timers.stop(_build_timer_key(held))
        self.unfinished.note(held.connection_name, 0)
        del (
            self._by_connection[held.connection_name],
            self._entry_by_number[held.timer_number],
            self._entry_by_association[held.association],
        )

    def _set_timer(self, held: _AssociationEntry, now: Now) -> None:
        due = held.association.next_due()
        if due == held.due_ms:
            return
        held.due_ms = due
        if due is None:
            self.timers.stop(_build_timer_key(held))
        else:
            self.timers.start(_build_timer_key(held), now.monotonic_ms, due - now.monotonic_ms)


def _build_timer_key(held: _AssociationEntry) -> TimerKey:
    return TimerKey(TimerName.RPC_RESPONSE_TIMEOUT, held.timer_number)
