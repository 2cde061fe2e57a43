"""Find the bytes that decide a verdict. They belong to the field that the observation or the expectation of the verdict
names.

Checks need not name the field. The deciding field is the first field of the packet that the observation names, spelled
as in the specification. If the observation is only a value, the expectation is searched for a field name, then the
sentence of the rule. No field is returned if several fields are possible, or if the value in the text differs from the
value in the packet. A wrong field would mislead the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple
from uuid import UUID

from harness.wire import TreeLine

HEADER_NAME_BY_SECTION: Mapping[str, str] = {
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
"""For each document and section, the header to which a field name refers if several headers have a field with this
name.
"""

_FIELD_NAME_PATTERN = re.compile(r"(?<![\w.])[A-Za-z]\w*(?:\.[A-Za-z]\w*)*")
_TEXT_BEFORE_VALUE_PATTERN = re.compile(r"'?\s*(?:is|was|=|:)?\s*")
_VALUE_LIKE_TEXT_PATTERN = re.compile(r"['\"{]|0x|\d|(?:[0-9a-f]{2} ?){2,}\b", re.IGNORECASE)
_END_OF_VALUE_PATTERN = re.compile(r"(?![\w-])")
_COMPOUND_NAME_PATTERN = re.compile(r"[a-z][A-Z]")
"""Matches a field name of several words, such as AckSequenceNumber. Field names such as Signature, Label, IN and SE do
not match, because they can be ordinary words.
"""


class DissectionLines(tuple[TreeLine, ...]):
    """The lines of a packet's dissection, with an index of the fields by name."""

    @cached_property
    def lines_by_field_name(self) -> dict[str, list[TreeLine]]:
        """The lines of the fields that have bytes in the packet, by the last component of the field's path."""
        found: dict[str, list[TreeLine]] = {}
        for line in self:
            if len(line.path) > 1 and line.end > line.start:
                found.setdefault(line.path[-1], []).append(line)
        return found


class VerdictTexts(NamedTuple):
    """The texts of a verdict: the document and section of its rule (``MQMQ-2.2.19.1``), the expectation, the
    observation, and ``sentence``, which is the sentence of the rule.
    """

    section: str
    expected: str
    observed: str
    sentence: str = ""


class _FoundField(NamedTuple):
    line: TreeLine
    contains_value: bool
    """Whether the text contains the value of the field."""


def find_deciding_fields(packets: Sequence[DissectionLines], says: VerdictTexts) -> list[TreeLine | None]:
    """Return, for each packet of a verdict, the field that decides the verdict, or None if no field of the packet
    decides it. ``packets`` contains the lines of the dissections.

    If the text contains a value, a packet has a deciding field only if the field has this value. If the text
    contains no value, the field decides only if exactly one packet has it.
    """
    found = [_find_fields_in_packet(lines, says) for lines in packets]
    alone = sum(one is not None for one in found) == 1
    return [one.line if one is not None and (alone or one.contains_value) else None for one in found]


def _find_fields_in_packet(lines: DissectionLines, says: VerdictTexts) -> _FoundField | None:
    layer = HEADER_NAME_BY_SECTION.get(says.section)
    for match, fields in _find_named_fields(says.observed, lines):
        after = says.observed[_TEXT_BEFORE_VALUE_PATTERN.match(says.observed, match.end()).end() :]  # type: ignore[union-attr]
        field = _choose_referenced_field(fields, layer, after)
        if field is None:
            return None
        if _begins_with_value(field, after):
            return _FoundField(field, True)
        mistakable = _VALUE_LIKE_TEXT_PATTERN.match(after) or not _COMPOUND_NAME_PATTERN.search(field.path[-1])
        return None if mistakable else _FoundField(field, False)
    for text in (says.expected, says.sentence):
        for _, fields in _find_named_fields(text, lines):
            field = _choose_referenced_field(fields, layer, says.observed)
            return (
                _FoundField(field, True)
                if field is not None and says.observed in _list_printed_forms_of_value(field)
                else None
            )
    return None


def _find_named_fields(text: str, lines: DissectionLines) -> Iterator[tuple[re.Match[str], list[TreeLine]]]:
    """Yield each name in a text that is also a field name in the packet, together with the fields of this name."""
    for match, before, name in _find_possible_field_names(text):
        fields = [
            line for line in lines.lines_by_field_name.get(name, ()) if _contains_words_in_order(before, line.path[:-1])
        ]
        if fields:
            yield match, fields


@lru_cache(maxsize=4096)
def _find_possible_field_names(text: str) -> list[tuple[re.Match[str], list[str], str]]:
    """Return the words of a text that can be names of fields. If a word is the last part of a dotted path, the
    preceding names in the path are returned together with the word.
    """
    return [
        (match, match[0].split(".")[:-1], match[0].rpartition(".")[2]) for match in _FIELD_NAME_PATTERN.finditer(text)
    ]


def _contains_words_in_order(names: Iterable[str], path: Iterable[str]) -> bool:
    rest = iter(path)
    return all(name in rest for name in names)


def _choose_referenced_field(fields: list[TreeLine], layer: str | None, text: str) -> TreeLine | None:
    """From several fields with the same name, return the field to which a text refers, or None if the text is
    ambiguous.
    """
    of_layer = [line for line in fields if line.path[0] == layer]
    for narrower in (fields, of_layer, [line for line in fields if _begins_with_value(line, text)]):
        if len(narrower) == 1:
            return narrower[0]
    return None


def _begins_with_value(field: TreeLine, text: str) -> bool:
    """Return whether a text begins with the value of a field, in any form that a verdict may print."""
    return any(
        text.startswith(form) and _END_OF_VALUE_PATTERN.match(text, len(form))
        for form in _list_printed_forms_of_value(field)
    )


def _list_printed_forms_of_value(field: TreeLine) -> set[str]:
    """Return all forms in which a verdict may print the value of a field."""
    value, size = field.value, field.end - field.start
    if isinstance(value, int):
        octets = value.to_bytes(size, "little", signed=value < 0).hex(" ")
        numbers = {f"0x{value:{letter}}" for letter in ("x", "X")} | {
            f"0x{value:0{2 * size}{letter}}" for letter in "xX"
        }
        return {str(int(value)), *numbers, *({octets, octets.upper()} if size > 1 else ())}
    if isinstance(value, UUID):
        return {str(value), f"{{{value}}}"}
    if isinstance(value, bytes):
        return {value.hex(), repr(value)} if value else set()
    return {repr(value)} if isinstance(value, str) and value else set()
