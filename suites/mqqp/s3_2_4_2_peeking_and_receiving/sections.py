"""The rules of MS-MQQP 3.2.4.2, 3.2.4.3, 3.2.4.5 and 3.2.4.6, grouped by subject.

The four sections state the same requirements for peeks and receives, with and without a cursor, in different orders.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import pytest

from harness.run.marks import covers
from suites.mqqp.steps.reader import Reading


@dataclass(frozen=True, slots=True)
class Section:
    """The rules of one section, by subject.

    ``entry``: the PendingRemoteReadEntry of a read; ``entry_removal_rule``: the removal of that entry. ``version``: the
    method that the client calls, depending on the version of the server. ``start_receive_rules``,
    ``start_receive2_rules``: the fields of RemoteQMStartReceive and of RemoteQMStartReceive2. ``message``: the use of
    the message that the server returned.
    """

    number: str
    reading: Reading
    entry: Mapping[str, str]
    version: Mapping[str, str]
    start_receive_rules: Mapping[str, str]
    start_receive2_rules: Mapping[str, str]
    message: Mapping[str, str]
    entry_removal_rule: str


# MS-MQQP 3.2.4.2 Peeking a Message
PEEKING_SECTION = Section(
    number="MQQP-3.2.4.2",
    reading=Reading.PEEK,
    entry={
        "create": "MQQP-3.2.4.2-02",
        "handle": "MQQP-3.2.4.2-03",
        "identifier": "MQQP-3.2.4.2-04",
        "unique": "MQQP-3.2.4.2-05",
        "add": "MQQP-3.2.4.2-06",
    },
    version={
        "version": "MQQP-3.2.4.2-07",
        "check": "MQQP-3.2.4.2-08",
        "below_5": "MQQP-3.2.4.2-09",
        "below_5_1": "MQQP-3.2.4.2-10",
        "early_build": "MQQP-3.2.4.2-11",
        "old": "MQQP-3.2.4.2-13",
        "new": "MQQP-3.2.4.2-23",
    },
    start_receive_rules={
        "hRemoteQueue": "MQQP-3.2.4.2-14",
        "dwQueue": "MQQP-3.2.4.2-15",
        "dwSize": "MQQP-3.2.4.2-16",
        "lpBuffer": "MQQP-3.2.4.2-17",
        "hCursor": "MQQP-3.2.4.2-18",
        "ulAction": "MQQP-3.2.4.2-19",
        "ulTimeout": "MQQP-3.2.4.2-20",
        "dwRequestID": "MQQP-3.2.4.2-21",
    },
    start_receive2_rules={
        "hRemoteQueue": "MQQP-3.2.4.2-24",
        "dwQueue": "MQQP-3.2.4.2-25",
        "dwSize": "MQQP-3.2.4.2-26",
        "lpBuffer": "MQQP-3.2.4.2-27",
        "hCursor": "MQQP-3.2.4.2-28",
        "ulAction": "MQQP-3.2.4.2-29",
        "ulTimeout": "MQQP-3.2.4.2-30",
        "dwRequestID": "MQQP-3.2.4.2-31",
        "SequentialId": "MQQP-3.2.4.2-32",
    },
    message={
        "message": "MQQP-3.2.4.2-35",
    },
    entry_removal_rule="MQQP-3.2.4.2-36",
)

# MS-MQQP 3.2.4.3 Receiving a Message
RECEIVING_SECTION = Section(
    number="MQQP-3.2.4.3",
    reading=Reading.RECEIVE,
    entry={
        "create": "MQQP-3.2.4.3-02",
        "handle": "MQQP-3.2.4.3-03",
        "identifier": "MQQP-3.2.4.3-04",
        "unique": "MQQP-3.2.4.3-05",
        "add": "MQQP-3.2.4.3-06",
    },
    version={
        "version": "MQQP-3.2.4.3-07",
        "check": "MQQP-3.2.4.3-08",
        "below_5": "MQQP-3.2.4.3-09",
        "below_5_1": "MQQP-3.2.4.3-10",
        "early_build": "MQQP-3.2.4.3-11",
        "old": "MQQP-3.2.4.3-13",
        "new": "MQQP-3.2.4.3-23",
    },
    start_receive_rules={
        "hRemoteQueue": "MQQP-3.2.4.3-14",
        "dwQueue": "MQQP-3.2.4.3-15",
        "hCursor": "MQQP-3.2.4.3-16",
        "dwSize": "MQQP-3.2.4.3-17",
        "lpBuffer": "MQQP-3.2.4.3-18",
        "ulAction": "MQQP-3.2.4.3-19",
        "ulTimeout": "MQQP-3.2.4.3-20",
        "dwRequestID": "MQQP-3.2.4.3-21",
    },
    start_receive2_rules={
        "hRemoteQueue": "MQQP-3.2.4.3-24",
        "dwQueue": "MQQP-3.2.4.3-25",
        "hCursor": "MQQP-3.2.4.3-26",
        "dwSize": "MQQP-3.2.4.3-27",
        "lpBuffer": "MQQP-3.2.4.3-28",
        "ulAction": "MQQP-3.2.4.3-29",
        "ulTimeout": "MQQP-3.2.4.3-30",
        "dwRequestID": "MQQP-3.2.4.3-31",
        "SequentialId": "MQQP-3.2.4.3-32",
    },
    message={
        "message": "MQQP-3.2.4.3-35",
        "read_handle": "MQQP-3.2.4.3-34",
        "end": "MQQP-3.2.4.3-36",
        "context": "MQQP-3.2.4.3-37",
        "ack": "MQQP-3.2.4.3-38",
    },
    entry_removal_rule="MQQP-3.2.4.3-39",
)

# MS-MQQP 3.2.4.5 Peeking a Message by Using a Cursor
PEEKING_BY_CURSOR_SECTION = Section(
    number="MQQP-3.2.4.5",
    reading=Reading.PEEK_NEXT_BY_CURSOR,
    entry={
        "create": "MQQP-3.2.4.5-02",
        "handle": "MQQP-3.2.4.5-03",
        "identifier": "MQQP-3.2.4.5-04",
        "unique": "MQQP-3.2.4.5-05",
        "add": "MQQP-3.2.4.5-06",
    },
    version={
        "version": "MQQP-3.2.4.5-07",
        "check": "MQQP-3.2.4.5-08",
        "below_5": "MQQP-3.2.4.5-09",
        "below_5_1": "MQQP-3.2.4.5-10",
        "early_build": "MQQP-3.2.4.5-11",
        "old": "MQQP-3.2.4.5-13",
        "new": "MQQP-3.2.4.5-23",
    },
    start_receive_rules={
        "hRemoteQueue": "MQQP-3.2.4.5-14",
        "dwQueue": "MQQP-3.2.4.5-15",
        "hCursor": "MQQP-3.2.4.5-16",
        "dwSize": "MQQP-3.2.4.5-17",
        "lpBuffer": "MQQP-3.2.4.5-18",
        "ulAction": "MQQP-3.2.4.5-19",
        "ulTimeout": "MQQP-3.2.4.5-20",
        "dwRequestID": "MQQP-3.2.4.5-21",
    },
    start_receive2_rules={
        "hRemoteQueue": "MQQP-3.2.4.5-24",
        "dwQueue": "MQQP-3.2.4.5-25",
        "hCursor": "MQQP-3.2.4.5-26",
        "dwSize": "MQQP-3.2.4.5-27",
        "lpBuffer": "MQQP-3.2.4.5-28",
        "ulAction": "MQQP-3.2.4.5-29",
        "ulTimeout": "MQQP-3.2.4.5-30",
        "dwRequestID": "MQQP-3.2.4.5-31",
        "SequentialId": "MQQP-3.2.4.5-32",
    },
    message={
        "message": "MQQP-3.2.4.5-35",
    },
    entry_removal_rule="MQQP-3.2.4.5-36",
)

# MS-MQQP 3.2.4.6 Receiving a Message by Using a Cursor
RECEIVING_BY_CURSOR_SECTION = Section(
    number="MQQP-3.2.4.6",
    reading=Reading.RECEIVE_BY_CURSOR,
    entry={
        "create": "MQQP-3.2.4.6-02",
        "handle": "MQQP-3.2.4.6-03",
        "identifier": "MQQP-3.2.4.6-04",
        "unique": "MQQP-3.2.4.6-05",
        "add": "MQQP-3.2.4.6-06",
    },
    version={
        "version": "MQQP-3.2.4.6-D01",
        "check": "MQQP-3.2.4.6-07",
        "below_5": "MQQP-3.2.4.6-08",
        "below_5_1": "MQQP-3.2.4.6-09",
        "early_build": "MQQP-3.2.4.6-10",
        "old": "MQQP-3.2.4.6-12",
        "new": "MQQP-3.2.4.6-22",
    },
    start_receive_rules={
        "hRemoteQueue": "MQQP-3.2.4.6-13",
        "dwQueue": "MQQP-3.2.4.6-14",
        "hCursor": "MQQP-3.2.4.6-15",
        "dwSize": "MQQP-3.2.4.6-16",
        "lpBuffer": "MQQP-3.2.4.6-17",
        "ulAction": "MQQP-3.2.4.6-18",
        "ulTimeout": "MQQP-3.2.4.6-19",
        "dwRequestID": "MQQP-3.2.4.6-20",
    },
    start_receive2_rules={
        "hRemoteQueue": "MQQP-3.2.4.6-23",
        "dwQueue": "MQQP-3.2.4.6-24",
        "hCursor": "MQQP-3.2.4.6-25",
        "dwSize": "MQQP-3.2.4.6-26",
        "lpBuffer": "MQQP-3.2.4.6-27",
        "ulAction": "MQQP-3.2.4.6-28",
        "ulTimeout": "MQQP-3.2.4.6-29",
        "dwRequestID": "MQQP-3.2.4.6-30",
        "SequentialId": "MQQP-3.2.4.6-31",
    },
    message={
        "message": "MQQP-3.2.4.6-34",
        "read_handle": "MQQP-3.2.4.6-33",
        "end": "MQQP-3.2.4.6-35",
        "context": "MQQP-3.2.4.6-36",
        "ack": "MQQP-3.2.4.6-37",
    },
    entry_removal_rule="MQQP-3.2.4.6-38",
)


READ_SECTIONS = (PEEKING_SECTION, RECEIVING_SECTION, PEEKING_BY_CURSOR_SECTION, RECEIVING_BY_CURSOR_SECTION)


def parametrize_section(rules: Callable[[Section], Iterable[str]]) -> pytest.MarkDecorator:
    """Return a decorator that runs a check for each section; ``rules`` returns the rules that the check judges for a
    section.
    """
    return pytest.mark.parametrize(
        "section",
        [pytest.param(section, marks=covers(*rules(section)), id=section.number) for section in READ_SECTIONS],
    )
