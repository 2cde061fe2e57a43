"""Faults in the flags of internal packets after the establishment of a session. Spec: MS-MQQB 2.2.1."""

from __future__ import annotations

from dataclasses import replace

from harness.faults.fields import refuse_packets_unless_field_is_zero
from harness.faults.parts import fault
from harness.faults.registry import add
from reference_qm.codec import (
    ConnectionParametersPacket,
    EstablishConnectionPacket,
    InternalHeader,
    SessionAckPacket,
)
from reference_qm.core.sessions.session_opening import SessionOpening
from reference_qm.core.transfer.session_acks import SessionAcks
from reference_qm.core.transfer.transfer_administering import TransferAdministering
from reference_qm.model.adm import Session


def _set_connection_state_flag_cs(packet: SessionAckPacket) -> SessionAckPacket:
    flags = packet.InternalHeader.Flags | InternalHeader.flags(CS=1)
    return replace(packet, InternalHeader=replace(packet.InternalHeader, Flags=flags))


@fault("receiver-session-ack-of-later-messages-cs-set", breaks="MQQB-2.2.1-04", blind=True)
class ReceiverSessionAckOfLaterMessagesCsSet(SessionAcks):
    """In each SessionAck of a session except the first SessionAck, the receiver sets the flag CS."""

    def build(self, session: Session) -> SessionAckPacket:
        known = self.__dict__.setdefault("known", set())
        later = session.number in known
        known.add(session.number)
        packet = super().build(session)
        return _set_connection_state_flag_cs(packet) if later else packet


@fault("queue-manager-cs-set-in-session-ack-of-queue-pause", breaks="MQQB-2.2.1-04", blind=True)
class QueueManagerCsSetInSessionAckOfQueuePause(TransferAdministering):
    """When a queue is paused, the queue manager sends a SessionAck in which the flag CS, which refuses a connection, is
    set.
    """

    def build_pause_ack(self, session: Session) -> SessionAckPacket:
        return _set_connection_state_flag_cs(super().build_pause_ack(session))


@fault("acceptor-cs-clear-in-second-refusal-above-session-limit", breaks="MQQB-2.2.1-06", blind=True)
class AcceptorCsClearInSecondRefusalAboveSessionLimit(SessionOpening):
    """The acceptor sets CS only in its first response to a request above its limit of sessions."""

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        if not packet.InternalHeader.CS or not self.__dict__.get("has_refused"):
            self.__dict__["has_refused"] = bool(packet.InternalHeader.CS)
            return packet
        flags = packet.InternalHeader.Flags & ~InternalHeader.flags(CS=1)
        return replace(packet, InternalHeader=replace(packet.InternalHeader, Flags=flags))


@fault("acceptor-cs-clear-in-refusal-of-new-client-above-limit", breaks="MQQB-2.2.1-06", blind=True)
class AcceptorCsClearInRefusalOfNewClientAboveLimit(SessionOpening):
    """When the number of sessions exceeds the limit, the acceptor refuses a queue manager that has no other session,
    but does not set CS in its response.
    """

    def build_establish_response(
        self, session: Session, request: EstablishConnectionPacket
    ) -> EstablishConnectionPacket:
        packet = super().build_establish_response(session, request)
        client = request.EstablishConnectionHeader.ClientGuid
        if any(one.RemoteQMGuid == client for one in self.qm.sessions.values() if one is not session):
            return packet
        flags = packet.InternalHeader.Flags & ~InternalHeader.flags(CS=1)
        return replace(packet, InternalHeader=replace(packet.InternalHeader, Flags=flags))


for _rule, _bit in (
    ("MQQB-2.2.1-07", "X5"),
    ("MQQB-2.2.1-10", "X8"),
    ("MQQB-2.2.1-11", "X9"),
    ("MQQB-2.2.1-12", "X10"),
    ("MQQB-2.2.1-14", "X12"),
):
    add(
        f"receiver-session-ack-with-{_bit.lower()}-refused",
        _rule,
        f"The receiver refuses a SessionAck in which {_bit} of InternalHeader.Flags is set.",
        refuse_packets_unless_field_is_zero(SessionAckPacket, f"InternalHeader.{_bit}"),
        blind=True,
    )
    add(
        f"receiver-connection-parameters-with-{_bit.lower()}-refused",
        _rule,
        f"The receiver refuses a ConnectionParameters packet in which {_bit} of InternalHeader.Flags is set.",
        refuse_packets_unless_field_is_zero(ConnectionParametersPacket, f"InternalHeader.{_bit}"),
        blind=True,
    )
