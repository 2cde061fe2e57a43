"""The deciding field of a verdict is the field that its text names, or none; tested on the eight frames of MS-MQQB
section 4.1.
"""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.capture.deciding import HEADER_NAME_BY_SECTION, DissectionLines, VerdictTexts, find_deciding_fields
from harness.capture.golden import GoldenFrame, load_golden_capture
from harness.rules.catalogue import load_index
from harness.wire import dissect, dissect_ping, has_bytes_when_rebuilt, list_dissection_lines, user_message

FRAMES = {frame.number: frame for frame in load_golden_capture().frames}
PING, ESTABLISH, PARAMETERS, MESSAGE, ACK = 1, 3, 5, 7, 8
SECTION = "MQQB-3.1.5"


def lines(number: int) -> DissectionLines:
    frame = FRAMES[number]
    packet = (dissect_ping if frame.transport == "udp" else dissect)(frame.data)
    assert has_bytes_when_rebuilt(packet, frame.data)
    return DissectionLines(list_dissection_lines(packet))


def place(number: int, observed: str, expected: str = "", section: str = SECTION) -> tuple[int, int] | None:
    """Return the first and the last byte of the deciding field."""
    (field,) = find_deciding_fields([lines(number)], VerdictTexts(section, expected, observed))
    return None if field is None else (field.start, field.end - 1)


def printed(frame: GoldenFrame) -> list[tuple[str, int | UUID | bytes]]:
    """Return the fields that are not texts, by header and name. SecurityData is omitted from the names, because the
    layer has no such field.
    """
    return [
        (name.replace(".SecurityData", ""), value)
        for name, value in frame.fields.items()
        if not isinstance(value, str) and value != b""
    ]


@pytest.mark.parametrize("frame", FRAMES.values(), ids=lambda frame: f"frame-{frame.number}")
def test_deciding_field_is_found_by_its_printed_name_and_value(frame: GoldenFrame) -> None:
    for name, value in printed(frame):
        said = value.hex() if isinstance(value, bytes) else value
        found = place(frame.number, f"{name} {said}")
        assert found is not None, name
        there = frame.data[found[0] : found[1] + 1]
        if isinstance(value, int):
            number = int.from_bytes(there, "little")
            assert number == value or bin(value)[2:] in bin(number), name  # of a bit its word
        else:
            assert there == (value if isinstance(value, bytes) else value.bytes_le), name


@pytest.mark.parametrize("frame", FRAMES.values(), ids=lambda frame: f"frame-{frame.number}")
def test_field_with_different_value_is_not_the_deciding_field(frame: GoldenFrame) -> None:
    for name, value in printed(frame):
        if isinstance(value, int):
            assert place(frame.number, f"{name} {value + 1}") is None, name
            assert place(frame.number, f"{name} {value + 1:#x}", expected=f"{name} {value}") is None, name


@pytest.mark.parametrize(
    ("number", "observed", "expected", "section", "found"),
    [
        (ACK, "AckSequenceNumber 1", "", SECTION, (20, 21)),
        (ACK, "AckSequenceNumber is 1 (in the first of 3 packets)", "", SECTION, (20, 21)),
        (ACK, "AckSequenceNumber=0x1", "", SECTION, (20, 21)),
        (ACK, "{'AckSequenceNumber': 1, 'WindowSize': 64}", "", SECTION, (20, 21)),
        (ACK, "closed after AckSequenceNumber", "", SECTION, (20, 21)),
        (ACK, "AckSequenceNumbers 1", "", SECTION, None),  # a whole word
        (ACK, "ackSequenceNumber 1", "", SECTION, None),  # spelled as printed
        (ACK, "1", "AckSequenceNumber of what came", SECTION, (20, 21)),
        (ACK, "2", "AckSequenceNumber of what came", SECTION, None),  # no value of that field
        (ACK, "closed", "AckSequenceNumber 1", SECTION, None),
        (ACK, "closed", "closed", SECTION, None),
        (ACK, "", "", SECTION, None),
        (ACK, "Reserved", "", SECTION, None),  # of three headers
        (ACK, "SessionHeader.Reserved 0", "", SECTION, (34, 35)),
        (ACK, "Reserved 0", "", "MQMQ-2.2.20.4", (34, 35)),  # of the header whose section the rule is of
        (ACK, "BaseHeader.WindowSize 64", "", SECTION, None),  # it has none
        (ACK, "Signature of the message", "", SECTION, None),  # a word of sentences, too
        (ACK, "Signature 0x524F494C", "", SECTION, (4, 7)),
        (ACK, "UserHeader.MessageID 1", "", SECTION, None),
        (PING, "Cookie 4", "", SECTION, (4, 7)),
        (ESTABLISH, "SE 1", "", "MQQB-2.2.3.1", (56, 57)),
        (MESSAGE, "TimeToReachQueue: 345600", "", SECTION, (12, 15)),
    ],
)
def test_ambiguous_field_is_not_the_deciding_field(
    number: int, observed: str, expected: str, section: str, found: tuple[int, int] | None
) -> None:
    assert place(number, observed, expected, section) == found


