"""Other code in the place of a function's own, for a while."""

from __future__ import annotations

from types import CodeType, FunctionType


class Exchange:
    """Entered and left repeatedly: in between, every call of the function runs the other code."""

    def __init__(self, function: FunctionType, code: CodeType) -> None:
        self._function = function
        self._other = code
        self._own = function.__code__

    def __enter__(self) -> None:
        self._function.__code__ = self._other

    def __exit__(self, *_: object) -> None:
        self._function.__code__ = self._own
