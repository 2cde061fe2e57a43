"""Faults in the RecoverableAckTimeout of some sessions. MS-MQQB 3.1.5.3.2 Response Packet."""

from __future__ import annotations

from harness.faults.other_sessions import list_open_sessions
from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session

RECOVERABLE_ACK_TIMEOUT_PATH = "ConnectionParametersHeader.RecoverableAckTimeout"
_LONGEST_16_BIT_TIMEOUT_MS = 0x0000FFFF


@fault("initiator-request-has-recoverable-ack-timeout-of-open-session", breaks="MQQB-3.1.5.3.2-11", blind=True)
class InitiatorRequestHasRecoverableAckTimeoutOfOpenSession(SessionOpening):
    """While another session is open, RecoverableAckTimeout of the request is RecoverableAckSendTimeout of that
    session.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        request = super().build_parameters_request(session)
        others = [one for one in list_open_sessions(self.qm, session) if one.initiator]
        changed: ConnectionParametersPacket = set_fields(
            request, {RECOVERABLE_ACK_TIMEOUT_PATH: (others or [session])[0].RecoverableAckSendTimeout}
        )
        return changed


@fault("initiator-parameters-request-recoverable-ack-timeout-in-16-bits", breaks="MQQB-3.1.5.3.2-11", blind=True)
class InitiatorParametersRequestRecoverableAckTimeoutIn16Bits(SessionOpening):
    """RecoverableAckTimeout of the request is at most 65,535 ms, although RecoverableAckSendTimeout is longer."""

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        changed: ConnectionParametersPacket = set_fields(
            super().build_parameters_request(session),
            {RECOVERABLE_ACK_TIMEOUT_PATH: lambda timeout: min(timeout, _LONGEST_16_BIT_TIMEOUT_MS)},
        )
        return changed
