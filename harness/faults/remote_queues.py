"""Faults of opening, ending and closing from afar. Spec: MS-MQQP 3.1.1, 3.1.4.2 to 3.1.4.5, 3.1.6."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.parts import Method
from harness.faults.primitives import afterwards, both, during, skip
from harness.faults.registry import Install, add
from harness.faults.remote_reading import Wrapped, instead, rules
from reference_qm.core.queueing.cursors import Cursors
from reference_qm.core.queueing.opening import QueueOpening
from reference_qm.core.remote.ending import RemoteEnding
from reference_qm.core.remote.opening import RemoteOpening
from reference_qm.core.remote.starting import RemoteStarting
from reference_qm.core.remote_client.cancelling import ClientCancelling
from reference_qm.model.statuses import Status

END, OPEN, CLOSE, CURSOR = "MQQP-3.1.4.2-", "MQQP-3.1.4.3-", "MQQP-3.1.4.4-", "MQQP-3.1.4.5-"
ERROR = Status.MQ_ERROR


def responding(name: Method, change: Callable[[Any, dict[str, Any]], dict[str, Any]]) -> Install:
    """Let a method answer otherwise; ``change`` gets the call and its results."""

    def carried_out(original: Wrapped, qm: Any, call: Any, now: Any) -> None:
        original(qm, Changed(call, change), now)

    return instead(name, carried_out)


class Changed:
    """A call whose answer is changed on its way."""

    def __init__(self, call: Any, change: Callable[[Any, dict[str, Any]], dict[str, Any]]) -> None:
        self._call = call
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> Any:
        return self._call.respond(**self._change(self._call, results))


def failing(call: Any, results: dict[str, Any]) -> dict[str, Any]:
    """Return an error instead of MQ_OK."""
    return {**results, "Return": ERROR} if results["Return"] == Status.MQ_OK else results


def succeeding(call: Any, results: dict[str, Any]) -> dict[str, Any]:
    """Return MQ_OK whatever came of it."""
    return {**results, "Return": Status.MQ_OK}


def _kept(call: Any, results: dict[str, Any]) -> dict[str, Any]:
    return {**results, "pphContext": call.handle}


def nothing(*arguments: Any, **named: Any) -> Callable[..., None]:
    """Make a procedure that does nothing, for ``during``."""
    return lambda *inner, **inner_named: None


def _ending() -> None:
    begun: list[Any] = []

    def remembered(original: Wrapped, *arguments: Any) -> Any:
        begun.append(original(*arguments))
        return begun[-1]

    def of_the_first(original: Wrapped, qm: Any, entry: Any, delete_message: bool, ended: Any) -> None:
        locked = [one for one in begun if not one.ended and one.UserMessagePacket is not None]
        original(qm, locked[0] if locked else entry, delete_message, ended)

    def forgetful(faulty: Any) -> None:
        begun.clear()
        both(
            instead(RemoteStarting.create_remote_read_entry, remembered),
            instead(RemoteEnding.end_remote_read, of_the_first),
        )(faulty)

    def left_locked(original: Wrapped, qm: Any, entry: Any, delete_message: bool, ended: Any) -> None:
        entry.ended = True
        ended(Status.MQ_OK)

    end = RemoteEnding.remote_qm_end_receive
    for name, breaks, says, install in (
        (
            "never-delivered",
            rules((END, "01 07")),
            "RR_ACK leaves the message.",
            instead(RemoteEnding.is_delivered, lambda *_: False),
        ),
        (
            "always-delivered",
            rules((END, "06")),
            "RR_NACK takes the message.",
            instead(RemoteEnding.is_delivered, lambda *_: True),
        ),
        (
            "not-ended",
            rules((END, "12")),
            "The message stays locked.",
            instead(RemoteEnding.end_remote_read, left_locked),
        ),
        ("status-wrong", rules((END, "08")), "Success returns an error.", responding(end, failing)),
        (
            "null-taken",
            rules(
                (END, "03 04 10"),
                (OPEN, "03"),
                ("MQQP-3.1.4.1-", "07"),
                ("MQQP-3.1.4.10-", "04"),
                ("MQQP-3.1.4.11-", "04"),
            ),
            "NULL is ended with success.",
            responding(end, succeeding),
        ),
        ("handle-kept", rules((END, "16"), ("MQQP-2.2.1.2-", "01")), "The handle stays.", responding(end, _kept)),
        ("other-read", rules((END, "11")), "The first receive is ended.", forgetful),
        (
            "rundown-left-out",
            "MQQP-3.1.6.2-01",
            "A client that is gone leaves its message locked.",
            skip(RemoteEnding.run_down_remote_read),
        ),
        (
            "rundown-acknowledges",
            "MQQP-3.1.6.2-02",
            "A client that is gone has got its message.",
            both(skip(RemoteOpening.run_down_session), instead(RemoteEnding.get_rundown_ack, lambda *_: True)),
        ),
    ):
        add(f"remote-end-{name}", breaks, says, install)


def _opening() -> None:
    def by_h_queue(original: Wrapped, qm: Any, call: Any, now: Any) -> None:
        call.arguments |= dict.fromkeys(("pQueue", "dwpContext"), call.arguments["hQueue"])
        original(qm, call, now)

    def h_queue_checked(original: Wrapped, qm: Any, call: Any, now: Any) -> None:
        if call.arguments["hQueue"] in qm.descriptors:
            original(qm, call, now)
        else:
            qm.remote.note(call.respond(Return=Status.MQ_ERROR_INVALID_PARAMETER, phContext=None))

    def not_added(qm: Any, entry: Any) -> None:
        qm.remote.OpenQueueEntryCollection.remove(entry)

    def only_one(qm: Any, entry: Any) -> None:
        for handle in list(qm.descriptors):
            for other in qm.remote.OpenQueueEntryCollection.of(handle):
                if other is not entry:
                    qm.remote.OpenQueueEntryCollection.remove(other)

    def no_handle(call: Any, results: dict[str, Any]) -> dict[str, Any]:
        return {**results, "phContext": None}

    opening = RemoteOpening.remote_qm_open_queue
    for name, breaks, says, install in (
        ("zero-taken", rules((OPEN, "14")), "pQueue and dwpContext may be 0.", skip(RemoteOpening.check_open_values)),
        (
            "unequal-taken",
            rules((OPEN, "15")),
            "pQueue may be another than dwpContext.",
            skip(RemoteOpening.check_open_values_equal),
        ),
        ("by-h-queue", rules((OPEN, "17")), "The queue is known by hQueue.", instead(opening, by_h_queue)),
        ("h-queue-checked", rules((OPEN, "11")), "hQueue has to be open.", instead(opening, h_queue_checked)),
        (
            "not-kept",
            rules((OPEN, "19"), ("MQQP-3.1.1.5-", "01")),
            "The entry is not in the collection.",
            afterwards(RemoteOpening.take_over_descriptor, not_added),
        ),
        (
            "only-one-kept",
            rules(("MQQP-3.1.1.5-", "02 03")),
            "An opening takes the place of the others.",
            afterwards(RemoteOpening.take_over_descriptor, only_one),
        ),
        (
            "without-handle",
            rules((OPEN, "10 16 20"), ("MQQP-2.2.1.1-", "01")),
            "No context handle is given.",
            responding(opening, no_handle),
        ),
        ("status-wrong", rules((OPEN, "12")), "Success returns an error.", responding(opening, failing)),
    ):
        add(f"remote-open-{name}", breaks, says, install)


def _closing() -> None:
    def every(original: Wrapped, qm: Any, entry: Any) -> None:
        for handle in list(qm.descriptors):
            for one in qm.remote.OpenQueueEntryCollection.of(handle):
                original(qm, one)

    def of_everybody(original: Wrapped, qm: Any, entry: Any) -> None:
        for read in list(qm.remote.reads.values()):
            qm.remote_ending.cancel_remote_read(read, Status.MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT)

    close, entry = RemoteOpening.remote_qm_close_queue, RemoteOpening.close_open_queue_entry
    for name, breaks, says, install in (
        (
            "not-closed",
            rules((CLOSE, "01 13")),
            "The queue stays open.",
            during(entry, QueueOpening.close_queue, nothing),
        ),
        ("status-wrong", rules((CLOSE, "03 17")), "Success returns an error.", responding(close, failing)),
        (
            "null-taken",
            rules((CLOSE, "05"), (OPEN, "04")),
            "NULL is closed with success.",
            responding(close, succeeding),
        ),
        (
            "every-queue",
            rules((CLOSE, "06 12"), ("MQQP-3.1.1.5-", "02")),
            "Every queue is closed.",
            instead(entry, every),
        ),
        (
            "handle-kept",
            rules((CLOSE, "15 16"), (OPEN, "10"), ("MQQP-2.2.1.1-", "01")),
            "The handle stays.",
            responding(close, _kept),
        ),
        (
            "reads-left",
            rules((CLOSE, "08 09"), ("MQQP-3.1.1.3-", "03")),
            "Reads go on waiting.",
            both(skip(RemoteOpening.cancel_remote_reads), during(entry, QueueOpening.close_queue, nothing)),
        ),
        (
            "all-reads",
            "MQQP-3.1.1.3-02",
            "Reads of other queues are cancelled, too.",
            instead(RemoteOpening.cancel_remote_reads, of_everybody),
        ),
        (
            "rundown-left-out",
            "MQQP-3.1.6.1-01",
            "A client that is gone leaves its queue open.",
            skip(RemoteOpening.run_down_session),
        ),
    ):
        add(f"remote-close-{name}", breaks, says, install)


def _cursors() -> None:
    def anywhere(kept: Wrapped, *outer: Any) -> Wrapped:
        def find_remote_cursor(qm: Any, descriptor: Any, handle: int) -> Any:
            every = (one.CursorCollection.get(handle) for one in qm.descriptors.values())
            return next(filter(None, every), None)

        return find_remote_cursor

    def last(kept: Wrapped, *outer: Any) -> Wrapped:
        def find_remote_cursor(qm: Any, descriptor: Any, handle: int) -> Any:
            found = kept(qm, descriptor, handle)
            return found if found is None else next(reversed(descriptor.CursorCollection.values()))

        return find_remote_cursor

    close = RemoteOpening.remote_qm_close_cursor
    for name, breaks, says, install in (
        ("kept", rules((CURSOR, "01 11")), "The cursor stays.", during(close, Cursors.close, nothing)),
        ("status-wrong", rules((CURSOR, "03 13")), "Success returns an error.", responding(close, failing)),
        (
            "of-any-queue",
            rules((CURSOR, "07 10")),
            "The queue is not looked at.",
            during(close, RemoteStarting.find_remote_cursor, anywhere),
        ),
        (
            "other-closed",
            rules((CURSOR, "09")),
            "The last cursor is closed.",
            during(close, RemoteStarting.find_remote_cursor, last),
        ),
        (
            "unknown-closed",
            rules((CURSOR, "10")),
            "An unknown cursor is closed with success.",
            responding(close, succeeding),
        ),
    ):
        add(f"remote-cursor-{name}", breaks, says, install)


def _client() -> None:
    def closed_before(original: Wrapped, qm: Any, queue: Any, cursor: int) -> Any:
        entry = qm.client_opening.find_remote_open_queue(queue)
        yield from qm.client_opening.call_close_queue(queue.binding, entry)
        yield from original(qm, queue, cursor)

    add(
        "remote-client-closes-before-cursor",
        f"{OPEN}05",
        "A client closes the queue, then a cursor of it.",
        instead(ClientCancelling.close_remote_cursor, closed_before),
    )


_client()
_ending()
_opening()
_closing()
_cursors()
