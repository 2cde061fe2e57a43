"""Faults that break rules of MS-MQSO 3.3.4 for receives that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import replace_method_during
from harness.faults.registry import add
from reference_qm.core.queueing.message_reading import MessageReading
from reference_qm.core.queueing.waiting_reads import WaitingReads
from reference_qm.model.adm import MessagePosition
from reference_qm.model.elements import OnReadAnswered
from reference_qm.model.statuses import Status
from reference_qm.model.transactions import Transaction


def _make_receive_without_removal(original: Callable[..., Any], *outer: Any) -> Callable[..., Any]:
    def receive(
        qm: Any,
        position: MessagePosition,
        transaction: Transaction | None,
        two_phase_read: bool,
        answered: OnReadAnswered,
    ) -> None:
        if transaction is not None or two_phase_read:
            original(qm, position, transaction, two_phase_read, answered)
        else:
            answered(Status.MQ_OK, position)

    return receive


add(
    "queue-manager-message-of-waiting-receive-kept-in-queue",
    "MQSO-3.3.4.6-D02",
    "The queue manager does not remove a message from its queue if the receive was already waiting when the message "
    "arrived.",
    replace_method_during(
        WaitingReads.pass_message_to_waiting_reader, MessageReading.take_message_out, _make_receive_without_removal
    ),
    blind=True,
)
