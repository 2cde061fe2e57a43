"""Faults that break rules of MS-MQMQ 2.1 Queue names and of 2.1.1 to 2.1.7."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.calls import GivenStepArguments, change_step_arguments, replace_step_if
from harness.faults.parts import fault
from harness.faults.primitives import combine_installers, filter_inputs
from harness.faults.registry import Install, add
from reference_qm.codec import FormatError, PrivateName, parse_format_name
from reference_qm.core.commands.higher_layer_commands import HigherLayerCommands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.names.destination_resolving import DestinationResolving
from reference_qm.core.part import QM
from reference_qm.core.queueing.queue_lifecycle import QueueLifecycle
from reference_qm.core.transfer.message_enqueueing import MessageEnqueueing
from reference_qm.model.adm import Message, OutgoingQueue, Queue
from reference_qm.model.elements import OpenQueueDescriptor
from reference_qm.model.statuses import EnqueueStatus, Status
from reference_qm.model.transactions import Transaction
from reference_qm.surface import commands
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue, DeleteQueue, Result, SendMessage
from reference_qm.surface.inputs import Command, Input


def _is_format_name(text: str) -> bool:
    try:
        parse_format_name(text)
    except FormatError:
        return False
    return True


def _accept_any_path_name(event: Input) -> Iterable[Input]:
    if isinstance(event, Command) and isinstance(event.request, CreateQueue | DeleteQueue):
        name = event.request.name
        if not _is_format_name(rf"DIRECT=OS:localhost\{name}"):
            return [replace(event, request=replace(event.request, name=rf"private$\mqc-{len(name)}"))]
    return [event]


add(
    "queue-manager-malformed-path-name-accepted",
    ("MQMQ-2.1.1-01", "MQDMPR-3.1.7.1.3-05"),
    "The queue manager creates a queue for any path name, even for a malformed path name.",
    filter_inputs(_accept_any_path_name),
)


@fault("subqueue-name-of-33-characters-accepted", breaks="MQMQ-2.1.1-01")
class SubqueueNameOf33CharactersAccepted(QueueLifecycle):
    """The queue manager creates a subqueue whose name has 33 to 64 characters."""

    def create_without_directory(self, queue: Queue, utc_s: int) -> tuple[Status, Queue | None]:
        parent_name, _, name = queue.Pathname.partition(";")
        parent = self.qm.adm.QueueCollection.get(parent_name.lower())
        if parent is None or not 32 < len(name) <= 64:
            created: tuple[Status, Queue | None] = super().create_without_directory(queue, utc_s)
            return created
        subqueue = Queue(Pathname=queue.Pathname, QueueType=parent.QueueType)
        self.add_subqueue(subqueue, parent, name)
        return Status.MQ_OK, subqueue


def change_path_name_of_queue_requests(change: Callable[[str], str]) -> Install:
    """Change the path name in each request to create or delete a queue before the name is read."""

    def change_request(given: GivenStepArguments) -> Any:
        return replace(given.request, name=change(given.request.name))

    return combine_installers(
        change_step_arguments(QueueCommands.create_queue, request=change_request),
        change_step_arguments(QueueCommands.delete_queue, request=change_request),
    )


def truncate_queue_name(name: str) -> str:
    """Return a path name with at most the first 124 characters of the queue's name."""
    folder, separator, queue = name.rpartition("\\")
    return folder + separator + (queue[:124] if ";" not in queue else queue)


add(
    "queue-manager-path-name-of-125-characters-cut",
    "MQMQ-2.1.1-01",
    "The queue manager creates a queue for a name of 125 characters, but keeps only the first 124 characters of the "
    "name.",
    change_path_name_of_queue_requests(truncate_queue_name),
)


add(
    "queue-manager-path-name-with-space-accepted",
    "MQMQ-2.1.1-01",
    "The queue manager creates a queue whose name contains a space.",
    change_path_name_of_queue_requests(lambda name: name.replace(" ", "_")),
)


def refuse_request_with_name(given: GivenStepArguments) -> None:
    """Refuse a request because the name of the queue is not permitted."""
    raise CommandError("the name is not permitted")


add(
    "queue-manager-path-name-of-124-characters-refused",
    "MQMQ-2.1.1-01",
    "The queue manager refuses to create a private queue whose name has 124 characters, the permitted maximum.",
    replace_step_if(
        QueueCommands.create_queue,
        lambda given: len(given.request.name.rpartition("\\")[2]) == 124,
        refuse_request_with_name,
    ),
)


UNKNOWN_QUEUE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000fd")


