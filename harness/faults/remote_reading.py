"""Faults of reading from afar. Spec: MS-MQQP 2.2.2.1, 3.1.2, 3.1.4.1, 3.1.4.10, 3.1.4.11."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import both, during, procedure, skip
from harness.faults.registry import Install, add
from reference_qm.core.remote.enums import ReadAction
from reference_qm.core.remote.opening import RemoteOpening
from reference_qm.core.remote.reading import RemoteReads
from reference_qm.core.remote.starting import RemoteStarting
from reference_qm.model.statuses import Status

START, START2, LOOKUP, DESC = "MQQP-3.1.4.1-", "MQQP-3.1.4.10-", "MQQP-3.1.4.11-", "MQQP-2.2.2.1-"
INFORMATION = 0x400E0000
"""A status that is neither MQ_OK nor a failure."""
Wrapped = Callable[..., Any]


def rules(*sections: tuple[str, str]) -> tuple[str, ...]:
    """Give rule ids of sections: (prefix, "01 02")."""
    return tuple(prefix + number for prefix, numbers in sections for number in numbers.split())


def instead(name: Method, replacement: Callable[..., Any]) -> Install:
    """Replace a procedure; the replacement gets the original first."""
    return procedure(name, lambda original: lambda *arguments, **named: replacement(original, *arguments, **named))


def _as_action(change: Callable[[Any], ReadAction]) -> Install:
    """Answer a read as if its action were another one."""

    def answer_read(original: Wrapped, qm: Any, call: Any, status: Any, entry: Any = None) -> None:
        if entry is not None:
            entry.Action = change(entry)
        original(qm, call, status, entry)

    return instead(RemoteReads.answer_read, answer_read)


def _answers() -> None:
    def unhandled(entry: Any) -> ReadAction:
        return ReadAction.MQ_ACTION_PEEK_CURRENT

    def handled(entry: Any) -> ReadAction:
        return ReadAction.MQ_ACTION_RECEIVE

    def success(original: Wrapped, qm: Any, call: Any, status: Any, entry: Any = None) -> None:
        original(qm, call, Status.MQ_OK, entry)

    def information(original: Wrapped, qm: Any, call: Any, status: Any, entry: Any = None) -> None:
        original(qm, call, INFORMATION if status is Status.MQ_OK else status, entry)

    def no_packet(original: Wrapped, qm: Any, position: Any) -> Any:
        return {**original(qm, position), "lpBuffer": None, "dwSize": 0}

    def relabelled(original: Wrapped, qm: Any, position: Any) -> bytes:
        found = original(qm, position)
        text = "first".encode("utf-16-le")
        return bytes(found.replace(text, "other".encode("utf-16-le")))

    def padded(original: Wrapped, qm: Any, position: Any) -> bytes:
        return bytes(original(qm, position)) + bytes(4)

    add(
        "remote-receive-without-handle",
        rules((START, "05"), (START2, "02"), (LOOKUP, "02 57"), ("MQQP-2.2.1.2-", "01")),
        "A receive brings no context handle.",
        _as_action(unhandled),
    )
    add(
        "remote-peek-with-handle",
        rules((START, "06"), (START2, "03 54"), (LOOKUP, "03")),
        "A peek brings a context handle.",
        _as_action(handled),
    )
    add(
        "remote-failures-succeed",
        rules((START, "10"), (START2, "10"), (LOOKUP, "18 58")),
        "A read that fails returns MQ_OK.",
        instead(RemoteReads.answer_read, success),
    )
    add(
        "remote-reads-inform",
        rules((START2, "09 55"), (START, "10"), (LOOKUP, "58")),
        "A read that succeeds returns another status than MQ_OK.",
        instead(RemoteReads.answer_read, information),
    )
    add(
        "remote-packet-left-out",
        rules((START, "19"), (START2, "50"), (LOOKUP, "53"), (DESC, "10")),
        "lpBuffer is NULL.",
        instead(RemoteReads.describe_remote_message, no_packet),
    )
    add(
        "remote-packet-of-another",
        rules((START, "13 14"), (START2, "44 45"), (LOOKUP, "47 48")),
        "The packet is not that of the message.",
        instead(RemoteReads.serialize_remote_message, relabelled),
    )
    add(
        "remote-packet-padded",
        rules((START, "16 20"), (START2, "47 51"), (LOOKUP, "50 54"), (DESC, "03")),
        "Four bytes follow the packet, and dwSize counts them.",
        instead(RemoteReads.serialize_remote_message, padded),
    )
    add(
        "remote-sequential-id-wrong",
        rules((START2, "05 52"), (LOOKUP, "06 55")),
        "SequentialId is one too high.",
        instead(RemoteReads.get_sequential_id, lambda original, qm, position: original(qm, position) + 1),
    )
    for name, number, change, says in (
        ("arrival-time-unset", "07", lambda seconds: 0, "dwArriveTime is 0."),
        ("arrival-time-in-minutes", "08", lambda seconds: seconds // 60, "dwArriveTime is in minutes."),
    ):
        add(f"remote-{name}", DESC + number, says, instead(RemoteReads.describe_remote_message, _arrived(change)))


def _arrived(change: Callable[[int], int]) -> Wrapped:
    def describe_remote_message(original: Wrapped, qm: Any, position: Any) -> Any:
        found = original(qm, position)
        return {**found, "dwArriveTime": change(found["dwArriveTime"])}

    return describe_remote_message


def _taken_for(check: Method, change: Callable[[Any, Any], None]) -> Install:
    """Change a description where it should be refused, and take it."""

    def checked(original: Wrapped, qm: Any, desc: Any) -> Status:
        if original(qm, desc) and desc is not None:
            change(qm, desc)
        return Status.MQ_OK

    return instead(check, checked)


def _only_queue(qm: Any, desc: Any) -> None:
    desc["hRemoteQueue"] = desc["dwQueue"] = next(iter(qm.descriptors))


def _action(action: ReadAction) -> Callable[[Any, Any], None]:
    return lambda qm, desc: desc.update(ulAction=action)


def _refusing(when: Callable[[Any], bool]) -> Install:
    """Refuse descriptions that are to be taken."""

    def check_description(original: Wrapped, qm: Any, desc: Any) -> Status:
        refused = desc is not None and when(desc)
        return Status.MQ_ERROR_INVALID_PARAMETER if refused else original(qm, desc)

    return instead(RemoteStarting.check_description, check_description)


def _descriptions() -> None:
    peek, first = ReadAction.MQ_ACTION_PEEK_CURRENT, ReadAction.MQ_LOOKUP_PEEK_NEXT

    def used_anywhere(original: Wrapped, qm: Any, desc: Any) -> Status:
        used = {read.RequestId for read in qm.remote.reads.values()}
        return Status.MQ_ERROR_INVALID_PARAMETER if desc["dwRequestID"] in used else Status.MQ_OK

    def null_is_nothing(original: Wrapped, qm: Any, desc: Any) -> Status:
        return Status.MQ_ERROR_INVALID_PARAMETER if desc is None else original(qm, desc)

    for name, breaks, says, install in (
        (
            "queue-pointer-ignored",
            rules((START2, "14")),
            "dwQueue is not looked at.",
            skip(RemoteStarting.check_dw_queue),
        ),
        (
            "request-used-twice",
            rules((START, "12"), (START2, "15"), (DESC, "05")),
            "A dwRequestID that is in use is taken.",
            skip(RemoteStarting.check_request_id),
        ),
        (
            "request-used-anywhere",
            rules((START2, "16")),
            "A dwRequestID in use through another handle is refused.",
            instead(RemoteStarting.check_request_id, used_anywhere),
        ),
        (
            "peek-next-without-cursor",
            rules((START, "09"), (START2, "08 17")),
            "PEEK_NEXT without a cursor is PEEK_CURRENT.",
            _taken_for(RemoteStarting.check_peek_next_cursor, _action(peek)),
        ),
        (
            "unknown-action-peeks",
            rules((START, "08"), (START2, "07")),
            "An unknown action is PEEK_CURRENT.",
            _taken_for(RemoteStarting.check_start_action, _action(peek)),
        ),
        (
            "session-not-needed",
            rules(
                (START, "03"),
                (START2, "18 19"),
                (LOOKUP, "25 26"),
                ("MQQP-3.1.4.3-", "02 08 09"),
                ("MQQP-3.1.4.4-", "07"),
            ),
            "A queue is read that RemoteQMOpenQueue has not opened.",
            both(skip(RemoteStarting.check_open_queue), skip(RemoteOpening.close_open_queue_entry)),
        ),
        (
            "null-description-other-status",
            rules((START2, "13")),
            "NULL for the description is an invalid parameter.",
            instead(RemoteStarting.check_description, null_is_nothing),
        ),
        (
            "any-queue-for-none",
            rules((START2, "06"), (LOOKUP, "05 21 22")),
            "A hRemoteQueue of 0 is the first that is open.",
            both(
                _taken_for(RemoteStarting.check_dw_queue, _only_queue),
                _taken_for(RemoteStarting.check_lookup_queue, _only_queue),
            ),
        ),
        (
            "lookup-with-cursor",
            rules((LOOKUP, "08 11 13 16 24")),
            "A cursor is taken and ignored.",
            skip(RemoteStarting.check_lookup_cursor),
        ),
        (
            "lookup-with-time-out",
            rules((LOOKUP, "10 12 15 17 21 23")),
            "A time-out is taken and ignored.",
            skip(RemoteStarting.check_lookup_timeout),
        ),
        (
            "lookup-unknown-action",
            rules((LOOKUP, "07")),
            "An unknown action is LOOKUP_PEEK_NEXT.",
            _taken_for(RemoteStarting.check_lookup_action, _action(first)),
        ),
        ("reserved-matters", rules((DESC, "06")), "Reserved is 0.", _refusing(lambda desc: desc["Reserved"] != 0)),
        ("ack-nack-matters", rules((DESC, "09")), "eAckNack is 0.", _refusing(lambda desc: desc["eAckNack"] != 0)),
        (
            "cursor-demanded",
            rules((START2, "23")),
            "Every read needs a cursor.",
            _refusing(lambda desc: not desc["hCursor"]),
        ),
    ):
        add(f"remote-{name}", breaks, says, install)


def _reads() -> None:
    def peeks(original: Wrapped, qm: Any, *arguments: Any) -> None:
        qm.remote_reads.remote_peek(*arguments)

    def takes(original: Wrapped, qm: Any, *arguments: Any) -> None:
        qm.remote_reads.remote_receive(*arguments)

    def any_cursor(kept: Wrapped, *outer: Any) -> Wrapped:
        def find_remote_cursor(qm: Any, descriptor: Any, handle: int) -> Any:
            return kept(qm, descriptor, handle) or next(iter(descriptor.CursorCollection.values()), None)

        return find_remote_cursor

    def first_cursor(original: Wrapped, qm: Any, descriptor: Any, handle: int) -> Any:
        found = original(qm, descriptor, handle)
        return next(reversed(descriptor.CursorCollection.values())) if found is not None else None

    def other_queue(original: Wrapped, qm: Any, handle: int) -> Any:
        found = original(qm, handle)
        return found if found is None else next(iter(qm.descriptors.values()))

    def not_kept(original: Wrapped, qm: Any, call: Any, desc: Any) -> Any:
        entry = original(qm, call, desc)
        qm.remote.RemoteReadEntryCollection.remove(entry)
        return entry

    for name, breaks, says, install in (
        (
            "receive-peeks",
            rules((START, "01"), (START2, "31")),
            "A receive leaves the message.",
            instead(RemoteReads.remote_receive, peeks),
        ),
        ("peek-takes", rules((START2, "36")), "A peek takes the message.", instead(RemoteReads.remote_peek, takes)),
        ("peek-next-stays", rules((START2, "40")), "PEEK_NEXT stays.", instead(RemoteReads.remote_peek_next, peeks)),
        (
            "unknown-cursor-taken",
            rules((START2, "22"), (DESC, "01"), ("MQQP-3.1.4.5-", "01 11")),
            "An unknown cursor is the first one.",
            during(RemoteStarting.remote_qm_start_receive2, RemoteStarting.find_remote_cursor, any_cursor),
        ),
        (
            "other-cursor-used",
            rules((START2, "21")),
            "The last cursor is used.",
            instead(RemoteStarting.find_remote_cursor, first_cursor),
        ),
        (
            "other-queue-read",
            rules((START2, "20"), (LOOKUP, "29")),
            "The first queue that is open is read.",
            instead(RemoteStarting.find_remote_descriptor, other_queue),
        ),
        (
            "read-not-kept",
            rules((START2, "24 30"), ("MQQP-3.1.1.3-", "01")),
            "A read that waits is not in the collection.",
            instead(RemoteStarting.create_remote_read_entry, not_kept),
        ),
        (
            "read-not-removed",
            rules((START2, "53"), (LOOKUP, "56")),
            "A read that is over stays in the collection.",
            skip(RemoteReads.remove_remote_read_entry),
        ),
    ):
        add(f"remote-{name}", breaks, says, install)


_answers()
_descriptions()
_reads()
