"""Faults of MS-MQQB 3.1.7.1.5, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable

from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.core.queueing.journaling import Journaling
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import Queue


def _use_nontransactional_queue(original: Callable[..., Queue], *_: object) -> Callable[..., Queue]:
    return lambda qm, message: qm.adm.SystemDeadletterQueue


add(
    "sender-unencryptable-transactional-message-in-nontransactional-dead-letter-queue",
    "MQQB-3.1.7.1.5.1-D01",
    "The sender puts a transactional message that cannot be encrypted into the nontransactional dead-letter queue.",
    during(Sending.delete_unsent, Journaling.dead_letter_queue, _use_nontransactional_queue),
    blind=True,
)
