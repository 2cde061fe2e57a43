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


def _change_port(effect: Effect) -> Iterable[Effect]:
    if isinstance(effect, Connect):
        return [replace(effect, remote=Endpoint(effect.remote.host, effect.remote.port ^ 1))]
    return [effect]


def _drop_accepted_connection(event: Input) -> Iterable[Input]:
    return [] if isinstance(event, TransportAccepted) else [event]


add(
    "initiator-connects-to-port-1800",
    "MQQB-2.1.1-02",
    "The initiator connects to TCP port 1800 instead of 1801.",
    effects(_change_port),
)
add(
    "acceptor-accepts-no-connection",
    "MQQB-2.1.1-03",
    "The acceptor ignores every incoming TCP connection.",
    inputs(_drop_accepted_connection),
)
add(
    "any-packet-base-header-first-half-missing",
    "MQQB-2.1.1-01",
    "A queue manager sends every packet without the first 8 bytes of its BaseHeader.",
    every_packet(lambda data: data[8:]),
)
add(
    "receiver-order-ack-and-final-ack-never-sent",
    "MQQB-2.1.1-D01",
    "The receiver never sends an OrderAck or a FinalAck.",
    skip(OrderAcks.send_transactional_ack),
)


@fault("initiator-user-message-on-own-session-ignored", breaks="MQQB-2.1.1-D01")
class InitiatorUserMessageOnOwnSessionIgnored(Receiving):
    """The initiator ignores a UserMessage that arrives on a session that it opened itself."""

    def receive_user_message(self, session: Session, packet: UserMessagePacket, now: Now) -> None:
        if not session.initiator:
            super().receive_user_message(session, packet, now)
