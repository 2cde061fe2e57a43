"""Hold a conversation with an agent under test. The answers from the agent are not trusted."""

from __future__ import annotations

from typing import Any

from harness.environment import RealEnvironment
from harness.errors import SutUnavailable
from harness.sut.agent import AgentStartedByCommand
from harness.sut.wires import ControlReply, ControlRoute, describe_missing_answer

UNMATCHED_ANSWERS_LIMIT = 1_000


class Conversation:
    """The exchange of requests and answers with an agent. The object stores unprocessed answers by the id of the
    request, and the ids of answers that match no request.
    """

    def __init__(self, environment: RealEnvironment, route: ControlRoute, answer_ms: int) -> None:
        self.environment = environment
        self.name = route.name
        self.answer_ms = answer_ms
        self.ended: str | None = None
        """The reason why no more answers will arrive, or None while the channel is open."""
        self.unmatched_ids: list[Any] = []
        """The ids of answers that match no request."""
        self._open = False
        self._replies: dict[int, ControlReply] = {}
        self._asked: set[int] = set()
        if isinstance(route, AgentStartedByCommand):
            route.on_unmatched_answer = self._note_unrequested_answer
        self._wire = route.open(environment, self)
        self.name = route.name
        environment.run_until(lambda: self._open or self.ended is not None, answer_ms)
        if not self._open:
            raise SutUnavailable(
                f"{self.name} does not answer: {self.ended or 'the connection was not established in time'}"
            )

    def send_request(self, verb: str, **arguments: Any) -> int:
        """Send a request for a verb; return the id of the request."""
        number = self._wire.send_request(verb, arguments)
        self._asked.add(number)
        return number

    def wait_for_reply(self, number: int, within_ms: int | None = None) -> ControlReply | None:
        """Wait for the answer to a request, by default for ``answer_ms``. Return None if no answer arrives."""
        min_answer_wait_ms = max(self.answer_ms, self._wire.min_answer_wait_ms) if within_ms is None else within_ms
        self.environment.run_until(lambda: number in self._replies or self.ended is not None, min_answer_wait_ms)
        return self._replies.pop(number, None)

    def has_reply(self, number: int) -> bool:
        """Return whether the answer to a request has arrived."""
        return number in self._replies

    @property
    def missing_answer_message(self) -> str:
        """The message that reports a missing answer from the agent."""
        return describe_missing_answer(self._wire.unmatched_ids)

    def close(self) -> None:
        """Close the connection to the agent."""
        self._wire.close()

    def on_connection_open(self) -> None:
        self._open = True

    def on_reply(self, reply: ControlReply) -> None:
        number = reply["id"]
        if type(number) is int and number in self._asked:
            self._asked.discard(number)
            self._replies[number] = reply
        else:
            self._note_unrequested_answer(number)

    def on_end(self, why: str) -> None:
        self.ended = why

    def _note_unrequested_answer(self, number: Any) -> None:
        if len(self.unmatched_ids) < UNMATCHED_ANSWERS_LIMIT:
            self.unmatched_ids.append(number)
