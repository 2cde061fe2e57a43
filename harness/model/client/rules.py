"""The rules about the calls of a client that reads remotely (MS-MQQP 3.2.4)."""

from __future__ import annotations

RULES_OF_PEEK_CALL = (
    *("MQQP-3.2.4.2-03", "MQQP-3.2.4.2-04", "MQQP-3.2.4.2-05", "MQQP-3.2.4.2-06", "MQQP-3.2.4.2-07"),
    *("MQQP-3.2.4.2-08", "MQQP-3.2.4.2-13", "MQQP-3.2.4.2-14", "MQQP-3.2.4.2-15", "MQQP-3.2.4.2-16"),
    *("MQQP-3.2.4.2-17", "MQQP-3.2.4.2-18", "MQQP-3.2.4.2-19", "MQQP-3.2.4.2-20", "MQQP-3.2.4.2-21"),
    *("MQQP-3.2.4.2-23", "MQQP-3.2.4.2-24", "MQQP-3.2.4.2-25", "MQQP-3.2.4.2-26", "MQQP-3.2.4.2-27"),
    *("MQQP-3.2.4.2-28", "MQQP-3.2.4.2-29", "MQQP-3.2.4.2-30", "MQQP-3.2.4.2-31", "MQQP-3.2.4.2-32"),
)
RULES_OF_PEEK_COMPLETION = (*("MQQP-3.2.4.2-35",),)
RULES_OF_RECEIVE_CALL = (
    *("MQQP-3.2.4.3-03", "MQQP-3.2.4.3-04", "MQQP-3.2.4.3-05", "MQQP-3.2.4.3-06", "MQQP-3.2.4.3-07"),
    *("MQQP-3.2.4.3-08", "MQQP-3.2.4.3-13", "MQQP-3.2.4.3-14", "MQQP-3.2.4.3-15", "MQQP-3.2.4.3-16"),
    *("MQQP-3.2.4.3-17", "MQQP-3.2.4.3-18", "MQQP-3.2.4.3-19", "MQQP-3.2.4.3-20", "MQQP-3.2.4.3-21"),
    *("MQQP-3.2.4.3-23", "MQQP-3.2.4.3-24", "MQQP-3.2.4.3-25", "MQQP-3.2.4.3-26", "MQQP-3.2.4.3-27"),
    *("MQQP-3.2.4.3-28", "MQQP-3.2.4.3-29", "MQQP-3.2.4.3-30", "MQQP-3.2.4.3-31", "MQQP-3.2.4.3-32"),
)
RULES_OF_RECEIVE_COMPLETION = (*("MQQP-3.2.4.3-35", "MQQP-3.2.4.3-36", "MQQP-3.2.4.3-37", "MQQP-3.2.4.3-38"),)
RULES_OF_PEEK_CALL_WITH_CURSOR = (
    *("MQQP-3.2.4.5-03", "MQQP-3.2.4.5-04", "MQQP-3.2.4.5-05", "MQQP-3.2.4.5-06", "MQQP-3.2.4.5-07"),
    *("MQQP-3.2.4.5-08", "MQQP-3.2.4.5-13", "MQQP-3.2.4.5-14", "MQQP-3.2.4.5-15", "MQQP-3.2.4.5-16"),
    *("MQQP-3.2.4.5-17", "MQQP-3.2.4.5-18", "MQQP-3.2.4.5-19", "MQQP-3.2.4.5-20", "MQQP-3.2.4.5-21"),
    *("MQQP-3.2.4.5-23", "MQQP-3.2.4.5-24", "MQQP-3.2.4.5-25", "MQQP-3.2.4.5-26", "MQQP-3.2.4.5-27"),
    *("MQQP-3.2.4.5-28", "MQQP-3.2.4.5-29", "MQQP-3.2.4.5-30", "MQQP-3.2.4.5-31", "MQQP-3.2.4.5-32"),
)
RULES_OF_PEEK_COMPLETION_WITH_CURSOR = (*("MQQP-3.2.4.5-35",),)
RULES_OF_RECEIVE_CALL_WITH_CURSOR = (
    *("MQQP-3.2.4.6-03", "MQQP-3.2.4.6-04", "MQQP-3.2.4.6-05", "MQQP-3.2.4.6-06", "MQQP-3.2.4.6-07"),
    *("MQQP-3.2.4.6-12", "MQQP-3.2.4.6-13", "MQQP-3.2.4.6-14", "MQQP-3.2.4.6-15", "MQQP-3.2.4.6-16"),
    *("MQQP-3.2.4.6-17", "MQQP-3.2.4.6-18", "MQQP-3.2.4.6-19", "MQQP-3.2.4.6-20", "MQQP-3.2.4.6-22"),
    *("MQQP-3.2.4.6-23", "MQQP-3.2.4.6-24", "MQQP-3.2.4.6-25", "MQQP-3.2.4.6-26", "MQQP-3.2.4.6-27"),
    *("MQQP-3.2.4.6-28", "MQQP-3.2.4.6-29", "MQQP-3.2.4.6-30", "MQQP-3.2.4.6-31", "MQQP-3.2.4.6-D01"),
)
RULES_OF_RECEIVE_COMPLETION_WITH_CURSOR = (
    *("MQQP-3.2.4.6-34", "MQQP-3.2.4.6-35", "MQQP-3.2.4.6-36", "MQQP-3.2.4.6-37"),
)

RULES_BY_KIND_OF_READ = {
    (False, False): RULES_OF_PEEK_CALL,
    (True, False): RULES_OF_RECEIVE_CALL,
    (False, True): RULES_OF_PEEK_CALL_WITH_CURSOR,
    (True, True): RULES_OF_RECEIVE_CALL_WITH_CURSOR,
}
"""The rules about the call that begins a read. The first part of the key states whether the read is a receive, the
second part whether the read uses a cursor.
"""
END_RULES_BY_KIND_OF_READ = {
    (False, False): RULES_OF_PEEK_COMPLETION,
    (True, False): RULES_OF_RECEIVE_COMPLETION,
    (False, True): RULES_OF_PEEK_COMPLETION_WITH_CURSOR,
    (True, True): RULES_OF_RECEIVE_COMPLETION_WITH_CURSOR,
}
"""The rules about the message that a read returns, and about the end of the read. The first part of the key states
whether the read is a receive, the second part whether the read uses a cursor.
"""
