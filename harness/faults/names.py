"""Faults of the names of queues. Spec: MS-MQMQ 2.1, 2.2.18.1."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults import registry
from harness.faults.messages import MESSAGE, ON_DESTINATION, OTHER, PUBLIC, resized
from harness.faults.primitives import always, inputs, packets, procedure, wrong_fields
from harness.faults.registry import Install
from reference_qm.codec import FormatError, UserHeader, UserMessagePacket, parse_format_name
from reference_qm.core.queue_manager import QueueManager
from reference_qm.core.queueing.enqueueing import Enqueueing
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.surface.commands import CreateQueue, DeleteQueue, SendMessage
from reference_qm.surface.inputs import Command, Input

TYPES = "MQMQ-2.2.18.1."
NAMES_AT = 64
ON_OTHER = 6
SOMEBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
WELL_FORMED = {
    "2.1.2": r"DIRECT=TCP:127.0.0.9\private$\taken",
    "2.1.3": f"PUBLIC={SOMEBODY}",
    "2.1.4": rf"PRIVATE={SOMEBODY}\1",
}
"""By section: the name that every malformed one is taken for."""


def add(name: str, breaks: str | Iterable[str], says: str, install: Install) -> None:
    """Register a fault of names."""
    registry.add(f"name-{name}", breaks, says, install)


def _is_name(text: str) -> bool:
    try:
        parse_format_name(text)
    except FormatError:
        return False
    return True


def _taken_for(name: str, meant: Callable[[str], bool] | None = None) -> Install:
    """Send to a name instead of to what is none: what begins like it, or what is ``meant``."""
    keyword = name.partition("=")[0]

    def is_meant(text: str) -> bool:
        return text.startswith(keyword) if meant is None else meant(text)

    def filter_(event: Input) -> Iterable[Input]:
        request = event.request if isinstance(event, Command) else None
        wrong = isinstance(request, SendMessage) and is_meant(request.to.upper()) and not _is_name(request.to)
        if not (isinstance(event, Command) and isinstance(request, SendMessage) and wrong):
            return [event]
        return [replace(event, request=replace(request, to=name))]

    return inputs(filter_)


def _any_path(event: Input) -> Iterable[Input]:
    if isinstance(event, Command) and isinstance(event.request, CreateQueue | DeleteQueue):
        name = event.request.name
        if not _is_name(rf"DIRECT=OS:localhost\{name}"):
            return [replace(event, request=replace(event.request, name=rf"private$\mqc-{len(name)}"))]
    return [event]


def _same_number(qm: QueueManager) -> None:
    qm.adm.last_private_queue_number = 20


def _named(kind: int) -> Callable[[Any], bool]:
    return lambda packet: kind == packet.UserHeader.RQ


def _big_endian_number(packet: UserMessagePacket) -> bytes:
    data = packet.build()
    return data[:NAMES_AT] + data[NAMES_AT : NAMES_AT + 4][::-1] + data[NAMES_AT + 4 :]


def _big_endian_text(packet: UserMessagePacket) -> bytes:
    data = bytearray(packet.build())
    start = NAMES_AT + 2
    end = start + int.from_bytes(data[NAMES_AT:start], "little")
    data[start:end:2], data[start + 1 : end : 2] = data[start + 1 : end : 2], data[start:end:2]
    return bytes(data)


def _four_bytes_more(packet: UserMessagePacket) -> bytes:
    """Put four bytes behind the name of the response queue."""
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(packet.UserHeader.build())
    return resized(data[:end] + b"more" + data[end:])


def _response_missing(packet: UserMessagePacket) -> bytes:
    """Leave the response queue out and RQ as it is."""
    user = packet.UserHeader
    data = packet.build()
    end = len(packet.BaseHeader.build()) + len(user.build())
    bare = replace(user, ResponseQueue=None, Flags=user.Flags & ~UserHeader.flags(RQ=7))
    return resized(data[: end - len(user.build()) + len(bare.build())] + data[end:])


for _section, _name in WELL_FORMED.items():
    _says = f"What begins like {_name} and is malformed is taken for it."
    add(f"malformed-{_section}", f"MQMQ-{_section}-01", _says, _taken_for(_name))
for _section, _what, _meant in (
    ("2.1.5", "distribution list", lambda text: text.startswith("DL=")),
    ("2.1.6", "computer, connector or multicast address", lambda text: text.startswith(("MACHINE", "CONNE", "MULTI"))),
    ("2.1.7", "list of names", lambda text: "," in text),
):
    _says = f"A malformed name of a {_what} is taken for some queue."
    add(f"malformed-{_section}", f"MQMQ-{_section}-01", _says, _taken_for(WELL_FORMED["2.1.2"], _meant))
add(
    "several-refused",
    "MQMQ-2.1.7-01",
    "No message can be sent to several queues.",
    procedure(Enqueueing.enqueue_to_open_queue, lambda original: lambda *_: EnqueueStatus.QUEUE_QUOTA_EXCEEDED),
)
add("any-path", "MQMQ-2.1.1-01", "A queue is made whatever its name is.", inputs(_any_path))
add("one-number", (f"{TYPES}5.1-02", f"{TYPES}7.2-04"), "Every new queue gets the same number.", always(_same_number))
for _label, _rules, _says, _install in (
    (
        "private-number-big-endian",
        (f"{TYPES}5.1-01",),
        "The number of a private queue is big-endian.",
        packets(MESSAGE, _big_endian_number, lambda packet: packet.UserHeader.DQ == ON_DESTINATION),
    ),
    (
        "direct-text-big-endian",
        (f"{TYPES}5.2-01",),
        "The text of a direct name is big-endian.",
        packets(MESSAGE, _big_endian_text, lambda packet: packet.UserHeader.DQ == 7),
    ),
    (
        "public-longer",
        (f"{TYPES}7.1-01",),
        "A public queue takes 20 bytes.",
        packets(MESSAGE, _four_bytes_more, _named(PUBLIC)),
    ),
    (
        "public-other",
        (f"{TYPES}7.1-02",),
        "A public queue is named by another GUID.",
        wrong_fields(MESSAGE, {"UserHeader.ResponseQueue.PublicQueueIdentifier": OTHER}, _named(PUBLIC)),
    ),
    (
        "private-longer",
        (f"{TYPES}7.2-01",),
        "A private queue on any host takes 24 bytes.",
        packets(MESSAGE, _four_bytes_more, _named(ON_OTHER)),
    ),
    (
        "private-other-host",
        (f"{TYPES}7.2-02",),
        "A private queue has another host.",
        wrong_fields(MESSAGE, {"UserHeader.ResponseQueue.SourceQueueManager": OTHER}, _named(ON_OTHER)),
    ),
    (
        "private-other-number",
        (f"{TYPES}7.2-03",),
        "A private queue has another number.",
        wrong_fields(
            MESSAGE, {"UserHeader.ResponseQueue.PrivateQueueIdentifier": lambda old: old ^ 1}, _named(ON_OTHER)
        ),
    ),
    (
        "response-missing",
        ("MQMQ-2.2.19.2-35",),
        "RQ announces a response queue that is not there.",
        packets(MESSAGE, _response_missing, lambda packet: packet.UserHeader.ResponseQueue is not None),
    ),
):
    add(_label, _rules, _says, _install)
