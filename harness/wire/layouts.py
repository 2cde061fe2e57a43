"""Describe the packet layouts of ``harness.wire`` as tables, with the data about each field that a dissector needs.

The layers compute sizes with functions of the layer (``2 * layer.LabelLength``). This module calls such a function
with a layer whose fields are ``SizeExpression`` objects. The result then shows which field the function reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scapy.fields import Field, UUIDField

from harness.errors import HarnessError
from harness.wire import mqf, user
from harness.wire.acks import FinalAckBody, OrderAckBody
from harness.wire.base import BaseHeader
from harness.wire.blobs import SimpleBlob
from harness.wire.fields import BytesField, GuidFieldPresentIfFlagIsSet, NestedField, PaddingField, WideStringField
from harness.wire.identifiers import TxSequenceID
from harness.wire.internal import (
    ConnectionParametersHeader,
    EstablishConnectionHeader,
    InternalHeader,
    UnknownInternal,
)
from harness.wire.layer import Layer
from harness.wire.mqf import MQFAddressHeader, MQFFormatNameElement, MQFSignatureHeader, MultiQueueFormatHeader
from harness.wire.ping import PingPacket
from harness.wire.properties import MessagePropertiesHeader
from harness.wire.queues import (
    DirectQueueFormatName,
    MQFDirectQueueFormatName,
    MQFDistributionQueueFormatName,
    PrivateQueueFormatName,
    PrivateQueueFormatNameId,
    PublicQueueFormatName,
)
from harness.wire.security import ProviderInfo, SecurityHeader
from harness.wire.session import SessionHeader
from harness.wire.soap import SoapHeader
from harness.wire.trace import DebugHeader
from harness.wire.transaction import TransactionHeader
from harness.wire.user import UserHeader
from harness.wire.words import NamedBits, list_words

FILTER_BY_LAYER: Mapping[type[Layer], str] = {
    PingPacket: "ping",
    BaseHeader: "base",
    InternalHeader: "internal",
    EstablishConnectionHeader: "establish",
    ConnectionParametersHeader: "parameters",
    UnknownInternal: "unknown",
    SessionHeader: "session",
    UserHeader: "user",
    TransactionHeader: "transaction",
    SecurityHeader: "security",
    MessagePropertiesHeader: "properties",
    DebugHeader: "debug",
    SoapHeader: "soap",
    MultiQueueFormatHeader: "mqf",
    MQFAddressHeader: "mqfaddress",
    MQFFormatNameElement: "mqfelement",
    MQFSignatureHeader: "mqfsignature",
    DirectQueueFormatName: "direct",
    MQFDirectQueueFormatName: "mqfdirect",
    MQFDistributionQueueFormatName: "mqflist",
    PrivateQueueFormatName: "private",
    PrivateQueueFormatNameId: "privateid",
    PublicQueueFormatName: "public",
    TxSequenceID: "txsequenceid",
    OrderAckBody: "orderack",
    FinalAckBody: "finalack",
    ProviderInfo: "provider",
    SimpleBlob: "simpleblob",
}
"""For each layer and structure, the second part of its Wireshark display filters, such as ``user`` in
``msmq.user.messageid``.
"""

REST_OF_PACKET_KIND = "rest"
"""The size of a field that consists of all remaining bytes of its packet."""


@dataclass(frozen=True, slots=True)
class SizeExpression:
    """An expression that is computed from the value of a field. The result is the value times ``factor`` or, if
    ``equals`` is given, whether the value equals ``equals``.
    """

    field: str
    factor: int = 1
    equals: int | None = None

    def __mul__(self, number: int) -> SizeExpression:
        return SizeExpression(self.field, self.factor * number)

    __rmul__ = __mul__

    def __eq__(self, number: object) -> Any:
        return SizeExpression(self.field, self.factor, number) if isinstance(number, int) else NotImplemented

    def __hash__(self) -> int:
        return id(self)


class _UnreadBytes:
    """The bytes of a layer that have not been dissected yet. Their length is the length of the rest of the packet."""

    def __len__(self) -> int:
        raise _RestLengthRead


class _RestLengthRead(Exception):
    """Raised when a function that computes the size of a field reads the length of the remaining bytes."""


class _LayerOfExpressions:
    """A layer whose fields have expressions as their values."""

    original = _UnreadBytes()

    def __getattr__(self, name: str) -> SizeExpression:
        return SizeExpression(name)

    def getfieldval(self, name: str) -> SizeExpression:
        """Return the expression that stands for a field's value."""
        return SizeExpression(name)


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """The layout of a field. ``kind`` is the method by which a dissector reads the field; ``facts`` are the additional
    keys of the field's row in the table.
    """

    name: str
    kind: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class LayerLayout:
    """The layout of a layer or structure: its printed name, its part of display filters, and its fields in wire
    order.
    """

    name: str
    filter: str
    fields: tuple[FieldLayout, ...]


