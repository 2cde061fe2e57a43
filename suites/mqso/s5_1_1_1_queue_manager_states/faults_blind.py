"""Faults of MS-MQSO 5.1.1.1, by an author who had not seen the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import fault
from harness.faults.primitives import during
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.commands.inputs import Inputs
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.sessions.closing import Closing
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import RecoverableReceipt, Session
from reference_qm.model.states import SessionState
from reference_qm.surface.clock import Now


@fault("throttled-receiver-remembers-refused-message", breaks="MQSO-5.1.1.1-05", blind=True)
class ThrottledReceiverRemembersRefusedMessage(Receiving):
    """A queue manager refuses a message while Throttled is TRUE, and later discards the repeated message as a
    duplicate.
    """

    def take_message(self, session: Session, packet: UserMessagePacket, receipt: RecoverableReceipt, now: Now) -> None:
        super().take_message(session, packet, receipt, now)
        refused = session.SessionState is not SessionState.OPEN and packet.TransactionHeader is None
        if refused and self.qm.adm.Throttled and self.qm.history.find_duplicate(packet) is None:
            self.qm.history.remember_message(packet, now)


def _close_if_open(original: Callable[..., Any], *_: object) -> Callable[..., Any]:
    def close(qm: QueueManager, session: Session, reason: str, now: Now) -> None:
        if session.SessionState is SessionState.OPEN:
            original(qm, session, reason, now)

    return close


add(
    "stopping-queue-manager-keeps-session-in-handshake",
    "MQSO-5.1.1.1-D08",
    "A queue manager in the state Stopping closes its open sessions, but not a session whose handshake is incomplete.",
    during(Inputs.on_stopped, Closing.close, _close_if_open),
    blind=True,
)