@pytest.mark.parametrize(
    ("expected", "observed", "sentence", "found"),
    [
        ("1", "1", "AckSequenceNumber counts what came.", (20, 21)),
        ("2", "1", "Its AckSequenceNumber counts what came.", (20, 21)),  # a miss
        ("2", "2", "AckSequenceNumber counts what came.", None),
        ("1", "1 of 2", "AckSequenceNumber counts what came.", None),
        ("closed", "closed", "AckSequenceNumber counts what came.", None),
        ("WindowSize 64", "1", "AckSequenceNumber counts what came.", None),  # what was expected comes first
        ("WindowSize 64", "0x40", "AckSequenceNumber counts what came.", (32, 33)),
        ("LIOR", "4c 49 4f 52", "Signature is LIOR.", (4, 7)),
    ],
)
def test_bare_value_belongs_to_field_that_rule_names(
    expected: str, observed: str, sentence: str, found: tuple[int, int] | None
) -> None:
    (field,) = find_deciding_fields([lines(ACK)], VerdictTexts(SECTION, expected, observed, sentence))
    assert (field and (field.start, field.end - 1)) == found


def test_observed_texts_match_values_of_every_kind() -> None:
    packet = dissect(bytes(user_message(label="a 'b'", body=b"\1\2", ExtensionData=b"xy")))
    found = {line.path[-1]: line for line in list_dissection_lines(packet)}
    for name, said in (
        ("Label", "Label is \"a 'b'\" (in 1 packet)"),
        ("MessageBody", "MessageBody 0102"),
        ("ExtensionData", "ExtensionData = b'xy'"),
        ("SourceQueueManager", "SourceQueueManager {00000000-0000-0000-0000-000000000000}"),
    ):
        (field,) = find_deciding_fields(
            [DissectionLines(list_dissection_lines(packet))], VerdictTexts(SECTION, "", said)
        )
        assert field is not None, name
        assert (field.start, field.end) == (found[name].start, found[name].end)
    assert find_deciding_fields(
        [DissectionLines(list_dissection_lines(packet))], VerdictTexts(SECTION, "", "Label is 'another'")
    ) == [None]


def test_only_packets_with_the_value_are_deciding() -> None:
    packets = [lines(PARAMETERS), lines(ACK), DissectionLines(), lines(ACK)]
    windows = [next(line for line in one if line.path[-1] == "WindowSize") for one in (packets[0], packets[1])]
    assert windows[0].start != windows[1].start
    by_value = find_deciding_fields(packets, VerdictTexts(SECTION, "", "WindowSize 64"))
    assert [field and field.start for field in by_value] == [windows[0].start, windows[1].start, None, windows[1].start]
    assert find_deciding_fields(packets, VerdictTexts(SECTION, "", "another WindowSize")) == [None] * 4  # of whichever
    alone = find_deciding_fields([lines(PING), lines(ACK)], VerdictTexts(SECTION, "", "another WindowSize"))
    assert [field and field.start for field in alone] == [None, windows[1].start]


def test_table_of_layers_names_existing_sections_and_headers() -> None:
    sections = {name.rpartition("-")[0] for name in load_index()}
    assert set(HEADER_NAME_BY_SECTION) <= sections
    from harness import wire

    assert all(isinstance(getattr(wire, layer), type) for layer in HEADER_NAME_BY_SECTION.values())
