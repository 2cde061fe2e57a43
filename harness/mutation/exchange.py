"""Replace the code of a function temporarily."""

from __future__ import annotations

from types import CodeType, FunctionType


class FunctionCodeReplacement:
    """A context in which every call of a function runs different code."""

    def __init__(self, function: FunctionType, code: CodeType) -> None:
        self._function = function
        self._other = code
        self._own = function.__code__

    def __enter__(self) -> None:
        self._function.__code__ = self._other

    def __exit__(self, *_: object) -> None:
        self._function.__code__ = self._own
