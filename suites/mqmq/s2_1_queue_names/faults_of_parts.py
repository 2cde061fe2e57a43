"""Faults in single parts of format names that the sender accepts: MQMQ-2.1.2-01 and MQMQ-2.1.5-01."""

from __future__ import annotations

import re
from collections.abc import Callable

from harness.faults.registry import add
from suites.mqmq.s2_1_queue_names.faults import change_format_name_of_send_requests


def _make_pattern_replacer(pattern: str, meant: str) -> Callable[[str], str]:
    """Return a function that replaces a pattern in a format name."""
    return lambda name: re.sub(pattern, meant, name)


for _name, _rule, _says, _pattern, _meant in (
    (
        "direct-name-without-address",
        "MQMQ-2.1.2-01",
        "a direct format name whose address is empty, and reads it as the address 127.0.0.9",
        r"(?i)^DIRECT=TCP:\\",
        r"DIRECT=TCP:127.0.0.9\\",
    ),
    (
        "direct-name-without-path-name",
        "MQMQ-2.1.2-01",
        "a direct format name without a path name, and reads it as the name of the private queue q",
        r"(?i)^DIRECT=TCP:([0-9.]+)\\?$",
        r"DIRECT=TCP:\1\\private$\\q",
    ),
    (
        "direct-name-without-protocol",
        "MQMQ-2.1.2-01",
        "a direct format name without a protocol, and reads its protocol as TCP",
        r"(?i)^DIRECT=(?![A-Z]+:)",
        r"DIRECT=TCP:",
    ),
    (
        "distribution-list-name-in-braces",
        "MQMQ-2.1.5-01",
        "a distribution list format name whose GUID is in braces",
        r"(?i)^DL=\{([0-9A-F-]+)\}",
        r"DL=\1",
    ),
    (
        "distribution-list-name-with-suffix",
        "MQMQ-2.1.5-01",
        "a distribution list format name with the suffix of a journal",
        r"(?i)^(DL=[0-9A-F-]+);JOURNAL$",
        r"\1",
    ),
):
    add(
        f"sender-{_name}-accepted",
        _rule,
        f"The sender accepts {_says}.",
        change_format_name_of_send_requests(_make_pattern_replacer(_pattern, _meant)),
        blind=True,
    )
