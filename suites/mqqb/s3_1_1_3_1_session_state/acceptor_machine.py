"""The state machine of a session that the system accepts, while a second session is open."""

from __future__ import annotations

from pathlib import Path

from harness.errors import ConformanceFailure
from harness.learn.learner import SessionAcceptingSystem
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.states.vocabulary import SILENCE_OUTCOME
from harness.sut.control import UNUSABLE_CHANNEL_ERRORS

NO_SESSION_OUTCOME = "no session"


class AcceptorStateDriver(Machine, path=Path(__file__)):
    """Puts a session that the SUT accepts into each of its states. The peer opens the connection, and sends the packets
    that `mqconform learn` also sends.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._beside = self._open_second_session(peer)
        self._system = SessionAcceptingSystem(peer)
        self._system.begin_input_sequence()

    # -- states ---------------------------------------------------------------------------------------------------

    @state("WAITING_EC_MSG")
    def connect(self) -> None:
        """Do nothing, because the connection is already open."""

    @state("WAITING_CP_MSG")
    def establish(self) -> None:
        """Send an EstablishConnection request."""
        self._send_inputs_and_require_answers("EstablishConnection")

    @state("OPEN")
    def open(self) -> None:
        """Send an EstablishConnection request and a ConnectionParameters request."""
        self._send_inputs_and_require_answers("EstablishConnection", "ConnectionParameters")

    # -- events ---------------------------------------------------------------------------------------------------

    @event("EstablishConnection")
    def send_establish_connection(self) -> str:
        """Send an EstablishConnection request with ServerGuid zero."""
        return self._send_input("EstablishConnection")

    @event("EstablishConnection for another")
    def send_request_for_other_queue_manager(self) -> str:
        """Send an EstablishConnection request with the ServerGuid of a different queue manager."""
        return self._send_input("EstablishConnection for another")

    @event("ConnectionParameters")
    @mark_as_probe("answer to ConnectionParameters")
    def send_connection_parameters(self) -> str:
        """Send a ConnectionParameters request."""
        return self._send_input("ConnectionParameters")

    @event("recoverable message")
    @mark_as_probe("answer to a recoverable message")
    def send_message(self) -> str:
        """Send a recoverable message."""
        return self._send_input("recoverable message")

    @event("SessionAck")
    def send_session_ack(self) -> str:
        """Send a SessionAck with correct counts."""
        return self._send_input("SessionAck")

    @event("early SessionAck")
    def send_ack_of_unsent_message(self) -> str:
        """Send a SessionAck for a message that the system did not send."""
        return self._send_input("early SessionAck")

    @event("SessionAck with a greater count")
    def send_ack_with_too_great_message_count(self) -> str:
        """Send a SessionAck whose UserMsgSequenceNumber is too great."""
        return self._send_input("SessionAck with a greater count")

    @event("SessionAck with a smaller count")
    def send_ack_with_too_small_message_count(self) -> str:
        """Send a SessionAck whose UserMsgSequenceNumber is too small."""
        return self._send_input("SessionAck with a smaller count")

    @event("SessionAck with a wrong recoverable count")
    def send_ack_with_wrong_recoverable_count(self) -> str:
        """Send a SessionAck whose RecoverableMsgSeqNumber is wrong."""
        return self._send_input("SessionAck with a wrong recoverable count")

    @event("unknown internal packet")
    def send_internal_packet_of_unknown_type(self) -> str:
        """Send an internal packet of an unknown type."""
        return self._send_input("unknown internal packet")

    @event("no packet")
    def send_bytes_that_are_no_packet(self) -> str:
        """Send bytes that are not a packet."""
        return self._send_input("no packet")

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("answer to a message on another session")
    def send_message_on_second_session(self) -> str:
        """Send a message on the second session; return the name of the answer."""
        if self._beside is None:
            return NO_SESSION_OUTCOME
        answer = self._beside.request_acknowledgment()
        return SILENCE_OUTCOME if answer is None else answer.kind

    # -- steps ----------------------------------------------------------------------------------------------------

    def _open_second_session(self, peer: Peer) -> RawConversation | None:
        """Open the second session; return None if this fails, so that the event can still be judged."""
        try:
            return peer.open_raw()
        except UNUSABLE_CHANNEL_ERRORS:
            raise
        except ConformanceFailure:
            return None

    def _send_input(self, name: str) -> str:
        outcome = self._system.send_input(name)
        conversation = self._system.conversation
        if conversation is not None:
            self.evidence += [conversation.sent[-1], conversation.last]
        return outcome

    def _send_inputs_and_require_answers(self, *names: str) -> None:
        for name in names:
            if self._system.send_input(name) != name:
                raise ConformanceFailure(f"the SUT did not answer as an acceptor to {name}")