SUBSTITUTE_QUEUE_NAME = r"DIRECT=TCP:127.0.0.9\private$\taken"


def _accept_malformed_names(name: str, meant: Callable[[str], bool]) -> Install:
    """Let the sender accept malformed names, and send their messages to a well-formed name."""

    def filter_send_command(event: Input) -> Iterable[Input]:
        request = event.request if isinstance(event, Command) else None
        wrong = isinstance(request, SendMessage) and meant(request.to.upper()) and not _is_format_name(request.to)
        if not (isinstance(event, Command) and isinstance(request, SendMessage) and wrong):
            return [event]
        return [replace(event, request=replace(request, to=name))]

    return filter_inputs(filter_send_command)


def _make_name_prefix_condition(*beginnings: str) -> Callable[[str], bool]:
    return lambda text: text.startswith(beginnings)


for _name, _rule, _format_name in (
    ("sender-malformed-direct-format-name-accepted", "MQMQ-2.1.2-01", SUBSTITUTE_QUEUE_NAME),
    ("sender-malformed-public-format-name-accepted", "MQMQ-2.1.3-01", f"PUBLIC={UNKNOWN_QUEUE_GUID}"),
    ("sender-malformed-private-format-name-accepted", "MQMQ-2.1.4-01", rf"PRIVATE={UNKNOWN_QUEUE_GUID}\1"),
):
    _says = (
        f"If a malformed format name is of the same kind as {_format_name}, the sender sends the message to "
        f"{_format_name}."
    )
    add(
        _name,
        _rule,
        _says,
        _accept_malformed_names(_format_name, _make_name_prefix_condition(_format_name.partition("=")[0])),
    )


def change_format_name_of_send_requests(
    change: Callable[[str], str], when: Callable[[QM], bool] = lambda qm: True
) -> Install:
    """Change the format name in each request to send before the name is read."""

    def change_request(given: GivenStepArguments) -> Any:
        return replace(given.request, to=change(given.request.to)) if when(given.qm) else given.request

    return combine_installers(
        change_step_arguments(HigherLayerCommands.send_message, request=change_request),
        change_step_arguments(QueueCommands.open_to_send, request=change_request),
    )


add(
    "sender-direct-name-spx-protocol-accepted",
    "MQMQ-2.1.2-01",
    "The sender accepts a direct format name whose protocol is SPX, and reads it as IPX.",
    change_format_name_of_send_requests(lambda name: re.sub("(?i)^DIRECT=SPX:", "DIRECT=IPX:", name)),
)


add(
    "sender-malformed-direct-address-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name with a malformed address.",
    _accept_malformed_names(
        SUBSTITUTE_QUEUE_NAME, lambda text: text.startswith(("DIRECT=TCP:", "DIRECT=HTTP", "DIRECT=IPX"))
    ),
)


def limit_address_numbers_to_255(name: str) -> str:
    """Return a name in which every number above 255 in an address is replaced with 255."""
    return re.sub(r"(?i)(?<=DIRECT=TCP:)[0-9.]+", lambda found: _limit_numbers_of_address(found[0]), name)


def _limit_numbers_of_address(address: str) -> str:
    return ".".join(str(min(int(one), 255)) if one else one for one in address.split("."))


add(
    "sender-direct-name-tcp-octet-above-255-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name with a TCP address in which a number is greater than 255.",
    change_format_name_of_send_requests(limit_address_numbers_to_255),
)


add(
    "sender-direct-name-http-folder-other-than-msmq-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name for HTTP whose address has a folder other than MSMQ.",
    change_format_name_of_send_requests(
        lambda name: re.sub(r"(?i)(?<=^DIRECT=HTTP)(S?)://([^/\\]+)/[A-Z]+\\", r"\1://\2/MSMQ\\", name)
    ),
)


add(
    "sender-public-name-in-braces-accepted",
    "MQMQ-2.1.3-01",
    "The sender accepts a public format name whose GUID is in braces.",
    change_format_name_of_send_requests(lambda name: re.sub(r"(?i)(?<=^PUBLIC=)\{([0-9A-F-]+)\}", r"\1", name)),
)


add(
    "sender-public-name-with-journal-suffix-accepted",
    "MQMQ-2.1.3-01",
    "The sender accepts a public format name with the suffix of a journal, and ignores the suffix.",
    change_format_name_of_send_requests(lambda name: re.sub("(?i)^(PUBLIC=.*);JOURNAL$", r"\1", name)),
)


