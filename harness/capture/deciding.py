"""The bytes that decide a verdict: those of the field that what was observed, or expected, speaks of.

Nothing is asked of the checks. The first name of a field of the packet that stands in the text, spelled as the
specification does, is the field. Where it might be another, or says another value than the packet has, there is none:
a reader who is shown no field looks at the packet, one who is shown a wrong field is misled.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

from harness.wire import TreeLine

LAYERS: Mapping[str, str] = {
    "MQMQ-2.2.19.1": "BaseHeader",
    "MQMQ-2.2.19.2": "UserHeader",
    "MQMQ-2.2.19.3": "MessagePropertiesHeader",
    "MQMQ-2.2.20.1": "MultiQueueFormatHeader",
    "MQMQ-2.2.20.3": "MQFSignatureHeader",
    "MQMQ-2.2.20.4": "SessionHeader",
    "MQMQ-2.2.20.5": "TransactionHeader",
    "MQMQ-2.2.20.6": "SecurityHeader",
    "MQMQ-2.2.20.7": "SoapHeader",
    "MQMQ-2.2.20.8": "DebugHeader",
    "MQQB-2.1.2": "PingPacket",
    "MQQB-2.2.1": "InternalHeader",
    "MQQB-2.2.2": "ConnectionParametersHeader",
    "MQQB-2.2.2.1": "ConnectionParametersHeader",
    "MQQB-2.2.3": "EstablishConnectionHeader",
    "MQQB-2.2.3.1": "EstablishConnectionHeader",
    "MQQB-2.2.7": "PingPacket",
}
"""By document and section: the header whose fields its rules mean when several have one of a name."""

_NAME = re.compile(r"(?<![\w.])[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
_VALUE = re.compile(
    r"'?\s*(?:is|was|=|:)?\s*(0x[0-9A-Fa-f]+|\{?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]+)\b"
)
_WHOLE_VALUE = re.compile(r"0x[0-9A-Fa-f]+|\d+")
_UNMISTAKABLE = re.compile(r"[a-z][A-Z]")
"""Of several words, such as AckSequenceNumber. Signature, Label, IN, SE are words of sentences, too."""


class Says(NamedTuple):
    """What a verdict says: the document and section of its rule (``MQMQ-2.2.19.1``), what was expected, observed."""

    section: str
    expected: str
    observed: str


class _Found(NamedTuple):
    line: TreeLine
    sure: bool
    """Whether the text says the value that the field has."""


def deciding(packets: Sequence[Sequence[TreeLine]], says: Says) -> list[TreeLine | None]:
    """Return the deciding field of each packet of a verdict, given the lines of its dissection; None where none is.

    Of several packets those count that have the value of the text; without a value only a packet that alone has the
    field.
    """
    found = [_in_packet(lines, says) for lines in packets]
    alone = sum(one is not None for one in found) == 1
    return [one.line if one is not None and (alone or one.sure) else None for one in found]


def _in_packet(lines: Sequence[TreeLine], says: Says) -> _Found | None:
    layer = LAYERS.get(says.section)
    for match, fields in _named(says.observed, lines):
        said = _said(says.observed[match.end() :])
        field = _one(fields, layer, said)
        if field is None or (said is not None and not _agrees(field, said)):
            return None
        return _Found(field, said is not None) if said is not None or _UNMISTAKABLE.search(field.path[-1]) else None
    if not _WHOLE_VALUE.fullmatch(says.observed):
        return None
    for _, fields in _named(says.expected, lines):
        field = _one(fields, layer, says.observed)
        return _Found(field, True) if field is not None and _agrees(field, says.observed) else None
    return None


def _named(text: str, lines: Sequence[TreeLine]) -> Iterator[tuple[re.Match[str], list[TreeLine]]]:
    """Yield the names in a text that are fields of the packet, in their order, each with the fields that it may be."""
    for match in _NAME.finditer(text):
        *before, name = match[0].split(".")
        fields = [line for line in lines if len(line.path) > 1 and line.path[-1] == name and line.end > line.start]
        fields = [line for line in fields if _stand_in_order(before, line.path[:-1])]
        if fields:
            yield match, fields


def _stand_in_order(names: Iterable[str], path: Iterable[str]) -> bool:
    rest = iter(path)
    return all(name in rest for name in names)


def _one(fields: list[TreeLine], layer: str | None, said: str | None) -> TreeLine | None:
    """Return the field that is meant; None when it may be one or the other."""
    of_layer = [line for line in fields if line.path[0] == layer]
    for narrower in (fields, of_layer, [line for line in fields if said is not None and _agrees(line, said)]):
        if len(narrower) == 1:
            return narrower[0]
    return None


def _said(after: str) -> str | None:
    """Return the value that follows a name, if one does."""
    match = _VALUE.match(after)
    return match[1] if match else None


def _agrees(field: TreeLine, said: str) -> bool:
    value = field.value
    if isinstance(value, bool | int):
        return bool(_WHOLE_VALUE.fullmatch(said)) and int(said, 0 if said.startswith("0x") else 10) == value
    if isinstance(value, UUID):
        return said.strip("{}") == str(value)
    return isinstance(value, bytes) and bool(value) and value.hex() == said
