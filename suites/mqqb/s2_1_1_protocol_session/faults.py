"""Faults of MS-MQQB 2.1.1 Protocol Session."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from harness.faults.parts import fault
from harness.faults.primitives import effects, every_packet, inputs, skip
from harness.faults.registry import add
from reference_qm.codec import UserMessagePacket
from reference_qm.core.transfer.order_acks import OrderAcks
from reference_qm.core.transfer.receiving import Receiving
from reference_qm.model.adm import Session
from reference_qm.surface.clock import Now
from reference_qm.surface.effects import Connect, Effect
from reference_qm.surface.inputs import Endpoint, Input, TransportAccepted


def _other_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        return [replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))]
    return [effect]


def _no_acceptor(event: Input) -> Iterable[Input]:
    return [] if isinstance(event, TransportAccepted) else [event]


add("header-initiator-other-port", "MQQB-2.1.1-02", "Connects to the port beside 1801.", effects(_other_port))
add("header-acceptor-absent", "MQQB-2.1.1-03", "Nothing serves the TCP port.", inputs(_no_acceptor))
add(
    "header-base-missing",
    "MQQB-2.1.1-01",
    "The first 8 bytes of every packet are missing.",
    every_packet(lambda data: data[8:]),
)
add(
    "session-without-transactional-acks",
    "MQQB-2.1.1-D01",
    "OrderAcks and FinalAcks are never sent.",
    skip(OrderAcks.send_transactional_ack),
)


@fault("session-of-an-initiator-one-way", breaks="MQQB-2.1.1-D01")
class SessionOfAnInitiatorOneWay(Receiving):
    """What comes on a session that it opened itself is not taken."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.initiator:
            super().receive_user_message(session, packet, now)
