"""Run the learning library AALpy against a system. Each input sequence (word) uses a new connection, and each
output is the system's answer to an input.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from harness.errors import HarnessError, UsageError
from harness.learn.alphabet import (
    CONNECTION_LOSS_INPUT,
    INPUT_ALPHABET,
    INPUTS_THAT_SYSTEM_ACKNOWLEDGES_LATER,
    PACKET_BUILDER_BY_INPUT,
)
from harness.learn.machine import CLOSED_OUTPUT, StateMachine
from harness.peer.conversation import RawConversation
from harness.peer.peer import Peer
from harness.peer.timeouts import RECOVERABLE_ACK_MS
from harness.states.outcomes import get_outcome_of_packets

RANDOM_WALKS_PER_STATE, RANDOM_WALK_LENGTH = 20, 6
"""The number and the length of the random walks with which AALpy searches for differences between the system and
the learned machine. The walks begin in each known state, so that rare states are tested as often as the initial
state.
"""
LONGEST_LEARNING_MS = 24 * 60 * 60 * 1000
"""int ms: the time limit for learning in real time. In real time, each silence window takes time."""


@dataclass(frozen=True, slots=True)
class LearnedMachine:
    """A learned machine, and the cost of learning it. The cost is the number of input sequences (words) that were
    sent to the system, and the number of inputs in these words.
    """

    machine: StateMachine
    input_sequence_count: int
    sent_input_count: int


class SessionAcceptingSystem:
    """A system that accepts sessions. The inputs of a word (input sequence) are sent to the system one at a time."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.conversation: RawConversation | None = None
        self._seen = 0
        self._input_sequence: tuple[str, ...] = ()
        self._reaction_by_input_sequence: dict[tuple[str, ...], tuple[int, bool]] = {}
        """For each input sequence (word), the number of packets received after it, and whether the system closed the
        connection.
        """
        self.words = self.inputs = 0

    def begin_input_sequence(self) -> None:
        """Open a new connection for the inputs of a word (input sequence)."""
        self.conversation = self._peer.connect()
        self._seen = 0
        self._input_sequence = ()
        self.words += 1

    def end_input_sequence(self) -> None:
        """Close the connection of a word (input sequence)."""
        if self.conversation is not None:
            self.conversation.end()
        self.conversation = None

    def send_input(self, name: str) -> str:
        """Send the packet of an input; return the kinds of the received packets, and ``CLOSED_OUTPUT`` if the system
        closed the connection.
        """
        conversation = self.conversation
        if conversation is None or _is_connection_closed(conversation):
            return CLOSED_OUTPUT
        self.inputs += 1
        if name == CONNECTION_LOSS_INPUT:
            conversation.end()
            return CLOSED_OUTPUT
        conversation.send(PACKET_BUILDER_BY_INPUT[name](self._peer, conversation))
        self._input_sequence = (*self._input_sequence, name)
        if self._input_sequence in self._reaction_by_input_sequence:
            self._await_packets_as_before(conversation, *self._reaction_by_input_sequence[self._input_sequence])
        else:
            self._await_answers(conversation, name)
            self._reaction_by_input_sequence[self._input_sequence] = (
                len(conversation.received),
                _is_connection_closed(conversation),
            )
        seen, self._seen = self._seen, len(conversation.received)
        return get_outcome_of_packets(conversation, seen)

    def _await_answers(self, conversation: RawConversation, name: str) -> None:
        """Wait until the system is silent. After a message, wait for its acknowledgment, which depends on a timer."""
        sut = self._peer.sut
        if name in INPUTS_THAT_SYSTEM_ACKNOWLEDGES_LATER:
            limit_ms = sut.duration_ms(RECOVERABLE_ACK_MS) + sut.slack_ms(RECOVERABLE_ACK_MS)
            came = len(conversation.received)
            self._peer.environment.run_until(
                lambda: _is_connection_closed(conversation) or len(conversation.received) > came, limit_ms, exactly=True
            )
        self._peer.environment.run_until(lambda: _is_connection_closed(conversation), sut.quiet_ms, exactly=True)

    def _await_packets_as_before(self, conversation: RawConversation, packets: int, closed: bool) -> None:
        """Wait until the system has sent as many packets as it sent when the same word (input sequence) was used
        before. This wait replaces the wait for silence.
        """
        self._peer.environment.run_until(
            lambda: _is_connection_closed(conversation) or (not closed and len(conversation.received) >= packets),
            self._peer.sut.response_timeout_ms,
        )


def _is_connection_closed(conversation: RawConversation) -> bool:
    return conversation.record.closed_by is not None


def learn_machine(peer: Peer, seed: str, alphabet: Sequence[str] = INPUT_ALPHABET) -> LearnedMachine:
    """Learn the state machine of the SUT's sessions; raise UsageError if AALpy is missing, and HarnessError if the
    system answers the same word in two different ways.
    """
    try:
        from aalpy.base import SUL
        from aalpy.learning_algs import run_Lstar
        from aalpy.oracles import StatePrefixEqOracle
    except ImportError as error:
        raise UsageError("learn needs AALpy: pip install 'mqconform[learn]'") from error
    system = SessionAcceptingSystem(peer)

    class Adapter(SUL):  # type: ignore[misc]
        """An adapter that lets AALpy learn a system that accepts sessions."""

        def pre(self) -> None:
            system.begin_input_sequence()

        def post(self) -> None:
            system.end_input_sequence()

        def step(self, letter: str) -> str:
            return system.send_input(letter)

    peer.environment.limit_check_time(LONGEST_LEARNING_MS)
    random.seed(seed)  # AALpy uses the module random for its random walks
    adapter = Adapter()
    oracle = StatePrefixEqOracle(
        list(alphabet), adapter, walks_per_state=RANDOM_WALKS_PER_STATE, walk_len=RANDOM_WALK_LENGTH
    )
    try:
        model = run_Lstar(list(alphabet), adapter, oracle, "mealy", print_level=0)
    except SystemExit as error:  # AALpy ends the process when the same word was answered in two ways
        raise HarnessError(
            "the system gave two different answers to the same packets; its state machine cannot be learned"
        ) from error
    return LearnedMachine(_convert_learned_machine(model, alphabet), system.words, system.inputs)


def _convert_learned_machine(model: Any, alphabet: Sequence[str]) -> StateMachine:
    names = {id(state): f"s{number}" for number, state in enumerate(model.states)}
    rows = {
        names[id(state)]: {
            letter: (str(state.output_fun[letter]), names[id(state.transitions[letter])]) for letter in alphabet
        }
        for state in model.states
    }
    return StateMachine(names[id(model.initial_state)], rows)
