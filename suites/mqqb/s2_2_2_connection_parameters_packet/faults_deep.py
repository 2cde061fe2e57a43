"""Faults of MS-MQQB 2.2.2 ConnectionParameters Packet, by an author who had not seen the checks."""

from __future__ import annotations

from harness.faults.parts import fault
from harness.faults.primitives import set_fields
from reference_qm.codec import ConnectionParametersPacket
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.model.adm import Session

HEADER = "ConnectionParametersHeader"


@fault("initiator-ack-timeout-of-retry-below-range", breaks="MQQB-2.2.2.1-D03", blind=True)
class InitiatorAckTimeoutOfRetryBelowRange(SessionOpening):
    """The initiator sends an AckTimeout below 20,000 ms in the ConnectionParameters request when it connects again
    after a failure.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(packet, {f"{HEADER}.AckTimeout": 0x4E1F}) if session.retrying else packet


@fault("initiator-recoverable-ack-timeout-499", breaks="MQQB-2.2.2.1-D02", blind=True)
class InitiatorRecoverableAckTimeout499(SessionOpening):
    """The initiator sends a RecoverableAckTimeout of 499 ms in the ConnectionParameters request after a fast round
    trip.
    """

    def build_parameters_request(self, session: Session) -> ConnectionParametersPacket:
        packet = super().build_parameters_request(session)
        return set_fields(packet, {f"{HEADER}.RecoverableAckTimeout": lambda old: 499 if old == 500 else old})