add(
    "sender-private-name-of-nine-digits-accepted",
    "MQMQ-2.1.4-01",
    "The sender accepts a private format name whose number has nine hexadecimal digits and begins with 0.",
    change_format_name_of_send_requests(
        lambda name: re.sub(r"(?i)^(PRIVATE=[0-9A-F-]+\\)0([0-9A-F]{8})$", r"\1\2", name)
    ),
)


HIGHEST_KNOWN_QUEUE_NUMBER = 0xFF


@fault("sender-private-name-with-number-above-255-refused", breaks="MQMQ-2.1.4-D01")
class SenderPrivateNameWithNumberAbove255Refused(DestinationResolving):
    """The sender refuses a private format name with a queue number above 0xFF."""

    def open_outgoing_queue(self, text: str, now: Now) -> OutgoingQueue:
        name = parse_format_name(text)
        if isinstance(name, PrivateName) and name.QueueIdentifier > HIGHEST_KNOWN_QUEUE_NUMBER:
            raise CommandError(f"queue {text} does not exist")
        return super().open_outgoing_queue(text, now)


add(
    "sender-private-name-number-in-decimal",
    "MQMQ-2.1.4-D01",
    "The sender reads the number of a private format name as a decimal number if it has only decimal digits.",
    change_format_name_of_send_requests(
        lambda name: re.sub(
            r"(?i)^(PRIVATE=[0-9A-F-]+\\)([0-9]{2,8})$", lambda found: f"{found[1]}{int(found[2]):X}", name
        )
    ),
)


add(
    "sender-private-name-number-above-0x7fffffff-refused",
    "MQMQ-2.1.4-D01",
    "The sender refuses a private format name whose number is greater than 0x7FFFFFFF.",
    replace_step_if(
        HigherLayerCommands.send_message,
        lambda given: re.search(r"(?i)^PRIVATE=[0-9A-F-]+\\[89A-F][0-9A-F]{7}$", given.request.to) is not None,
        refuse_request_with_name,
    ),
)


for _name, _rule, _what, _meant in (
    (
        "sender-malformed-distribution-list-name-accepted",
        "MQMQ-2.1.5-01",
        "distribution list",
        _make_name_prefix_condition("DL="),
    ),
    (
        "sender-malformed-machine-name-accepted",
        "MQMQ-2.1.6-01",
        "computer, connector or multicast address",
        _make_name_prefix_condition("MACHINE", "CONNE", "MULTI"),
    ),
    ("sender-malformed-multiple-element-name-accepted", "MQMQ-2.1.7-01", "list of names", lambda text: "," in text),
):
    add(
        _name,
        _rule,
        f"The sender sends a message for a malformed name of a {_what} to {SUBSTITUTE_QUEUE_NAME}.",
        _accept_malformed_names(SUBSTITUTE_QUEUE_NAME, _meant),
    )


add(
    "sender-distribution-list-name-with-empty-domain-accepted",
    "MQMQ-2.1.5-01",
    "The sender accepts a distribution list format name that ends with @ and has no domain.",
    change_format_name_of_send_requests(lambda name: re.sub("(?i)^(DL=[0-9A-F-]+)@$", r"\1", name)),
)


add(
    "sender-multicast-name-address-240-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a multicast format name whose address begins with 240.",
    change_format_name_of_send_requests(lambda name: re.sub(r"(?i)(?<=^MULTICAST=)240\.", "239.", name)),
)


add(
    "sender-multicast-name-port-65536-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a multicast format name with the port 65536.",
    change_format_name_of_send_requests(lambda name: re.sub(r"(?i)^(MULTICAST=[0-9.]+):65536$", r"\1:0", name)),
)


add(
    "sender-connector-name-in-braces-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a connector format name whose GUID is in braces.",
    change_format_name_of_send_requests(lambda name: re.sub(r"(?i)(?<=^CONNECTOR=)\{([0-9A-F-]+)\}", r"\1", name)),
)


@fault("sender-multiple-element-format-name-refused", breaks="MQMQ-2.1.7-01")
class SenderMultipleElementFormatNameRefused(MessageEnqueueing):
    """The sender refuses every multiple-element format name."""

    def enqueue_to_open_queue(
        self,
        descriptor: OpenQueueDescriptor,
        message: Message,
        now: Now,
        transaction: Transaction | None = None,
    ) -> EnqueueStatus:
        return EnqueueStatus.QUEUE_QUOTA_EXCEEDED


add(
    "sender-list-with-trailing-comma-accepted",
    "MQMQ-2.1.7-01",
    "The sender accepts a multiple-element format name that ends with a comma.",
    change_format_name_of_send_requests(lambda name: name.removesuffix(",")),
)


