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
from reference_qm.core.queueing.queues import Queues
from reference_qm.core.transfer.enqueueing import Enqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue, DeleteQueue, SendMessage
from reference_qm.surface.inputs import Command, Input

UNKNOWN_QUEUE = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")
HIGHEST_KNOWN = 0xFF
REDIRECTED_QUEUE_NAME = r"DIRECT=TCP:127.0.0.9\private$\taken"


def _is_format_name(text: str) -> bool:
    try:
        parse_format_name(text)
    except FormatError:
        return False
    return True


def _redirect_malformed_names(name: str, meant: Callable[[str], bool]) -> Install:
    """Let the sender accept malformed names, and send their messages to a well-formed name."""

    def filter_send_command(event: Input) -> Iterable[Input]:
        request = event.request if isinstance(event, Command) else None
        wrong = isinstance(request, SendMessage) and meant(request.to.upper()) and not _is_format_name(request.to)
        if not (isinstance(event, Command) and isinstance(request, SendMessage) and wrong):
            return [event]
        return [replace(event, request=replace(request, to=name))]

    return inputs(filter_send_command)


def _has_prefix(*beginnings: str) -> Callable[[str], bool]:
    return lambda text: text.startswith(beginnings)


def _accept_any_path(event: Input) -> Iterable[Input]:
    if isinstance(event, Command) and isinstance(event.request, CreateQueue | DeleteQueue):
        name = event.request.name
        if not _is_format_name(rf"DIRECT=OS:localhost\{name}"):
            return [replace(event, request=replace(event.request, name=rf"private$\mqc-{len(name)}"))]
    return [event]


add(
    "queue-manager-malformed-path-name-accepted",
    ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05"),
    "The queue manager creates a queue for any path name, even for a malformed path name.",
    inputs(_accept_any_path),
)

for _name, _rule, _format_name in (
    ("sender-malformed-direct-format-name-accepted", "MQMQ-2.1.2-01", REDIRECTED_QUEUE_NAME),
    ("sender-malformed-public-format-name-accepted", "MQMQ-2.1.3-01", f"PUBLIC={UNKNOWN_QUEUE}"),
    ("sender-malformed-private-format-name-accepted", "MQMQ-2.1.4-01", rf"PRIVATE={UNKNOWN_QUEUE}\1"),
):
    _says = (
        f"Instead of refusing a malformed format name of the same kind, the sender sends the message to {_format_name}."
    )
    add(_name, _rule, _says, _redirect_malformed_names(_format_name, _has_prefix(_format_name.partition("=")[0])))

for _name, _rule, _what, _meant in (
    ("sender-malformed-distribution-list-name-accepted", "MQMQ-2.1.5-01", "distribution list", _has_prefix("DL=")),
    (
        "sender-malformed-machine-name-accepted",
        "MQMQ-2.1.6-01",
        "computer, connector or multicast address",
        _has_prefix("MACHINE", "CONNE", "MULTI"),
    ),
    ("sender-malformed-multiple-element-name-accepted", "MQMQ-2.1.7-01", "list of names", lambda text: "," in text),
):
    add(
        _name,
        _rule,
        f"The sender sends a message for a malformed name of a {_what} to {REDIRECTED_QUEUE_NAME}.",
        _redirect_malformed_names(REDIRECTED_QUEUE_NAME, _meant),
    )


@fault("sender-multiple-element-format-name-refused", breaks="MQMQ-2.1.7-01")
class SenderMultipleElementFormatNameRefused(Enqueueing):
    """The sender refuses every multiple-element format name."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        return EnqueueStatus.QUEUE_QUOTA_EXCEEDED


@fault("sender-private-name-with-number-above-255-refused", breaks="MQMQ-2.1.4-D01")
class SenderPrivateNameWithNumberAbove255Refused(Destinations):
    """The sender refuses a private format name with a queue number above 0xFF."""

    def open_outgoing(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName) and name.QueueIdentifier > HIGHEST_KNOWN:
            raise CommandError(f"{text}: no such queue")
        return super().open_outgoing(text, now)


def _is_read_only_name(text: str) -> bool:
    return "," in text and any(mark in text for mark in (";", "MACHINE="))


add(
    "sender-read-only-queue-in-name-list-accepted",
    "MQMQ-2.1.7-D01",
    "The sender accepts a multiple-element format name with the name of a read-only queue.",
    _redirect_malformed_names(REDIRECTED_QUEUE_NAME, _is_read_only_name),
)
add(
    "sender-malformed-direct-address-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name with a malformed address.",
    _redirect_malformed_names(
        REDIRECTED_QUEUE_NAME, lambda text: text.startswith(("DIRECT=TCP:", "DIRECT=HTTP", "DIRECT=IPX"))
    ),
)


@fault("subqueue-name-of-33-characters-accepted", breaks="MQMQ-2.1.1-01")
class SubqueueNameOf33CharactersAccepted(Queues):
    """The queue manager creates a subqueue whose name has 33 to 64 characters."""

    def create_here(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        parent_name, _, name = queue.Pathname.partition(";")
        parent = self.qm.adm.QueueCollection.get(parent_name.lower())
        if parent is None or not 32 < len(name) <= 64:
            created: tuple[Status, Queue | None] = super().create_here(queue, utc_s)
            return created
        subqueue = Queue(Pathname=queue.Pathname, QueueType=parent.QueueType)
        self.add_subqueue(subqueue, parent, name)
        return Status.MQ_OK, subqueue
