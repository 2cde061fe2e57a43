"""Faults of MS-MQQB 3.1.1.3 Queue Manager State, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.names.numbering import Numbering
from reference_qm.core.queue_manager import QueueManager


@fault("sender-message-id-of-acknowledgment-skips-one", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdOfAcknowledgmentSkipsOne(Numbering):
    """The sender increases MessageID by two, instead of one, for every fourth message."""

    def assign_identifier(self) -> int:
        number = super().assign_identifier()
        return super().assign_identifier() if number % 4 == 0 else number


def _repeat_last(qm: QueueManager) -> None:
    waiting = sum(len(queue.session.OutgoingMessageTable) for queue in qm.adm.OutgoingQueues.values())
    if not waiting:
        qm.adm.MessageIdOrdinal = qm.disk.reserved = 0


add(
    "sender-message-ids-from-1-after-restart-without-waiting-messages",
    "MQQB-3.1.1.3-25",
    "After a restart without waiting messages, the sender's MessageIDs start at 1 again.",
    at_restart(_repeat_last),
    blind=True,
)


for name, rule, element in (
    ("short", "MQQB-3.1.1.3-28", "ResendTimeoutsShort"),
    ("medium", "MQQB-3.1.1.3-29", "ResendTimeoutsMedium"),
    ("long", "MQQB-3.1.1.3-30", "ResendTimeoutsLong"),
    ("final", "MQQB-3.1.1.3-31", "ResendTimeoutsFinal"),
):

    def _double(qm: QueueManager, element: str = element) -> None:
        setattr(qm.adm, element, 2 * getattr(qm.adm, element))

    add(
        f"sender-resend-timeout-{name}-doubled-at-restart",
        rule,
        f"The sender doubles {element} after a restart.",
        at_restart(_double),
        blind=True,
    )


@fault("sender-message-ids-of-second-queue-apart", breaks="MQQB-3.1.1.3-24", blind=True)
class SenderMessageIdsOfSecondQueueApart(Numbering):
    """When several outgoing queues exist, the sender increases MessageID by two for each message."""

    def assign_identifier(self) -> int:
        number = super().assign_identifier()
        return super().assign_identifier() if len(self.qm.adm.OutgoingQueues) > 1 else number


def _skip_back(qm: QueueManager) -> None:
    qm.adm.MessageIdOrdinal = max(0, qm.adm.MessageIdOrdinal - 0x4000)


add(
    "sender-message-ids-of-last-run-again-after-restart",
    "MQQB-3.1.1.3-25",
    "After a restart, the sender's MessageIDs begin with the first MessageID of the run before.",
    at_restart(_skip_back),
    blind=True,
)
