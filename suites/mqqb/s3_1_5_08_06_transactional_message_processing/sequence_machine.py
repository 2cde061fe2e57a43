"""The state machine of an incoming transactional sequence. The state is the position that decides which message the
receiver accepts next.
"""

from __future__ import annotations

from pathlib import Path

from harness.capture.recorder import Frame
from harness.errors import ConformanceFailure
from harness.peer.peer import Peer
from harness.states.machine import Machine, event, mark_as_probe, state
from harness.wire import TxSequenceID
from suites.mqqb.steps.disposition import AckClass, AcknowledgingReceiver
from suites.mqqb.steps.ordering import ORDER_ACK_TIMEOUT_MS, read_acknowledged_sequence_position

NAMES_OF_SEQUENCES_OF_PEER = ("earlier", "first", "later", "third")
"""The names of the sequences, in the order of their identifiers."""


class IncomingSequenceStateDriver(Machine, path=Path(__file__)):
    """Send messages of several sequences to a queue of the system. Each message requests an
    acknowledgment of arrival.
    """

    def __init__(self, peer: Peer) -> None:
        super().__init__()
        self._peer, self._sut = peer, peer.sut
        self._receiver = AcknowledgingReceiver(peer, peer.sut)
        self._sequence, self._number, self._previous = 1, 0, 0
        """The position: the number of the sequence, and the numbers of its last accepted message."""

    # -- states ---------------------------------------------------------------------------------------------------

    @state("new")
    def begin_without_sequence(self) -> None:
        """Send nothing."""

    @state("one")
    def accept_one_message(self) -> None:
        """Send the first message of the sequence."""
        self._send_message_and_require_acceptance(1, 1, 0)

    @state("four after one")
    def accept_four_messages(self) -> None:
        """Send the first message, and then the fourth message, whose predecessor is the first message."""
        self._send_message_and_require_acceptance(1, 1, 0)
        self._send_message_and_require_acceptance(1, 4, 1)

    @state("one of a later sequence")
    def accept_one_message_of_later_sequence(self) -> None:
        """Send the first message of a sequence, then the first message of a later sequence."""
        self._send_message_and_require_acceptance(1, 1, 0)
        self._send_message_and_require_acceptance(2, 1, 0)

    # -- events ---------------------------------------------------------------------------------------------------

    @event("next message")
    def send_next_message(self) -> str:
        """Send the message that follows the last accepted message."""
        return self._send_and_describe_outcome(self._sequence, self._number + 1, self._number)

    @event("last message again")
    def send_last_message_again(self) -> str:
        """Send the last accepted message again."""
        return self._send_and_describe_outcome(self._sequence, self._number, self._previous)

    @event("message behind a missing one")
    def send_message_behind_missing_one(self) -> str:
        """Send a message whose predecessor was not sent."""
        return self._send_and_describe_outcome(self._sequence, self._number + 3, self._number + 2)

    @event("message after expired ones")
    def send_message_after_expired_one(self) -> str:
        """Send a message whose predecessor is the last accepted message, but whose number is not the next number."""
        return self._send_and_describe_outcome(self._sequence, self._number + 3, self._number)

    @event("first message of a later sequence")
    def send_first_message_of_later_sequence(self) -> str:
        """Send the first message of a later sequence."""
        return self._send_and_describe_outcome(self._sequence + 1, 1, 0)

    @event("second message of a later sequence")
    def send_second_message_of_later_sequence(self) -> str:
        """Send the second message of a later sequence without its first message."""
        return self._send_and_describe_outcome(self._sequence + 1, 2, 1)

    @event("message of an earlier sequence")
    def send_message_of_earlier_sequence(self) -> str:
        """Send a message without a predecessor in an earlier sequence."""
        return self._send_and_describe_outcome(self._sequence - 1, 9, 0)

    # -- what is seen ---------------------------------------------------------------------------------------------

    @mark_as_probe("last accepted message in the OrderAck")
    def find_position(self) -> str:
        """Return the sequence and the number in the last OrderAck."""
        self._peer.environment.run_until(lambda: False, 3 * self._sut.duration_ms(ORDER_ACK_TIMEOUT_MS))
        came = self._receiver.list_acknowledgments()
        self._receiver.acknowledge_all()
        if not came:
            return "no OrderAck"
        place = read_acknowledged_sequence_position(came[-1])
        self.evidence.append(came[-1])
        order = place.Ordinal - self._receiver.sequence.identifier.Ordinal
        known = place.TimeStamp == self._receiver.sequence.identifier.TimeStamp and 0 <= order < len(
            NAMES_OF_SEQUENCES_OF_PEER
        )
        name = f"the {NAMES_OF_SEQUENCES_OF_PEER[order]}" if known else "an unknown"
        return f"number {place.TxSequenceNumber} of {name} sequence"

    # -- steps ----------------------------------------------------------------------------------------------------

    def _send_message_and_require_acceptance(self, sequence: int, number: int, previous: int) -> None:
        if not self._send_message(sequence, number, previous):
            raise ConformanceFailure(
                f"the SUT did not accept message {number} of the {NAMES_OF_SEQUENCES_OF_PEER[sequence]} sequence"
            )
        self._sequence, self._number, self._previous = sequence, number, previous

    def _send_and_describe_outcome(self, sequence: int, number: int, previous: int) -> str:
        return "accepted" if self._send_message(sequence, number, previous) else "discarded"

    def _send_message(self, sequence: int, number: int, previous: int) -> bool:
        """Send a message; return whether its arrival is acknowledged."""
        base = self._receiver.sequence.identifier
        identifier = TxSequenceID(Ordinal=base.Ordinal + sequence, TimeStamp=base.TimeStamp)
        place = {"TxSequenceID": identifier, "TxSequenceNumber": number, "PreviousTxSequenceNumber": previous}
        label = f"{NAMES_OF_SEQUENCES_OF_PEER[sequence]} {number}"
        asked = {"transaction": place, "properties": {"PA": 1}, "label": label}
        sent = self._receiver.send(self._receiver.add_admin_queue_fields(), **asked)
        acks = self._receiver.await_messages_of_sut(lambda: self._list_arrival_acks(sent), 1)
        self.evidence += [sent, *acks]
        return bool(acks)

    def _list_arrival_acks(self, sent: Frame) -> list[Frame]:
        return self._receiver.list_acks_of_class(AckClass.REACH_QUEUE, sent)
