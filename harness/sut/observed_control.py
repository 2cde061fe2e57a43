"""Define a control channel that reports its answers to a listener."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from harness.sut.control import Control

AnswerListener = Callable[[str, Mapping[str, Any], Mapping[str, Any]], None]
"""The type of listeners. A listener is called with the verb, the arguments and the answer of each request. It is not
called for refused requests.
"""


class ObservedControl:
    """A wrapper of a control channel that reports each answer to a listener before the check receives the answer."""

    def __init__(self, control: Control, listener: AnswerListener) -> None:
        self._control = control
        self._listener = listener
        self._waiting: dict[int, tuple[str, Mapping[str, Any]]] = {}
        """The requests that are not answered yet, each with its verb and its arguments."""

    def call(self, verb: str, **arguments: Any) -> dict[str, Any]:
        answer = self._control.call(verb, **arguments)
        self._listener(verb, arguments, answer)
        return answer

    def begin(self, verb: str, **arguments: Any) -> int:
        number = self._control.begin(verb, **arguments)
        self._waiting[number] = (verb, arguments)
        return number

    def answer(self, request: int) -> dict[str, Any] | None:
        answer = self._control.answer(request)
        if answer is not None and request in self._waiting:
            verb, arguments = self._waiting.pop(request)
            self._listener(verb, arguments, answer)
        return answer

    def close(self) -> None:
        self._control.close()
