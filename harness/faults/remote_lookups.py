"""Faults of timers of calls and of reading by LookupId. Spec: MS-MQQP 2.2.2.1, 3.1.2, 3.1.4.11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import during
from harness.faults.registry import Install, add
from harness.faults.remote_reading import DESC, LOOKUP, Wrapped, instead, rules
from reference_qm.core.queueing.reading import Reading
from reference_qm.core.remote.enums import INFINITE_MS, RECEIVING, ReadAction
from reference_qm.core.remote.reading import RemoteReads
from reference_qm.model.enums import MessageSeekAction


def _timed(change: Callable[[int], int]) -> Install:
    """Let reads wait for another time."""

    def timed(original: Wrapped, qm: Any, entry: Any, *arguments: Any) -> None:
        entry.Timeout = change(entry.Timeout)
        original(qm, entry, *arguments)

    return instead(RemoteReads.remote_receive, timed)


def _timers() -> None:
    first: list[int] = []

    def of_the_first(timeout_ms: int) -> int:
        if timeout_ms:
            first.append(timeout_ms)
        return first[0] if timeout_ms else 0

    def forget(faulty: Any) -> None:
        first.clear()
        _timed(of_the_first)(faulty)

    def not_infinite(timeout_ms: int) -> int:
        return 1000 if timeout_ms == INFINITE_MS else timeout_ms

    add("remote-infinite-is-a-second", f"{DESC}02", "0xFFFFFFFF is a second.", _timed(not_infinite))
    add(
        "remote-no-call-timer",
        "MQQP-3.1.2-01",
        "A read with a time-out waits for ever.",
        _timed(lambda timeout_ms: INFINITE_MS if timeout_ms else 0),
    )
    add("remote-one-call-timer", "MQQP-3.1.2-02", "All calls have the time-out of the first.", forget)
    add("remote-call-timer-doubled", "MQQP-3.1.2-03", "A read waits twice its time-out.", _timed(lambda ms: 2 * ms))


def _sought(change: Callable[[MessageSeekAction, int], MessageSeekAction]) -> Install:
    def get_lookup_operation(original: Wrapped, qm: Any, action: Any, lookup_id: int) -> MessageSeekAction:
        return change(original(qm, action, lookup_id), lookup_id)

    return instead(RemoteReads.get_lookup_operation, get_lookup_operation)


def _as(found: MessageSeekAction, other: MessageSeekAction) -> Install:
    return _sought(lambda seek, lookup_id: other if seek is found else seek)


def _lookups() -> None:
    seek = MessageSeekAction

    def at_once(original: Wrapped, *_: Any) -> Wrapped:
        return lambda *arguments, **named: original(*arguments, **{**named, "two_phase_read": False})

    def taken(original: Wrapped, qm: Any, entry: Any, *arguments: Any) -> None:
        if entry.Action not in RECEIVING:
            entry.Action = ReadAction(entry.Action + 0x10)
        original(qm, entry, *arguments)

    for name, breaks, says, install in (
        (
            "current-is-next",
            rules((LOOKUP, "37 39 45")),
            "CURRENT is the message behind.",
            _as(seek.CURRENT, seek.NEXT),
        ),
        (
            "peek-takes",
            rules((LOOKUP, "40")),
            "A peek takes the message.",
            instead(RemoteReads.remote_read_by_lookup, taken),
        ),
        (
            "first-is-next",
            rules((LOOKUP, "42")),
            "NEXT of 0 is the message behind 0.",
            _as(seek.FIRST, seek.NEXT),
        ),
        (
            "last-is-previous",
            rules((LOOKUP, "43")),
            "PREV of all ones is the message before it.",
            _as(seek.LAST, seek.PREVIOUS),
        ),
        (
            "previous-is-current",
            rules((LOOKUP, "41 44")),
            "PREV is the message itself.",
            _as(seek.PREVIOUS, seek.CURRENT),
        ),
        (
            "next-is-current",
            rules((LOOKUP, "46")),
            "NEXT is the message itself.",
            _as(seek.NEXT, seek.CURRENT),
        ),
        (
            "nothing-is-first",
            rules((LOOKUP, "09 14")),
            "A LookupId of 0 is the first message.",
            _sought(lambda found, lookup_id: found if lookup_id else seek.FIRST),
        ),
        (
            "in-one-phase",
            rules((LOOKUP, "30 36")),
            "A receive takes its message at once.",
            during(RemoteReads.remote_read_by_lookup, Reading.read_by_lookup_identifier, at_once),
        ),
    ):
        add(f"remote-lookup-{name}", breaks, says, install)


_timers()
_lookups()
