"""Faults of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""

from __future__ import annotations

from harness.faults.parts import replace_part
from harness.faults.primitives import both, skip
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.queueing.lifetimes import Lifetimes
from reference_qm.core.transfer.sending import Sending
from reference_qm.surface.clock import Now


class _NothingExpires(Lifetimes):
    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False


add(
    "expired-message-dispatched-for-sending",
    "MQDMPR-3.1.7.3.9-04",
    "The queue manager sends a waiting message whose TimeToReachQueue has expired.",
    both(replace_part(_NothingExpires), skip(Sending.delete_expired)),
)
