"""Faults of MS-MQQB 3.1.6.4 Session Ack Send Timer Event that only special cases reveal: second occurrences, other
causes, boundary values.
"""

from __future__ import annotations

from dataclasses import replace

from harness.faults.parts import fault
from reference_qm.codec import SessionAckPacket, SessionHeader
from reference_qm.core.part import QM
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now


@fault("receiver-session-ack-flags-of-16-bits", breaks="MQQB-3.1.6.4-08", blind=True)
class ReceiverSessionAckFlagsOf16Bits(SessionAcks):
    """The receiver sends a SessionAck whose RecoverableMsgAckFlags contains only the lower 16 bits of the flags."""

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        return replace(header, RecoverableMsgAckFlags=header.RecoverableMsgAckFlags & 0xFFFF)


@fault("receiver-third-session-ack-not-sent", breaks=("MQQB-3.1.6.4-01", "MQQB-3.1.6.4-11"), blind=True)
class ReceiverThirdSessionAckNotSent(SessionAcks):
    """The receiver sends SessionAcks only at the first two expiries of the Session Ack Send Timer of a session."""

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.expired: dict[int, int] = {}

    def on_send_timer(self, session: Session, now: Now) -> None:
        self.expired[session.number] = self.expired.get(session.number, 0) + 1
        if self.expired[session.number] <= 2:
            super().on_send_timer(session, now)


@fault("receiver-session-ack-number-of-first-recoverable-message", breaks="MQQB-3.1.6.4-05", blind=True)
class ReceiverSessionAckNumberOfFirstRecoverableMessage(SessionAcks):
    """If no recoverable message has arrived since the last SessionAck, the receiver repeats RecoverableMsgAckSeqNumber
    of the last SessionAck in the next SessionAck.
    """

    def build_header(self, session: Session) -> SessionHeader:
        header = super().build_header(session)
        if header.RecoverableMsgAckFlags or not session.LastAckedRecoverableMsgSeqNumber:
            return header
        number = session.LastAckedRecoverableMsgSeqNumber
        return replace(header, RecoverableMsgAckSeqNumber=number, RecoverableMsgAckFlags=1)


@fault("receiver-session-ack-number-of-8-bits", breaks="MQQB-3.1.6.4-04", blind=True)
class ReceiverSessionAckNumberOf8Bits(SessionAcks):
    """The receiver sends a SessionAck whose AckSequenceNumber has only the lower 8 bits of the count of received
    messages.
    """

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        header = packet.SessionHeader
        return replace(packet, SessionHeader=replace(header, AckSequenceNumber=header.AckSequenceNumber & 0xFF))


@fault(
    "receiver-later-session-ack-with-sent-counts-of-first",
    breaks=("MQQB-3.1.6.4-06", "MQQB-3.1.6.4-07"),
    blind=True,
)
class ReceiverLaterSessionAckWithSentCountsOfFirst(SessionAcks):
    """In the second and each later SessionAck of a session, the receiver repeats UserMsgSequenceNumber and
    RecoverableMsgSeqNumber of the first SessionAck.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.first: dict[int, SessionHeader] = {}

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        header = packet.SessionHeader
        first = self.first.setdefault(session.number, header)
        sent = {name: getattr(first, name) for name in ("UserMsgSequenceNumber", "RecoverableMsgSeqNumber")}
        return replace(packet, SessionHeader=replace(header, **sent))


@fault("receiver-later-session-ack-with-window-of-peer", breaks="MQQB-3.1.6.4-09", blind=True)
class ReceiverLaterSessionAckWithWindowOfPeer(SessionAcks):
    """In the second and each later SessionAck of a session, the receiver sends the WindowSize of the other queue
    manager.
    """

    def __init__(self, qm: QM) -> None:
        super().__init__(qm)
        self.acknowledged: set[int] = set()

    def build(self, session: Session) -> SessionAckPacket:
        packet = super().build(session)
        if session.number in self.acknowledged:
            header = replace(packet.SessionHeader, WindowSize=session.ReceivedWindowSize)
            packet = replace(packet, SessionHeader=header)
        self.acknowledged.add(session.number)
        return packet
