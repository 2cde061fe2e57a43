"""Faults that break rules of MS-MQDMPR 3.1.1 Abstract Data Model."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.queueing.transaction_records import TransactionRecords
from reference_qm.core.remote.remote_starting import Check, Desc, RemoteStarting
from reference_qm.model.adm import MessagePosition
from reference_qm.model.states import MessagePositionState
from reference_qm.model.transactions import OperationType
from reference_qm.rpc import Call
from reference_qm.surface.clock import Now


@fault("server-remote-reader-misses-local-transactional-messages", breaks="MQDMPR-3.1.1-07", blind=True)
class ServerRemoteReaderMissesLocalTransactionalMessages(RemoteStarting):
    """The server does not show a remote reader the transactional messages that its own applications sent."""

    def _start_read(self, call: Call, desc: Desc, checks: tuple[Check, ...], now: Now) -> None:
        hidden = [] if desc is None else self._list_local_transactional(desc["hRemoteQueue"])
        for position in hidden:
            position.State = MessagePositionState.LOCKED
        super()._start_read(call, desc, checks, now)
        for position in hidden:
            position.State = MessagePositionState.AVAILABLE
            position.QueueReference.MessagePositionList.reset_search_start(position)

    def _list_local_transactional(self, handle: int) -> list[MessagePosition]:
        descriptor = self.find_remote_descriptor(handle)
        if descriptor is None or descriptor.QueueReference is None:
            return []
        return [
            position
            for position in descriptor.QueueReference.MessagePositionList
            if position.State is MessagePositionState.AVAILABLE
            and position.MessageReference.TransactionIdentifier is not None
            and position.MessageReference.Identifier.QueueManagerGuid == self.qm.adm.Identifier
        ]


@fault("queue-manager-restored-move-without-its-target", breaks="MQDMPR-3.1.1.13-06", blind=True)
class QueueManagerRestoredMoveWithoutItsTarget(TransactionRecords):
    """After a restart, the TargetQueueReference of a Move in a prepared transaction is the queue of the message."""

    def restore_transaction(self, rest: str, value: Any) -> None:
        known = set(self.qm.adm.TransactionCollection)
        super().restore_transaction(rest, value)
        for identifier, transaction in self.qm.adm.TransactionCollection.items():
            for operation in transaction.TransactionalOperationCollection if identifier not in known else []:
                if operation.OperationType is OperationType.MOVE:
                    operation.TargetQueueReference = operation.MessagePositionReference.QueueReference
