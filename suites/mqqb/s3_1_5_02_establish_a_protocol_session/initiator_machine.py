"""The state machine of a session that the system opens to send a message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness.learn.alphabet import FOREIGN_GUID, PACKET_BUILDER_BY_INPUT
from harness.peer.inbox import establish_response, parameters_response
from harness.peer.peer import Peer
from harness.peer.timeouts import RECOVERABLE_ACK_MS
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.outcomes import get_outcome_of_packets
from suites.mqqb.steps.ordering import build_unknown_ack
from suites.mqqb.steps.outgoing_session import OutgoingSession


class InitiatorStateDriver(Machine, path=Path(__file__)):
    """Puts a session that the SUT opens into each of its states. The SUT has one message for a queue of the peer, and
    no other session.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer, self._sut = peer, peer.sut
        self._outgoing = OutgoingSession(peer, peer.sut)

    # -- states ---------------------------------------------------------------------------------------------------

    @state("WAITING_ECR_MSG")
    def await_request(self) -> None:
        """Wait for the EstablishConnection request."""
        self._outgoing.await_request()

    @state("WAITING_CPR_MSG")
    def respond(self) -> None:
        """Answer the EstablishConnection request, and wait for the ConnectionParameters request."""
        self.await_request()
        self._outgoing.respond()

    @state("OPEN")
    def open(self) -> None:
        """Open the session, and wait for the message."""
        self.respond()
        self._outgoing.answer_connection_parameters()

    # -- events ---------------------------------------------------------------------------------------------------

    @event("EstablishConnection")
    def send_establish_response(self) -> str:
        """Send a valid EstablishConnection response."""
        return self._send_and_collect_answers(self._build_establish_response())

    @event("EstablishConnection with CS")
    def send_refusal(self) -> str:
        """Send an EstablishConnection response with CS set."""
        packet = self._build_establish_response()
        packet["InternalHeader"].CS = 1
        return self._send_and_collect_answers(packet)

    @event("EstablishConnection for another")
    def send_response_for_other_queue_manager(self) -> str:
        """Send an EstablishConnection response with the ClientGuid of a different queue manager."""
        return self._send_and_collect_answers(self._build_establish_response(ClientGuid=FOREIGN_GUID))

    @event("EstablishConnection with a wrong signature")
    def send_unsigned_response(self) -> str:
        """Send an EstablishConnection response whose Signature is in lower-case letters."""
        data = bytes(self._build_establish_response())
        return self._send_and_collect_answers(data[:4] + b"lior" + data[8:])

    @event("ConnectionParameters")
    @mark_as_probe("answer to ConnectionParameters")
    def send_parameters_response(self) -> str:
        """Send a ConnectionParameters response."""
        asked = getattr(self._outgoing, "parameters", None)
        if asked is None:
            return self._send_and_collect_answers(
                PACKET_BUILDER_BY_INPUT["ConnectionParameters"](self._peer, self._outgoing.connection)
            )
        return self._send_and_collect_answers(parameters_response(asked))

    @event("recoverable message")
    @mark_as_probe("answer to a recoverable message")
    def send_message(self) -> str:
        """Send a recoverable message, and wait for the longest time after which the SUT may acknowledge it."""
        specified_ms = RECOVERABLE_ACK_MS
        return self._send_input("recoverable message", self._sut.duration_ms(specified_ms) + self._sut.slack_ms(0))

    @event("SessionAck with a greater count")
    def send_ack_with_too_great_message_count(self) -> str:
        """Send a SessionAck whose UserMsgSequenceNumber is too great."""
        return self._send_input("SessionAck with a greater count")

    @event("SessionAck")
    def send_session_ack(self) -> str:
        """Send a SessionAck with correct counts."""
        return self._send_input("SessionAck")

    @event("OrderAck")
    def send_order_ack(self) -> str:
        """Send an OrderAck of an unknown sequence."""
        return self._send_and_collect_answers(build_unknown_ack(self._peer))

    @event("FinalAck")
    def send_final_ack(self) -> str:
        """Send a FinalAck of an unknown message."""
        return self._send_and_collect_answers(build_unknown_ack(self._peer, final=True))

    @event("unknown internal packet")
    def send_internal_packet_of_unknown_type(self) -> str:
        """Send an internal packet of an unknown type."""
        return self._send_input("unknown internal packet")

    @event("no packet")
    def send_bytes_that_are_no_packet(self) -> str:
        """Send bytes that are not a packet."""
        return self._send_input("no packet")

    # -- steps ----------------------------------------------------------------------------------------------------

    def _build_establish_response(self, **header: Any) -> Any:
        return establish_response(self._peer, self._outgoing.request, **header)

    def _send_input(self, name: str, within_ms: int = 0) -> str:
        return self._send_and_collect_answers(
            PACKET_BUILDER_BY_INPUT[name](self._peer, self._outgoing.connection), within_ms
        )

    def _send_and_collect_answers(self, packet: Any, within_ms: int = 0) -> str:
        """Send a packet; return the packets that arrive until the system is silent, and any end of the connection."""
        connection = self._outgoing.connection
        before = len(connection.received)
        self.evidence.append(connection.send(packet))
        environment = self._peer.environment
        if within_ms:
            environment.run_until(lambda: self._has_answered_or_closed(before), within_ms, exactly=True)
        environment.run_until(lambda: connection.record.closed_by is not None, self._sut.quiet_ms, exactly=True)
        self.evidence.append(connection.last)
        return get_outcome_of_packets(connection, before)

    def _has_answered_or_closed(self, before: int) -> bool:
        connection = self._outgoing.connection
        return len(connection.received) > before or connection.record.closed_by is not None
