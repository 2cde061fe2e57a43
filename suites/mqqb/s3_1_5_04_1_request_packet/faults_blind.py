"""Faults of MS-MQQB 3.1.5.4.1, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import (
    ConnectionParametersPacket,
)
from reference_qm.core.sessions.session_opening import (
    SessionOpening,
)
from reference_qm.model.adm import Session


@fault("acceptor-recoverable-ack-timeout-truncated-to-16-bits", breaks="MQQB-3.1.5.4.1-09", blind=True)
class AcceptorRecoverableAckTimeoutTruncatedTo16Bits(SessionOpening):
    """The acceptor answers with only the lower 16 bits of the RecoverableAckTimeout of the request."""

    def build_parameters_response(
        self, session: Session, request: ConnectionParametersPacket
    ) -> ConnectionParametersPacket:
        response = super().build_parameters_response(session, request)
        path = "ConnectionParametersHeader.RecoverableAckTimeout"
        return set_fields(response, {path: lambda timeout: timeout & 0xFFFF})
