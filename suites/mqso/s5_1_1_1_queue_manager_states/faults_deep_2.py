"""Faults of MS-MQSO 5.1.1.1: a second flow control, and express messages of an offline queue manager."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.core.queueing.quotas import Quotas
from reference_qm.core.transfer.administering import Administering
from reference_qm.surface.clock import Now


@fault("queue-manager-second-flow-control-not-ended", breaks="MQSO-5.1.1.1-D04")
class QueueManagerSecondFlowControlNotEnded(Quotas):
    """A queue manager ends its first flow control, but not its second flow control."""

    def end_flow_control(self) -> None:
        if self.qm.adm.Throttled and getattr(self, "ended", False):
            return
        self.ended = self.qm.adm.Throttled
        super().end_flow_control()


@fault("offline-queue-manager-loses-express-messages", breaks="MQSO-5.1.1.1-D05")
class OfflineQueueManagerLosesExpressMessages(Administering):
    """When a queue manager returns to the network, it has lost the express messages in its outgoing queues."""

    def bring_online(self, now: Now) -> None:
        for queue in self.qm.adm.OutgoingQueues.values():
            for one in list(queue.session.OutgoingMessageTable):
                if not one.recoverable:
                    queue.session.OutgoingMessageTable.remove(one)
        super().bring_online(now)
