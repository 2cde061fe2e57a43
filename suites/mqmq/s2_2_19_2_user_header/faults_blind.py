"""Faults of MS-MQMQ 2.2.19.2, by an author who had not seen the checks."""

from __future__ import annotations

from typing import Any

from harness.faults.parts import fault
from reference_qm.core.enterprise.restoring import Restoring


@fault("receiver-recoverable-message-of-subqueue-lost-at-restart", breaks="MQMQ-2.2.19.2-11", blind=True)
class ReceiverRecoverableMessageOfSubqueueLostAtRestart(Restoring):
    """At a restart, the queue manager loses the recoverable messages of subqueues."""

    def _restore_message(self, rest: str, value: Any) -> None:
        place = value["in"].lower()
        if not (place.startswith("queue:") and ";" in place and not place.endswith(";journal")):
            super()._restore_message(rest, value)