add(
    "sender-list-with-empty-element-accepted",
    "MQMQ-2.1.7-01",
    "The sender accepts a multiple-element format name with an empty element between two names.",
    change_format_name_of_send_requests(lambda name: name.replace(",,", ",")),
)


def _is_read_only_name(text: str) -> bool:
    return "," in text and any(mark in text for mark in (";", "MACHINE="))


add(
    "sender-read-only-queue-in-name-list-accepted",
    "MQMQ-2.1.7-D01",
    "The sender accepts a multiple-element format name with the name of a read-only queue.",
    _accept_malformed_names(SUBSTITUTE_QUEUE_NAME, _is_read_only_name),
)


def make_remover_of_matching_names(pattern: str) -> Callable[[str], str]:
    """Return a function that removes the elements of a list that match a pattern; a single name is unchanged."""

    def remove_matching_elements(name: str) -> str:
        elements = name.split(",")
        kept = [one for one in elements if re.search(pattern, one, re.IGNORECASE) is None]
        return ",".join(kept) if len(elements) > 1 and kept else name

    return remove_matching_elements


add(
    "sender-list-element-of-dead-letter-queue-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains the direct name of a dead-letter queue, the sender ignores this name and sends to "
    "the other queues.",
    change_format_name_of_send_requests(make_remover_of_matching_names(r"SYSTEM\$;DEAD")),
)


add(
    "sender-list-element-of-private-journal-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains the private format name of a journal, the sender ignores this name and sends to the "
    "other queues.",
    change_format_name_of_send_requests(make_remover_of_matching_names("^PRIVATE=.*;JOURNAL$")),
)


add(
    "sender-list-element-of-machine-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains a machine format name, the sender ignores this name and sends to the other queues.",
    change_format_name_of_send_requests(make_remover_of_matching_names("^MACHINE=")),
)


def is_directory_unavailable(qm: QM) -> bool:
    """Return whether a queue manager cannot read the directory."""
    state = qm.enterprise.state
    return state.DirectoryOffline or not state.DirectoryIntegrated


add(
    "sender-list-distribution-list-ignored-without-directory",
    ("MQMQ-2.1.7-D02", "MQDMPR-3.1.7.3.8-15", "MQDMPR-3.1.7.1.5-05"),
    "Without the directory, the sender ignores a distribution list in a list of names and sends to the other queues.",
    change_format_name_of_send_requests(make_remover_of_matching_names("^DL="), is_directory_unavailable),
)


_SHORT_TCP_NAME_PATTERN = re.compile(r"(DIRECT=TCP:)([0-9]+(?:\.[0-9]+){0,2})(\\.*)", re.IGNORECASE)


_PLAIN_PRIVATE_NAME_PATTERN = re.compile(r"(PRIVATE=)([0-9A-F]{32})(\\.*)", re.IGNORECASE)


def _expand_short_address(text: str) -> str | None:
    """Return the four numbers of an address in which the last number stands for all missing bytes."""
    *first, last = map(int, text.split("."))
    missing = 4 - len(first)
    if any(one > 0xFF for one in first) or last >= 1 << 8 * missing:
        return None
    return ".".join(map(str, [*first, *last.to_bytes(missing, "big")]))


@fault("queue-manager-tcp-address-of-two-numbers-accepted", breaks="MQMQ-2.1.2-D01", blind=True)
class QueueManagerTcpAddressOfTwoNumbersAccepted(HigherLayerCommands):
    """The queue manager accepts the addresses that inet_aton accepts, such as 127.1, in a direct name with TCP."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        short = _SHORT_TCP_NAME_PATTERN.fullmatch(request.to)
        address = None if short is None else _expand_short_address(short[2])
        if short is not None and address is not None:
            request = replace(request, to=f"{short[1]}{address}{short[3]}")
        return super().send_message(request, token, now)


@fault("queue-manager-private-name-guid-without-hyphens-accepted", breaks="MQMQ-2.1.4-01", blind=True)
class QueueManagerPrivateNameGuidWithoutHyphensAccepted(HigherLayerCommands):
    """The queue manager sends to a private format name whose GUID has no hyphens."""

    def send_message(self, request: commands.SendMessage, token: int, now: Now) -> Result | None:
        plain = _PLAIN_PRIVATE_NAME_PATTERN.fullmatch(request.to)
        if plain is not None:
            request = replace(request, to=f"{plain[1]}{UUID(plain[2])}{plain[3]}")
        return super().send_message(request, token, now)
