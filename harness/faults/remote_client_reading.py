"""Faults of how remote messages are peeked at and received. Spec: MS-MQQP 3.2.1.2, 3.2.4.2, 3.2.4.3, 3.2.4.5, 3.2.4.6.

The four sections state the same demands, each for RemoteQMStartReceive and for RemoteQMStartReceive2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.primitives import both, effects, procedure, skip
from harness.faults.registry import Install, add
from harness.faults.remote_client import STRANGE_HANDLE, never
from reference_qm.codec import FormatError
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.remote_client.cancelling import ClientCancelling
from reference_qm.core.remote_client.model import PendingRemoteReadEntry, RemoteRead
from reference_qm.core.remote_client.reading import ClientReading, RemoteMessage, Version
from reference_qm.core.remote_client.steps import Sequence
from reference_qm.rpc.bodies import Request
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.rpc_errors import PduError
from reference_qm.surface.effects import Effect, SendPacket

Original = Callable[..., Any]
SECTIONS = ("3.2.4.2", "3.2.4.3", "3.2.4.5", "3.2.4.6")


def _rules(*numbers: str) -> list[str]:
    """Give the rules by their numbers in each section; a section without one has an empty text, several a blank."""
    return [f"MQQP-{section}-{one}" for section, some in zip(SECTIONS, numbers, strict=True) for one in some.split()]


# -- the entry --------------------------------------------------------------------------------------------------------


def _unknown(original: Original) -> Original:
    """Make an entry and put it nowhere."""

    def create(qm: QueueManager, read: RemoteRead) -> PendingRemoteReadEntry:
        entry: PendingRemoteReadEntry = original(qm, read)
        qm.remote_client.PendingRemoteReadEntryCollection.remove(entry)
        return entry

    return create


def _of_another_queue(original: Original) -> Original:
    def create(qm: QueueManager, read: RemoteRead) -> PendingRemoteReadEntry:
        entry: PendingRemoteReadEntry = original(qm, read)
        entry.OpenQueueDescriptorHandle += 1
        return entry

    return create


def _found_by_identifier(original: Original) -> Original:
    def find(qm: QueueManager, queue: Any, request_id: int) -> PendingRemoteReadEntry:
        entries = qm.remote_client.PendingRemoteReadEntryCollection
        return next(entry for entry in entries if entry.RequestId == request_id)

    return find


add(
    "remote-read-not-pending",
    [*_rules("02 06", "02 06", "02 06", "02 06"), "MQQP-3.2.1.2-01"],
    "A pending read is in no collection.",
    procedure(ClientReading.create_pending_read, _unknown),
)
add(
    "remote-read-entry-of-another-queue",
    _rules("03", "03", "03", "03"),
    "The entry of a read has the handle of another queue.",
    both(
        procedure(ClientReading.create_pending_read, _of_another_queue),
        procedure(ClientCancelling.find_pending_read, _found_by_identifier),
    ),
)
add(
    "remote-read-identifier-reused",
    [*_rules("04 05", "04 05", "04 05", "04 05"), "MQQP-2.2.2.1-04", "MQQP-2.2.2.1-05"],
    "Every read has the same RequestId.",
    procedure(ClientReading.new_request_id, lambda original: lambda qm: 7),
)
add(
    "remote-read-entry-stays",
    _rules("36", "39", "36", "38"),
    "The entry of a read that is over stays.",
    skip(ClientReading.remove_pending_read),
)

# -- the version ------------------------------------------------------------------------------------------------------


def _old_when(test: Callable[[Version], bool]) -> Install:
    """Take a server for old when a test says so, and not as the rules say."""
    return procedure(
        ClientReading.is_old_version, lambda original: lambda qm, version: version is not None and test(version)
    )


def _not_asked(original: Original) -> Original:
    def ask(qm: QueueManager, read: RemoteRead) -> Sequence:
        yield from ()
        return Version(6, 1, 7600)

    return ask


add(
    "remote-read-version-not-asked",
    _rules("07", "07", "07", ""),
    "RemoteQmGetVersion is not called.",
    procedure(ClientReading.ask_server_version, _not_asked),
)
add(
    "remote-read-every-server-old",
    _rules("08 23", "08 23", "08 23", "07 22"),
    "Every server counts as old.",
    _old_when(lambda version: True),
)
add(
    "remote-read-no-server-old",
    _rules("13", "13", "13", "12"),
    "No server counts as old.",
    _old_when(lambda version: False),
)
add(
    "remote-read-four-is-new",
    _rules("09", "09", "09", "08"),
    "A server of version 4 counts as new.",
    _old_when(lambda version: version.Major == 5 and version.Minor < 1),
)
add(
    "remote-read-five-is-new",
    _rules("10", "10", "10", "09"),
    "A server of version 5.0 counts as new.",
    _old_when(lambda version: version.Major < 5),
)
add(
    "remote-read-early-build-is-new",
    _rules("11", "11", "11", "10"),
    "A server of version 5.0 counts as new when its build is below 951.",
    _old_when(lambda version: version < (5, 1) and not (version.Major == 5 and version.BuildNumber < 951)),
)

# -- the description --------------------------------------------------------------------------------------------------

FIELDS = {
    "hRemoteQueue": [*_rules("14 24", "14 24", "14 24", "13 23"), "MQQP-3.1.4.10-06"],
    "dwQueue": _rules("15 25", "15 25", "15 25", "14 24"),
    "hCursor": _rules("18 28", "16 26", "16 26", "15 25"),
    "ulTimeout": _rules("20 30", "20 30", "20 30", "19 29"),
    "dwRequestID": _rules("21 31", "21 31", "21 31", "20 30"),
}
"""What a fault adds one to."""


def _described(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Install:
    def make(original: Original) -> Original:
        def describe(qm: QueueManager, read: RemoteRead) -> dict[str, Any]:
            values: dict[str, Any] = original(qm, read)
            return values | change(values)

        return describe

    return procedure(ClientReading.describe_read, make)


def _one_more(name: str) -> Install:
    return _described(lambda values: {name: values[name] + 1})


for _name, _breaks in FIELDS.items():
    add(f"remote-read-other-{_name.lower()}", _breaks, f"{_name} is another number.", _one_more(_name))

OTHER_ACTIONS = {0: 0x80000000, 0x80000000: 0, 0x80000001: 0x80000000}
"""Receives peek, peeks receive, peeks of the next message are of the current one."""

add(
    "remote-read-other-ulaction",
    _rules("19 29", "19 29", "19 29", "18 28"),
    "ulAction is another action.",
    _described(lambda values: {"ulAction": OTHER_ACTIONS[values["ulAction"]]}),
)
add(
    "remote-read-buffer-not-null",
    [*_rules("17 27", "18 28", "18 28", "17 27"), "MQQP-2.2.2.1-10"],
    "lpBuffer points to no bytes.",
    _described(lambda values: {"lpBuffer": b""}),
)
add(
    "remote-read-sequential-id",
    _rules("32", "32", "32", "31"),
    "SequentialId is not zero.",
    procedure(
        ClientReading.describe_read2,
        lambda original: lambda qm, read: original(qm, read) | {"SequentialId": 0x1122334455667788},
    ),
)

SIZE_AT = {0: 16, 9: 32}
"""Where dwSize is in the stub of RemoteQMStartReceive and, in NDR64, of RemoteQMStartReceive2; by opnum."""


def _size(effect: Effect) -> Iterable[Effect]:
    """Announce a byte of lpBuffer, which is NULL: nothing that our own NDR would write."""
    if not isinstance(effect, SendPacket):
        return [effect]
    try:
        pdu = Pdu.parse(effect.data)
    except PduError:
        return [effect]
    body = pdu.body
    if not isinstance(body, Request) or body.opnum not in SIZE_AT or len(body.stub) < SIZE_AT[body.opnum] + 20:
        return [effect]
    at = SIZE_AT[body.opnum]
    stub = body.stub[:at] + b"\1\0\0\0" + body.stub[at + 4 :]
    return [replace(effect, data=replace(pdu, body=replace(body, stub=stub)).build())]


add(
    "remote-read-size",
    [*_rules("16 26", "17 27", "17 27", "16 26"), "MQQP-2.2.2.1-03"],
    "dwSize is not zero.",
    effects(_size),
)
add(
    "remote-read-infinite-short",
    "MQQP-2.2.2.1-02",
    "An infinite time-out is one hexadecimal digit short, as it was printed once.",
    _described(lambda values: {"ulTimeout": values["ulTimeout"] & 0x0FFFFFFF}),
)

# -- what comes back --------------------------------------------------------------------------------------------------


def _other_message(original: Original) -> Original:
    def reconstruct(qm: QueueManager, results: dict[str, Any]) -> RemoteMessage:
        found: RemoteMessage = original(qm, results)
        return found._replace(message=replace(found.message, Body=found.message.Body[:-1]))

    return reconstruct


def _ended(change: Callable[[PendingRemoteReadEntry, int], tuple[UUID | None, int]]) -> Install:
    """Change the context handle and the acknowledgment of RemoteQMEndReceive."""

    def make(original: Original) -> Original:
        def end(qm: QueueManager, entry: PendingRemoteReadEntry, ack: int) -> Sequence:
            entry.RemoteReadHandle, ack = change(entry, int(ack))
            yield from original(qm, entry, ack)

        return end

    return procedure(ClientReading.end_receive, make)


add(
    "remote-read-handle-forgotten",
    _rules("", "34", "", "33"),
    "The handle of the read session is not kept.",
    skip(ClientReading.note_remote_read_handle),
)
add(
    "remote-read-other-message",
    _rules("35", "35", "35", "34"),
    "The body of a message loses its last byte.",
    procedure(ClientReading.reconstruct_message, _other_message),
)
add(
    "remote-read-not-ended",
    [*_rules("", "36", "", "35"), "MQQP-2.2.1.2-01", "MQQP-3.1.4.1-01", "MQQP-3.1.4.2-01"],
    "RemoteQMEndReceive is not called.",
    never(ClientReading.end_receive),
)


def _minding(name: str, plain: int) -> Install:
    """Take an answer for malformed in which a reserved field has another value than is usual."""

    def make(original: Original) -> Original:
        def reconstruct(qm: QueueManager, results: dict[str, Any]) -> RemoteMessage:
            both = results.get("lpRemoteReadDesc2") or {"pRemoteReadDesc": results.get("lpRemoteReadDesc")}
            if both["pRemoteReadDesc"][name] != plain:
                raise FormatError(name, 0, "a fault", f"is not {plain}")
            return original(qm, results)  # type: ignore[no-any-return]

        return reconstruct

    return procedure(ClientReading.reconstruct_message, make)


add("remote-read-minds-reserved", "MQQP-2.2.2.1-06", "Reserved has to be what it is mostly.", _minding("Reserved", 1))
add("remote-read-minds-ack", "MQQP-2.2.2.1-09", "eAckNack has to be zero.", _minding("eAckNack", 0))
add(
    "remote-read-ends-another",
    _rules("", "37", "", "36"),
    "pphContext of RemoteQMEndReceive is another handle.",
    _ended(lambda entry, ack: (STRANGE_HANDLE, ack)),
)
add(
    "remote-read-refused",
    _rules("", "38", "", "37"),
    "What was received is refused.",
    _ended(lambda entry, ack: (entry.RemoteReadHandle, 3 - ack)),
)
