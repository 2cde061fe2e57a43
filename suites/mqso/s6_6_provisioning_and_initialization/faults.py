"""Faults of MS-MQSO 6.6 Provisioning and Initialization Procedures."""

from __future__ import annotations

from harness.faults.primitives import at_restart
from harness.faults.registry import add
from reference_qm.core.queue_manager import QueueManager


def _offline(qm: QueueManager) -> None:
    qm.adm.ConnectionActive = False


def _throttled(qm: QueueManager) -> None:
    qm.adm.Throttled = True


add("so-offline-after-restart", "MQSO-6.6.2-D06", "After a restart no session is accepted.", at_restart(_offline))
add("so-throttled-after-restart", "MQSO-6.6.2-D07", "After a restart no message is taken.", at_restart(_throttled))

BROKEN_ELSEWHERE = {
    "MQSO-6.6.1-D07": ("so-sessions-not-served",),
}
"""Faults of other sections that break rules of this one."""
