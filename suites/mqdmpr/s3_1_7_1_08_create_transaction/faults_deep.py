"""Faults of MS-MQDMPR 3.1.7.1.8 Create Transaction that only special cases reveal: transactions of coordinators, and
several transactions.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.faults.parts import fault
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-identifier-of-external-transaction-ignored", breaks="MQDMPR-3.1.7.1.8-03")
class ExternalIdentifierIgnored(TransactionCommands):
    """The queue manager does not use the identifier that a coordinator supplies for a transaction, but chooses a
    different one.
    """

    def begin_transaction(self, request: Any, token: int, now: Now) -> Result:
        if request.external:
            request = replace(request, transaction=None)
        return super().begin_transaction(request, token, now)


@fault("queue-manager-second-internal-transaction-replaces-first", breaks="MQDMPR-3.1.7.1.8-04")
class FirstTransactionForgotten(TransactionCommands):
    """The queue manager forgets an open transaction without operations when another transaction begins."""

    def begin_transaction(self, request: Any, token: int, now: Now) -> Result:
        for identifier, one in list(self.qm.adm.TransactionCollection.items()):
            if not one.TransactionalOperationCollection and one.SinglePhase:
                del self.qm.adm.TransactionCollection[identifier]
        return super().begin_transaction(request, token, now)