def read_layouts() -> list[LayerLayout]:
    """Return the layouts of all layers in ``FILTER_BY_LAYER``."""
    return [LayerLayout(layer.__name__, name, tuple(_read_fields(layer))) for layer, name in FILTER_BY_LAYER.items()]


def _read_fields(layer: type[Layer]) -> Iterator[FieldLayout]:
    words = {word.bits[-1][0].name: (name, word) for name, word in list_words(layer).items()}  # type: ignore[arg-type]
    for field in layer.fields_desc:
        if field.name in words:
            name, word = words[field.name]
            bits = [{"name": one.name, "shift": shift, "width": one.size} for one, shift in word.bits]
            yield FieldLayout(name, "word", {"size": word.size, "bits": bits})
        elif not isinstance(field, NamedBits):
            yield _read_field(field)


def _read_field(field: Field) -> FieldLayout:
    reader = next((read for kinds, read in _LAYOUT_READERS_BY_FIELD_CLASS if isinstance(field, kinds)), None)
    if reader is None:
        raise HarnessError(f"harness/wire/layouts.py has no reader for {type(field).__name__} ({field.name})")
    return reader(field)


def _evaluate_size(size: Callable[[Any], Any] | int) -> Any:
    """Return the size of a field: an int, a ``SizeExpression``, or ``REST_OF_PACKET_KIND``."""
    if isinstance(size, int):
        return size
    try:
        return size(_LayerOfExpressions())
    except _RestLengthRead:
        return REST_OF_PACKET_KIND


def _read_guid(field: UUIDField) -> FieldLayout:
    present = {"present": _evaluate_size(field.announced)} if isinstance(field, GuidFieldPresentIfFlagIsSet) else {}
    return FieldLayout(field.name, "guid", present)


def _read_text(field: WideStringField) -> FieldLayout:
    return FieldLayout(field.name, "text", {} if field.size is None else {"size": _evaluate_size(field.size)})


def _read_padding(field: PaddingField) -> FieldLayout:
    if field.align is mqf._get_element_alignment:  # the alignment depends on the element's FormatType
        choices = {number: boundary for number, (_, boundary) in mqf.ELEMENT_LAYOUT_BY_TYPE.items()}
        return FieldLayout(field.name, "padding", {"selector": "FormatType", "boundaries": choices})
    return FieldLayout(field.name, "padding", {"boundary": field.align(None), "optional": not field.printed})


def _read_nested(field: NestedField) -> FieldLayout:
    if isinstance(field, user.Queue):
        layouts = {
            number: layout.__name__ if layout else ""
            for number, layout in user.QUEUE_LAYOUTS_BY_FLAG[field.flag].items()
        }
        return FieldLayout(field.name, "queue", {"selector": field.flag, "layouts": layouts})
    if isinstance(field.layout, type):
        return FieldLayout(field.name, "structure", {"layout": field.layout.__name__})
    layouts = {number: layout.__name__ for number, (layout, _) in mqf.ELEMENT_LAYOUT_BY_TYPE.items()}
    return FieldLayout(field.name, "queue", {"selector": "FormatType", "layouts": layouts})


def _read_number(field: Field) -> FieldLayout:
    hexadecimal = type(field).__name__.startswith("X")
    return FieldLayout(field.name, "number", {"size": field.sz, "hexadecimal": hexadecimal})


_LAYOUT_READERS_BY_FIELD_CLASS: tuple[tuple[type | tuple[type, ...], Callable[[Any], FieldLayout]], ...] = (
    (UUIDField, _read_guid),
    (BytesField, lambda field: FieldLayout(field.name, "bytes", {"size": _evaluate_size(field.size)})),
    (WideStringField, _read_text),
    (PaddingField, _read_padding),
    (NestedField, _read_nested),
    (
        mqf.FormatNames,
        lambda field: FieldLayout(field.name, "list", {"count": "ElementCount", "layout": "MQFFormatNameElement"}),
    ),
    (Field, _read_number),
)
"""The functions that read the layouts of fields, by kind of field. Subclasses are listed before their base classes.
"""
