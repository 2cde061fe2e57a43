"""Define the outcomes of requests to the SUT, which checks compare with their expectations. The outcome of a refused
request also contains the SUT's reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from harness.printable import one_line
from harness.sut.control import MAX_REASON_CHARACTERS, ControlRefused


class Outcome(StrEnum):
    """The outcome of a request."""

    DONE = "done"
    REFUSED = "refused"
    NOTHING = "nothing"
    """The read found no message."""
    NO_ANSWER = "no answer"

    @property
    def shown(self) -> str:
        """The text of the outcome in a verdict."""
        return _TEXT_BY_OUTCOME.get(self, self.value)


_TEXT_BY_OUTCOME: Mapping[str, str] = {Outcome.REFUSED: "refused by the SUT", Outcome.NOTHING: "no message"}


class Refused(str):
    """The outcome of a refused request. It equals ``Outcome.REFUSED``. ``why`` is the SUT's reason."""

    __slots__ = ("why",)
    why: str

    def __new__(cls, word: str, why: str) -> Refused:
        made = super().__new__(cls, word)
        made.why = why
        return made

    @property
    def shown(self) -> str:
        """The text of the refusal in a verdict."""
        return _TEXT_BY_OUTCOME.get(self, str(self))

    def __getnewargs__(self) -> tuple[str, str]:  # type: ignore[override]  # str has one argument, this has two
        """Return the arguments of ``__new__`` with which pickle copies the outcome from a worker process to the main
        process.
        """
        return str(self), self.why


def get_outcome_of_call(action: Callable[[], object]) -> str:
    """Call a function that sends a request to the SUT. Return DONE, or REFUSED with the SUT's reason if the SUT refuses
    the request.
    """
    try:
        action()
    except ControlRefused as error:
        return Refused(Outcome.REFUSED, str(error))
    return Outcome.DONE


def get_outcome_of_answer(answer: Mapping[str, Any] | None) -> str:
    """Return the outcome that an answer on the control channel reports."""
    if answer is None:
        return Outcome.NO_ANSWER
    if answer.get("ok"):
        return Outcome.DONE
    return Refused(Outcome.REFUSED, f"the SUT refused: {one_line(str(answer.get('error')), MAX_REASON_CHARACTERS)}")


def get_label(message: Mapping[str, Any] | None) -> str:
    """Return the label of a message that the control channel returned, or NOTHING if no message was read."""
    label: str = Outcome.NOTHING if message is None else message["label"]
    return label
