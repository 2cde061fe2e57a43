"""Faults of MS-MQDMPR 3.1.7.1.33 Set Queue Defaults."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from uuid import UUID

from harness.faults.parts import replace_part
from harness.faults.registry import Install, add
from reference_qm.core.commands.queue_commands import QueueCommands
from reference_qm.core.queueing.queues import OnCreated, Queues
from reference_qm.model.adm import Queue
from reference_qm.security import Acl, SecurityDescriptor
from reference_qm.security.sid import ANONYMOUS
from reference_qm.surface.clock import Now
from reference_qm.surface.commands import CreateQueue

RULES = ("MQDMPR-3.1.7.1.33-03", "MQDMPR-3.1.7.1.33-D01")
A_TYPE = UUID("6d71636f-6e66-4f72-8d00-0000000000f9")
NOBODYS = SecurityDescriptor(ANONYMOUS, None, Acl(()))


def _by_default(**values: Any) -> Install:
    """Create queues for which nothing is asked with other values."""

    class Defaulting(QueueCommands):
        def create_queue(self, request: CreateQueue, token: int, now: Now) -> None:
            bare = request == CreateQueue(request.name)
            super().create_queue(replace(request, **values) if bare else request, token, now)

    return replace_part(Defaulting)


for _name, _says, _values in (
    ("queue-labelled", "A queue without a label has its name for one.", {"label": "a queue"}),
    ("queue-journaled", "A queue is journaled unless something else is asked for.", {"journaling": True}),
    ("queue-quota-of-eight-megabytes", "A queue has a quota of 8 MB where none is asked for.", {"quota_kb": 8_192}),
    ("queue-journal-quota-of-nothing", "The journal of a queue has no room.", {"journal_quota_kb": 0}),
    ("queue-private-by-default", "A queue takes encrypted messages only.", {"privacy": "body"}),
    ("queue-transactional-by-default", "A queue is transactional.", {"transactional": True}),
    ("queue-base-priority-one", "A queue has base priority 1.", {"base_priority": 1}),
    ("queue-authenticated-by-default", "A queue takes signed messages only.", {"authenticated": True}),
):
    add(_name, RULES, _says, _by_default(**_values))


def _created_with(**attributes: Any) -> Install:
    """Create every queue with other attributes, which no command sets."""

    class Creating(Queues):
        def create(self, queue: Queue, utc_s: int, created: OnCreated, skip_directory: bool = False) -> None:
            for name, value in attributes.items():
                setattr(queue, name, value)
            super().create(queue, utc_s, created, skip_directory)

    return replace_part(Creating)


add("queue-of-a-type", "MQDMPR-3.1.7.1.33-D01", "A queue has a type that nobody gave it.", _created_with(Type=A_TYPE))
add(
    "queue-of-a-multicast-address",
    "MQDMPR-3.1.7.1.33-D01",
    "A queue has a multicast address that nobody gave it.",
    _created_with(MulticastAddress="224.0.0.1:1801"),
)
add("queue-for-nobody", RULES, "Nobody may write to a new queue.", _created_with(Security=NOBODYS))
