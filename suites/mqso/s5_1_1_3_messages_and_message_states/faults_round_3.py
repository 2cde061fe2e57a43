"""Faults that break rules of MS-MQSO 5.1.1.3 Messages and Message States."""

from __future__ import annotations

from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.core.names.next_hops import NextHops
from reference_qm.core.queueing.transaction_events import TransactionEvents
from reference_qm.core.sessions.resolving import Resolving
from reference_qm.model.adm import Session
from reference_qm.model.transactions import OperationType, Transaction, TransactionalOperation, TransactionState
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


class _NotingTransactional(Resolving):
    def resolve_host_address(self, session: Session, now: Now) -> None:
        waiting = [one.UserMessage for one in session.OutgoingMessageTable]
        vars(self.qm.next_hops)["transactional"] = any(packet.UserHeader.TH for packet in waiting)
        super().resolve_host_address(session, now)


class _SendingTransactionalDirectly(NextHops):
    def get_next_hop_identifiers(self, guid: UUID) -> tuple[UUID, ...]:
        return (guid,) if self.__dict__.get("transactional") else super().get_next_hop_identifiers(guid)


add(
    "sender-transactional-message-not-sent-to-next-hop",
    "MQSO-5.1.1.3-D03",
    "The sender sends a transactional message directly to its destination, although the route has a next hop.",
    both(replace_part(_NotingTransactional), replace_part(_SendingTransactionalDirectly)),
    blind=True,
)


class _NotingPreparedAborts(Coordinating):
    def abort(self, transaction: Transaction, token: int | None) -> Result | None:
        prepared = transaction.state is TransactionState.PREPARED
        vars(self.qm.transaction_events)["prepared"] = transaction if prepared else None
        return super().abort(transaction, token)


class _KeepingLocks(TransactionEvents):
    def transaction_abort(self, transaction: Transaction, now: Now) -> None:
        if self.__dict__.get("prepared") is transaction:
            received = [one for one in transaction.TransactionalOperationCollection if _is_dequeue(one)]
            for operation in received:
                transaction.TransactionalOperationCollection.remove(operation)
        super().transaction_abort(transaction, now)


def _is_dequeue(operation: TransactionalOperation) -> bool:
    return operation.OperationType is OperationType.DEQUEUE


add(
    "queue-manager-abort-of-prepared-transaction-keeps-messages-locked",
    "MQSO-5.1.1.3-D07",
    "The abort of a prepared transaction does not unlock the messages that were received in the transaction.",
    both(replace_part(_NotingPreparedAborts), replace_part(_KeepingLocks)),
    blind=True,
)
