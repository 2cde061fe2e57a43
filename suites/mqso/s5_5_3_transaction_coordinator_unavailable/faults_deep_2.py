"""Faults of MS-MQSO 5.5.3: receives that wait in lost transactions, and prepared transactions at a restart."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.coordinating import Coordinating
from reference_qm.model.transactions import OperationType


@fault("queue-manager-coordinator-lost-sent-messages-to-network-sent", breaks="MQSO-5.5.3-03")
class QueueManagerCoordinatorLostSentMessagesToNetworkSent(Coordinating):
    """When a queue manager loses the coordinator, it does not abort a transaction that has only sent messages."""

    def abort_undecided(self) -> None:
        kept = {}
        for name, one in list(self.qm.adm.TransactionCollection.items()):
            kinds = {each.OperationType for each in one.TransactionalOperationCollection}
            if kinds == {OperationType.ENQUEUE}:
                kept[name] = self.qm.adm.TransactionCollection.pop(name)
        super().abort_undecided()
        self.qm.adm.TransactionCollection.update(kept)


@fault("queue-manager-without-coordinator-transaction-lost-twice-kept", breaks=("MQSO-5.5.3-03", "MQSO-5.5.3-01"))
class QueueManagerWithoutCoordinatorTransactionLostTwiceKept(Coordinating):
    """A queue manager aborts undecided transactions when it loses the coordinator for the first time, but not when it
    loses the coordinator again.
    """

    def abort_undecided(self) -> None:
        if not getattr(self, "lost", False):
            super().abort_undecided()
        self.lost = True
