"""Faults of a router whose queue manager is throttled: MQQB-3.1.5.8.8-15."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import omit_step_during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.message_admission import MessageAdmission
from reference_qm.core.transfer.message_routing import MessageRouting
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.surface.clock import Now

add(
    "router-throttled-keeps-session-open",
    "MQQB-3.1.5.8.8-15",
    "The router leaves the session open when a message for another queue manager arrives while Throttled is TRUE.",
    omit_step_during(MessageRouting.route_message, MessageAdmission.close_session_above_quota),
)


@fault("router-forwards-messages-while-throttled", breaks="MQQB-3.1.5.8.8-15")
class RouterForwardsMessagesWhileThrottled(MessageRouting):
    """The router forwards messages while Throttled is TRUE, and keeps the session open."""

    def route_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        throttled, self.qm.adm.Throttled = self.qm.adm.Throttled, False
        try:
            super().route_message(session, packet, receipt, now)
        finally:
            self.qm.adm.Throttled = throttled
