"""Declares interfaces as tables of methods and parameters, and derives the stubs from the tables. Spec: C706 14.4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Flag
from types import MappingProxyType
from typing import Any
from uuid import UUID

from reference_qm.codec.format_error import MisuseError
from reference_qm.rpc.ndr import ContextHandleType, NdrReader, NdrType, NdrWriter, StubEncoding
from reference_qm.rpc.syntaxes import SyntaxId

RETURN_VALUE_NAME = "Return"
"""The name under which a method's return value appears among the results of the method."""


class Direction(Flag):
    """The direction of a parameter: [in], [out] or both."""

    IN = 1
    OUT = 2
    IN_OUT = 3


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a method.

    A top-level [ref] pointer is declared as the type that it points to, because the pointer itself does not appear
    in a stub.
    """

    name: str
    direction: Direction
    type: NdrType


def declare_in_parameter(name: str, kind: NdrType) -> Parameter:
    """Declare an [in] parameter."""
    return Parameter(name, Direction.IN, kind)


def declare_out_parameter(name: str, kind: NdrType) -> Parameter:
    """Declare an [out] parameter."""
    return Parameter(name, Direction.OUT, kind)


def declare_in_out_parameter(name: str, kind: NdrType) -> Parameter:
    """Declare an [in, out] parameter."""
    return Parameter(name, Direction.IN_OUT, kind)


@dataclass(frozen=True, slots=True)
class Method:
    """An operation of an interface. Its binding handle (hBind) is not a parameter."""

    name: str
    section: str
    parameters: tuple[Parameter, ...]
    handle: Parameter | None = field(init=False)
    """The parameter that is a context handle. A method has at most one such parameter."""
    handle_type_name: str = field(init=False)
    """The name of the context handle's type."""
    takes_handle: bool = field(init=False)
    """Whether a request contains a context handle."""
    returns_handle: bool = field(init=False)
    """Whether a response contains a context handle."""
    opens_handle: bool = field(init=False)
    """Whether a call may open a new context handle. In this case the handle is an [out] parameter only."""
    parameters_by_direction: Mapping[Direction, tuple[Parameter, ...]] = field(init=False, repr=False, compare=False)
    """For each direction, the parameters that the stub contains: those of a request (IN) and those of a response
    (OUT).
    """

    def __post_init__(self) -> None:
        handles = [(one, one.type.name) for one in self.parameters if isinstance(one.type, ContextHandleType)]
        if len(handles) > 1:
            raise MisuseError(f"{self.name} has more than one context handle")
        handle, kind = handles[0] if handles else (None, "")
        takes = handle is not None and bool(handle.direction & Direction.IN)
        answers = handle is not None and bool(handle.direction & Direction.OUT)
        derived = {
            "handle": handle,
            "handle_type_name": kind,
            "takes_handle": takes,
            "returns_handle": answers,
            "opens_handle": answers and not takes,
            "parameters_by_direction": {
                way: tuple(one for one in self.parameters if one.direction & way)
                for way in (Direction.IN, Direction.OUT)
            },
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def read_in_parameters(self, stub: bytes, encoding: StubEncoding, padding: int = 0) -> dict[str, Any]:
        """Return the [in] parameters in the stub of a request. Raise StubError for an invalid stub. ``padding``:
        the number of ignored bytes after the parameters.
        """
        return self._read_stub(stub, encoding, Direction.IN, {}, padding)

    def read_out_parameters(self, stub: bytes, encoding: StubEncoding, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the results in the stub of a response. Raise StubError for an invalid stub. ``arguments``: the
        arguments of the request.
        """
        return self._read_stub(stub, encoding, Direction.OUT, arguments)

    def build_in_parameters(self, arguments: Mapping[str, Any], encoding: StubEncoding) -> bytes:
        """Return the stub of a request. Raise MisuseError if arguments are missing, unknown or invalid."""
        return self._build_stub(arguments, encoding, Direction.IN, arguments)

    def build_out_parameters(
        self, results: Mapping[str, Any], encoding: StubEncoding, arguments: Mapping[str, Any]
    ) -> bytes:
        """Return the stub of a response. Raise MisuseError if results are missing, unknown or invalid."""
        return self._build_stub(results, encoding, Direction.OUT, {**arguments, **results})

    def _read_stub(
        self, stub: bytes, encoding: StubEncoding, direction: Direction, beside: Mapping[str, Any], padding: int = 0
    ) -> dict[str, Any]:
        reader = NdrReader(stub, encoding, self.section)
        values: dict[str, Any] = {}
        scope = dict(beside)
        for one in self.parameters_by_direction[direction]:
            reader.where = one.name
            values[one.name] = scope[one.name] = one.type.read_whole_value(reader, scope)
        reader.read_bytes(min(reader.remaining, padding))
        reader.require_end(f"{self.name} stub")
        return values

    def _build_stub(
        self, values: Mapping[str, Any], encoding: StubEncoding, direction: Direction, scope: Mapping[str, Any]
    ) -> bytes:
        writer = NdrWriter(encoding, self.name)
        parameters_by_direction = self.parameters_by_direction[direction]
        if values.keys() != {one.name for one in parameters_by_direction}:
            writer.raise_misuse(
                f"takes {', '.join(one.name for one in parameters_by_direction)}, not {', '.join(values)}"
            )
        for one in parameters_by_direction:
            writer.where = f"{self.name} {one.name}"
            one.type.write_whole_value(writer, values[one.name], scope)
        return bytes(writer.data)


def declare_method(name: str, section: str, *parameters: Parameter, returns: NdrType | None = None) -> Method:
    """Declare a method. Its return value is the last item of a response."""
    result = (declare_out_parameter(RETURN_VALUE_NAME, returns),) if returns is not None else ()
    return Method(name, section, parameters + result)


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface: its name, its abstract syntax and its methods by opnum."""

    name: str
    syntax: SyntaxId
    methods: Mapping[int, Method]


def declare_interface(name: str, uuid: str, major: int, methods: Iterable[tuple[int, Method]]) -> Interface:
    """Declare version ``major``.0 of an interface."""
    return Interface(name, SyntaxId(UUID(uuid), major), MappingProxyType(dict(methods)))
