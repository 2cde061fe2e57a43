"""Faults of the fifth round that break rules of MS-MQQB 2.2.7 Ping Packet."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.primitives import change_core_at_restart, combine_installers, set_fields
from harness.faults.registry import add
from reference_qm.codec import PingPacket
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.ping_handling import PingHandling


class _RequestFlagInvertedAfterRestart(PingHandling):
    """The initiator inverts RC of Ping Requests after a restart."""

    has_restarted = False

    def build_request(self) -> PingPacket:
        request = super().build_request()
        return set_fields(request, {"Flags": request.Flags ^ PingPacket.flags(RC=1)}) if self.has_restarted else request


def _note_restart(qm: QueueManager) -> None:
    assert isinstance(qm.ping_handling, _RequestFlagInvertedAfterRestart)
    qm.ping_handling.has_restarted = True


add(
    "initiator-ping-request-flag-rc-wrong-after-restart",
    "MQQB-2.2.7-02",
    "The initiator loses OperatingSystemType at a restart, and then sends Ping Requests with the wrong value of RC.",
    combine_installers(replace_part(_RequestFlagInvertedAfterRestart), change_core_at_restart(_note_restart)),
    blind=True,
)
