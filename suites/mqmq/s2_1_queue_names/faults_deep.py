"""Faults of MS-MQMQ 2.1 that only special names show: the sender accepts a name that the grammar excludes, or refuses a
name that the grammar permits.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness.faults.calls import Given, replace_step_if, with_arguments
from harness.faults.primitives import both
from harness.faults.registry import Install, add
from reference_qm.core.commands.commands import Commands
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.errors import CommandError
from reference_qm.core.part import QM


def read_names_as(change: Callable[[str], str], when: Callable[[QM], bool] = lambda qm: True) -> Install:
    """Change the format name in each request to send before the name is read."""

    def change_request(given: Given) -> Any:
        return replace(given.request, to=change(given.request.to)) if when(given.qm) else given.request

    return both(
        with_arguments(Commands.send_message, request=change_request),
        with_arguments(QueueCommands.open_to_send, request=change_request),
    )


def create_queues_as(change: Callable[[str], str]) -> Install:
    """Change the path name in each request to create or delete a queue before the name is read."""

    def change_request(given: Given) -> Any:
        return replace(given.request, name=change(given.request.name))

    return both(
        with_arguments(QueueCommands.create_queue, request=change_request),
        with_arguments(QueueCommands.delete_queue, request=change_request),
    )


def refuse(given: Given) -> None:
    """Refuse a request."""
    raise CommandError("the name is not permitted")


def cut_queue_name(name: str) -> str:
    """Return a path name with at most the first 124 characters of the queue's name."""
    folder, separator, queue = name.rpartition("\\")
    return folder + separator + (queue[:124] if ";" not in queue else queue)


def limit_octets(name: str) -> str:
    """Return a name in which every number above 255 in an address is replaced with 255."""
    return re.sub(r"(?i)(?<=DIRECT=TCP:)[0-9.]+", lambda found: _limit_each(found[0]), name)


def _limit_each(address: str) -> str:
    return ".".join(str(min(int(one), 255)) if one else one for one in address.split("."))


def leave_out(pattern: str) -> Callable[[str], str]:
    """Return a function that removes the elements of a list that match a pattern; a single name is unchanged."""

    def leave_out_elements(name: str) -> str:
        elements = name.split(",")
        kept = [one for one in elements if re.search(pattern, one, re.IGNORECASE) is None]
        return ",".join(kept) if len(elements) > 1 and kept else name

    return leave_out_elements


def is_without_directory(qm: QM) -> bool:
    """Return whether a queue manager cannot read the directory."""
    state = qm.enterprise.state
    return state.DirectoryOffline or not state.DirectoryIntegrated


