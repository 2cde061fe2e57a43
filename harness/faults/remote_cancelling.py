"""Faults of cancelling, purging, ports and the version. Spec: MS-MQQP 3.1.3, 3.1.4.6 to 3.1.4.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.faults.primitives import afterwards, during, procedure, skip
from harness.faults.registry import Install, add
from harness.faults.remote_queues import OPEN, Changed, failing, nothing, responding
from harness.faults.remote_reading import Wrapped, instead, rules
from reference_qm.core.remote.ending import RemoteEnding
from reference_qm.core.remote.opening import RemoteOpening
from reference_qm.core.remote.reading import RemoteReads
from reference_qm.model.statuses import Status

CANCEL, PURGE, PORT, VERSION = "MQQP-3.1.4.6-", "MQQP-3.1.4.7-", "MQQP-3.1.4.8-", "MQQP-3.1.4.9-"
ERROR = Status.MQ_ERROR


def _cancelling() -> None:
    def found(choose: Callable[[list[Any], int], Any]) -> Install:
        def find_read_to_cancel(original: Wrapped, qm: Any, h_queue: int, request_id: int) -> Any:
            entries = qm.remote.RemoteReadEntryCollection.of(h_queue)
            if not entries:
                return original(qm, h_queue, request_id)
            return Status.MQ_OK, choose(entries, request_id)

        return instead(RemoteEnding.find_read_to_cancel, find_read_to_cancel)

    def other(entries: list[Any], request_id: int) -> Any:
        return next((one for one in entries if one.RequestId != request_id), entries[0])

    def of_any_queue(original: Wrapped, qm: Any, h_queue: int, request_id: int) -> Any:
        every = [read for read in qm.remote.reads.values() if read.RequestId == request_id]
        return (Status.MQ_OK, every[0]) if every else original(qm, h_queue, request_id)

    def idle(original: Wrapped, qm: Any, h_queue: int, request_id: int) -> Any:
        status, entry = original(qm, h_queue, request_id)
        return (Status.MQ_OK, None) if status is Status.MQ_ERROR_INVALID_HANDLE else (status, entry)

    def unknown(original: Wrapped, qm: Any, h_queue: int, request_id: int) -> Any:
        status, entry = original(qm, h_queue, request_id)
        return (Status.MQ_ERROR_INVALID_HANDLE if status is ERROR else status), entry

    def closes(qm: Any, entry: Any, status: Any) -> None:
        descriptor = qm.remote_starting.find_remote_descriptor(entry.OpenQueueDescriptorHandle)
        if descriptor is not None:
            qm.queue_opening.close_queue(descriptor)

    cancel = RemoteEnding.remote_qm_cancel_receive
    for name, breaks, says, install in (
        ("status-wrong", rules((CANCEL, "05 20")), "Success returns an error.", responding(cancel, failing)),
        ("pointer-ignored", rules((CANCEL, "07")), "pQueue is not looked at.", skip(RemoteEnding.check_cancel_queue)),
        (
            "of-any-queue",
            rules((CANCEL, "08")),
            "The queue is not looked at.",
            instead(RemoteEnding.find_read_to_cancel, of_any_queue),
        ),
        (
            "idle-queue-taken",
            rules((CANCEL, "02 03 09"), (OPEN, "06")),
            "Nothing is cancelled with success.",
            instead(RemoteEnding.find_read_to_cancel, idle),
        ),
        (
            "first-cancelled",
            rules((CANCEL, "10"), ("MQQP-3.1.4.1-", "02")),
            "The first read is cancelled.",
            found(lambda entries, request_id: entries[0]),
        ),
        ("other-cancelled", "MQQP-2.2.2.1-04", "Another read is cancelled, if there is one.", found(other)),
        (
            "unknown-as-idle",
            rules((CANCEL, "11")),
            "An unknown read is an invalid handle.",
            instead(RemoteEnding.find_read_to_cancel, unknown),
        ),
        ("closes", rules((CANCEL, "14")), "The queue is closed.", afterwards(RemoteEnding.cancel_remote_read, closes)),
        (
            "left-waiting",
            rules((CANCEL, "15")),
            "The read goes on waiting.",
            instead(RemoteEnding.cancel_remote_read, lambda original, *_: Status.MQ_OK),
        ),
        (
            "kept",
            rules((CANCEL, "19")),
            "The entry stays.",
            during(RemoteEnding.cancel_remote_read, RemoteReads.remove_remote_read_entry, nothing),
        ),
    ):
        add(f"remote-cancel-{name}", breaks, says, install)


def _purging() -> None:
    def unopened(original: Wrapped, qm: Any, call: Any, now: Any) -> None:
        descriptor = qm.remote_starting.find_remote_descriptor(call.arguments["hQueue"])
        if descriptor is None:
            original(qm, call, now)
        else:
            qm.remote_opening.purge_remote_queue(call, descriptor.QueueReference)

    def every(original: Wrapped, qm: Any, call: Any, queue: Any) -> None:
        for other in qm.adm.QueueCollection.values():
            if other is not queue:
                original(qm, _Silent(call), other)
        original(qm, call, queue)

    def none(original: Wrapped, qm: Any, call: Any, queue: Any) -> None:
        qm.remote.note(call.respond(Return=Status.MQ_OK))

    def purged_failing(original: Wrapped, qm: Any, call: Any, queue: Any) -> None:
        original(qm, Changed(call, failing), queue)

    purge = RemoteOpening.purge_remote_queue
    for name, breaks, says, install in (
        ("status-wrong", rules((PURGE, "03 12")), "Success returns an error.", instead(purge, purged_failing)),
        (
            "unopened",
            rules((PURGE, "01 05 06"), (OPEN, "07")),
            "A queue is purged that RemoteQMOpenQueue has not opened.",
            instead(RemoteOpening.remote_qm_purge_queue, unopened),
        ),
        ("every-queue", rules((PURGE, "09")), "Every queue is purged.", instead(purge, every)),
        ("left-full", rules((PURGE, "10")), "The messages stay.", instead(purge, none)),
    ):
        add(f"remote-purge-{name}", breaks, says, install)


class _Silent:
    """A call that is not answered."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def respond(self, **results: Any) -> list[Any]:
        return []


def _ports() -> None:
    def wrong(original: Wrapped, qm: Any, port_type: int) -> int:
        port: int = original(qm, port_type)
        return port + 1 if port else 0

    for name, breaks, says, install in (
        ("none", rules((PORT, "02")), "No port is told.", instead(RemoteOpening.get_server_port, lambda *_: 0)),
        (
            "wrong",
            rules((PORT, "04"), ("MQQP-3.1.3-", "01")),
            "The port beside is told.",
            instead(RemoteOpening.get_server_port, wrong),
        ),
        (
            "of-spx",
            rules((PORT, "03")),
            "SPX has a port.",
            instead(RemoteOpening.get_server_port, lambda original, qm, kind: 2103),
        ),
    ):
        add(f"remote-port-{name}", breaks, says, install)
    for number, version in (("02", (5, 2, 3790)), ("03", (6, 1, 0))):
        says = f"The version is {'.'.join(map(str, version))}."
        add(
            f"remote-version-{number}",
            VERSION + number,
            says,
            procedure(RemoteOpening.get_remote_version, _constant(version)),
        )


def _constant(value: Any) -> Callable[[Wrapped], Wrapped]:
    return lambda original: lambda *arguments: value


_cancelling()
_purging()
_ports()
