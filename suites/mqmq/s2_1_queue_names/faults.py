"""Faults of MS-MQMQ 2.1 MSMQ Queue Names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from uuid import UUID

from harness.faults.parts import fault
from harness.faults.primitives import inputs
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, PrivateName, parse_format_name
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, OutgoingQueue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue, DeleteQueue, SendMessage
from reference_qm.surface.inputs import Command, Input

SOMEBODY = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
HIGHEST_KNOWN = 0xFF
DIRECT = r"DIRECT=TCP:127.0.0.9\private$\taken"


def _is_name(text: str) -> bool:
    try:
        parse_format_name(text)
    except FormatError:
        return False
    return True


def _taken_for(name: str, meant: Callable[[str], bool]) -> Install:
    """Send to a name instead of to what is none."""

    def filter_(event: Input) -> Iterable[Input]:
        request = event.request if isinstance(event, Command) else None
        wrong = isinstance(request, SendMessage) and meant(request.to.upper()) and not _is_name(request.to)
        if not (isinstance(event, Command) and isinstance(request, SendMessage) and wrong):
            return [event]
        return [replace(event, request=replace(request, to=name))]

    return inputs(filter_)


def _begins_with(*beginnings: str) -> Callable[[str], bool]:
    return lambda text: text.startswith(beginnings)


def _any_path(event: Input) -> Iterable[Input]:
    if isinstance(event, Command) and isinstance(event.request, CreateQueue | DeleteQueue):
        name = event.request.name
        if not _is_name(rf"DIRECT=OS:localhost\{name}"):
            return [replace(event, request=replace(event.request, name=rf"private$\mqc-{len(name)}"))]
    return [event]


add(
    "name-any-path",
    ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05"),
    "A queue is made whatever its name is.",
    inputs(_any_path),
)

for _name, _rule, _format_name in (
    ("name-malformed-2.1.2", "MQMQ-2.1.2-01", DIRECT),
    ("name-malformed-2.1.3", "MQMQ-2.1.3-01", f"PUBLIC={SOMEBODY}"),
    ("name-malformed-2.1.4", "MQMQ-2.1.4-01", rf"PRIVATE={SOMEBODY}\1"),
):
    _says = f"What begins like {_format_name} and is malformed is taken for it."
    add(_name, _rule, _says, _taken_for(_format_name, _begins_with(_format_name.partition("=")[0])))

for _name, _rule, _what, _meant in (
    ("name-malformed-2.1.5", "MQMQ-2.1.5-01", "distribution list", _begins_with("DL=")),
    (
        "name-malformed-2.1.6",
        "MQMQ-2.1.6-01",
        "computer, connector or multicast address",
        _begins_with("MACHINE", "CONNE", "MULTI"),
    ),
    ("name-malformed-2.1.7", "MQMQ-2.1.7-01", "list of names", lambda text: "," in text),
):
    add(_name, _rule, f"A malformed name of a {_what} is taken for some queue.", _taken_for(DIRECT, _meant))


@fault("name-several-refused", breaks="MQMQ-2.1.7-01")
class SeveralRefused(Enqueueing):
    """No message can be sent to several queues."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        return EnqueueStatus.QUEUE_QUOTA_EXCEEDED


@fault("name-private-queue-looked-up", breaks="MQMQ-2.1.4-D01")
class PrivateQueueLookedUp(Destinations):
    """Only a private queue that somebody knows by its number can be sent to."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName) and name.QueueIdentifier > HIGHEST_KNOWN:
            raise CommandError(f"{text}: no such queue")
        return super().open_outgoing(text, now)


def _read_only(text: str) -> bool:
    return "," in text and any(mark in text for mark in (";", "MACHINE="))


add(
    "name-list-of-read-only",
    "MQMQ-2.1.7-D01",
    "A list may have queues that can only be read.",
    _taken_for(DIRECT, _read_only),
)
add(
    "name-any-address",
    "MQMQ-2.1.2-D01",
    "The address of a direct name may be anything.",
    _taken_for(DIRECT, lambda text: text.startswith(("DIRECT=TCP:", "DIRECT=HTTP", "DIRECT=IPX"))),
)