add(
    "queue-manager-path-name-of-125-characters-cut",
    "MQMQ-2.1.1-01",
    "The queue manager creates a queue for a name of 125 characters, but keeps only the first 124 characters of the "
    "name.",
    create_queues_as(cut_queue_name),
)
add(
    "queue-manager-path-name-with-space-accepted",
    "MQMQ-2.1.1-01",
    "The queue manager creates a queue whose name contains a space.",
    create_queues_as(lambda name: name.replace(" ", "_")),
)
add(
    "queue-manager-path-name-of-124-characters-refused",
    "MQMQ-2.1.1-01",
    "The queue manager refuses to create a private queue whose name has 124 characters, the permitted maximum.",
    replace_step_if(
        QueueCommands.create_queue, lambda given: len(given.request.name.rpartition("\\")[2]) == 124, refuse
    ),
)
add(
    "sender-direct-name-spx-protocol-accepted",
    "MQMQ-2.1.2-01",
    "The sender accepts a direct format name whose protocol is SPX, and reads it as IPX.",
    read_names_as(lambda name: re.sub("(?i)^DIRECT=SPX:", "DIRECT=IPX:", name)),
)
add(
    "sender-direct-name-tcp-octet-above-255-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name with a TCP address in which a number is greater than 255.",
    read_names_as(limit_octets),
)
add(
    "sender-direct-name-http-folder-other-than-msmq-accepted",
    "MQMQ-2.1.2-D01",
    "The sender accepts a direct format name for HTTP whose address has a folder other than MSMQ.",
    read_names_as(lambda name: re.sub(r"(?i)(?<=^DIRECT=HTTP)(S?)://([^/\\]+)/[A-Z]+\\", r"\1://\2/MSMQ\\", name)),
)
add(
    "sender-public-name-in-braces-accepted",
    "MQMQ-2.1.3-01",
    "The sender accepts a public format name whose GUID is in braces.",
    read_names_as(lambda name: re.sub(r"(?i)(?<=^PUBLIC=)\{([0-9A-F-]+)\}", r"\1", name)),
)
add(
    "sender-public-name-with-journal-suffix-accepted",
    "MQMQ-2.1.3-01",
    "The sender accepts a public format name with the suffix of a journal, and ignores the suffix.",
    read_names_as(lambda name: re.sub("(?i)^(PUBLIC=.*);JOURNAL$", r"\1", name)),
)
add(
    "sender-private-name-of-nine-digits-accepted",
    "MQMQ-2.1.4-01",
    "The sender accepts a private format name whose number has nine hexadecimal digits and begins with 0.",
    read_names_as(lambda name: re.sub(r"(?i)^(PRIVATE=[0-9A-F-]+\\)0([0-9A-F]{8})$", r"\1\2", name)),
)
add(
    "sender-private-name-number-in-decimal",
    "MQMQ-2.1.4-D01",
    "The sender reads the number of a private format name as a decimal number if it has only decimal digits.",
    read_names_as(
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
        Commands.send_message,
        lambda given: re.search(r"(?i)^PRIVATE=[0-9A-F-]+\\[89A-F][0-9A-F]{7}$", given.request.to) is not None,
        refuse,
    ),
)
add(
    "sender-distribution-list-name-with-empty-domain-accepted",
    "MQMQ-2.1.5-01",
    "The sender accepts a distribution list format name that ends with @ and has no domain.",
    read_names_as(lambda name: re.sub("(?i)^(DL=[0-9A-F-]+)@$", r"\1", name)),
)
add(
    "sender-multicast-name-address-240-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a multicast format name whose address begins with 240.",
    read_names_as(lambda name: re.sub(r"(?i)(?<=^MULTICAST=)240\.", "239.", name)),
)
add(
    "sender-multicast-name-port-65536-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a multicast format name with the port 65536.",
    read_names_as(lambda name: re.sub(r"(?i)^(MULTICAST=[0-9.]+):65536$", r"\1:0", name)),
)
add(
    "sender-connector-name-in-braces-accepted",
    "MQMQ-2.1.6-01",
    "The sender accepts a connector format name whose GUID is in braces.",
    read_names_as(lambda name: re.sub(r"(?i)(?<=^CONNECTOR=)\{([0-9A-F-]+)\}", r"\1", name)),
)
add(
    "sender-list-with-trailing-comma-accepted",
    "MQMQ-2.1.7-01",
    "The sender accepts a multiple-element format name that ends with a comma.",
    read_names_as(lambda name: name.removesuffix(",")),
)
add(
    "sender-list-with-empty-element-accepted",
    "MQMQ-2.1.7-01",
    "The sender accepts a multiple-element format name with an empty element between two names.",
    read_names_as(lambda name: name.replace(",,", ",")),
)
add(
    "sender-list-element-of-dead-letter-queue-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains the direct name of a dead-letter queue, the sender ignores this name and sends to "
    "the other queues.",
    read_names_as(leave_out(r"SYSTEM\$;DEAD")),
)
add(
    "sender-list-element-of-private-journal-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains the private format name of a journal, the sender ignores this name and sends to the "
    "other queues.",
    read_names_as(leave_out("^PRIVATE=.*;JOURNAL$")),
)
add(
    "sender-list-element-of-machine-ignored",
    "MQMQ-2.1.7-D01",
    "If a list of names contains a machine format name, the sender ignores this name and sends to the other queues.",
    read_names_as(leave_out("^MACHINE=")),
)
add(
    "sender-list-distribution-list-ignored-without-directory",
    ("MQMQ-2.1.7-D02", "MQDMPR-3.1.7.3.8-15", "MQDMPR-3.1.7.1.5-05"),
    "Without the directory, the sender ignores a distribution list in a list of names and sends to the other queues.",
    read_names_as(leave_out("^DL="), is_without_directory),
)
