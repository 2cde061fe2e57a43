"""Faults of MS-MQDMPR 3.1.7.3.9 Dispatch Send Message."""

from __future__ import annotations

from harness.faults.parts import fault
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.sending import Sending
from reference_qm.model.adm import OutgoingMessagePosition, Session
from reference_qm.surface.clock import Now


@fault("dispatched-when-expired", breaks="MQDMPR-3.1.7.3.9-04")
class WhenExpired(Sending):
    """What waited too long is sent."""

    def delete_expired(self, session: Session, position: OutgoingMessagePosition, now: Now) -> None:
        """Leave it where it is."""

    def has_expired(self, packet: UserMessagePacket, now: Now) -> bool:
        return False
