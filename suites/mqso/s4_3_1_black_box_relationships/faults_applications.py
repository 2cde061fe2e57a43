"""Faults of MS-MQSO 4.3.1.1 and 4.3.3: services for applications, and operation without coordinator or directory."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.commands.transaction_commands import TransactionCommands
from reference_qm.core.commands.transaction_coordinating import TransactionCoordinating
from reference_qm.core.errors import CommandError
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import Result


@fault("queue-manager-lets-applications-send-only-to-other-computers", breaks="MQSO-4.3.1.1-01", blind=True)
class QueueManagerLetsApplicationsSendOnlyToOtherComputers(HigherLayerCommands):
    """An application can send to queues of other computers, but not to queues of its own computer."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.destination_resolving.find_local_queue(request.to) is not None:
            raise CommandError("a local queue cannot be a destination")
        return super().send_message(request, token, now)


@fault("queue-manager-lets-applications-send-only-to-own-computer", breaks="MQSO-4.3.1.1-01", blind=True)
class QueueManagerLetsApplicationsSendOnlyToOwnComputer(HigherLayerCommands):
    """An application can send to queues of its own computer, but not to queues of other computers."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        if self.qm.destination_resolving.find_local_queue(request.to) is None:
            raise CommandError("only a local queue can be a destination")
        return super().send_message(request, token, now)


@fault("queue-manager-refuses-receive-from-transactional-queue", breaks="MQSO-4.3.1.1-01", blind=True)
class QueueManagerRefusesReceiveFromTransactionalQueue(QueueCommands):
    """An application cannot receive from a transactional queue."""

    def receive_message(self, request: commands.ReceiveMessage, token: int, now: Now) -> None:
        if request.queue is not None and self.qm.queue_names.find_queue(request.queue).Transactional:
            raise CommandError("the queue is transactional")
        super().receive_message(request, token, now)


@fault("queue-manager-internal-abort-needs-coordinator", breaks="MQSO-4.3.3-D01", blind=True)
class QueueManagerInternalAbortNeedsCoordinator(TransactionCommands):
    """The queue manager aborts no internal transaction while the coordinator is unavailable."""

    def abort_transaction(self, request: commands.AbortTransaction, token: int, now: Now) -> Result | None:
        if not self.qm.coordinated:
            raise CommandError("the coordinator is unavailable")
        return super().abort_transaction(request, token, now)


@fault("queue-manager-lost-coordinator-aborts-internal-transactions", breaks="MQSO-4.3.3-D01", blind=True)
class QueueManagerLostCoordinatorAbortsInternalTransactions(TransactionCoordinating):
    """The queue manager aborts its open internal transactions when the coordinator becomes unavailable."""

    def abort_undecided_transactions(self) -> None:
        for transaction in list(self.qm.adm.TransactionCollection.values()):
            self.abort(transaction, None)


@fault("queue-manager-without-directory-sends-no-express-message", breaks="MQSO-4.3.3-D02", blind=True)
class QueueManagerWithoutDirectorySendsNoExpressMessage(HigherLayerCommands):
    """A queue manager without a directory sends no express message."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        without = not self.qm.enterprise.state.DirectoryIntegrated or self.qm.enterprise.state.DirectoryOffline
        if without and not (request.recoverable or request.transactional):
            raise CommandError("the queue manager has no directory")
        return super().send_message(request, token, now)


@fault("queue-manager-without-directory-sends-to-no-other-computer", breaks="MQSO-4.3.3-D02", blind=True)
class QueueManagerWithoutDirectorySendsToNoOtherComputer(HigherLayerCommands):
    """A queue manager without a directory sends no message to another computer."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        without = not self.qm.enterprise.state.DirectoryIntegrated or self.qm.enterprise.state.DirectoryOffline
        if without and self.qm.destination_resolving.find_local_queue(request.to) is None:
            raise CommandError("the queue manager has no directory")
        return super().send_message(request, token, now)


@fault("queue-manager-without-directory-receives-no-transactional-message", breaks="MQSO-4.3.3-D02", blind=True)
class QueueManagerWithoutDirectoryReceivesNoTransactionalMessage(QueueCommands):
    """A queue manager without a directory lets no application receive from a transactional queue."""

    def receive_message(self, request: commands.ReceiveMessage, token: int, now: Now) -> None:
        without = not self.qm.enterprise.state.DirectoryIntegrated or self.qm.enterprise.state.DirectoryOffline
        if without and request.queue is not None and self.qm.queue_names.find_queue(request.queue).Transactional:
            raise CommandError("the queue manager has no directory")
        super().receive_message(request, token, now)
