"""Define the queues in [[more_queues]] of the SUT file. If the control channel cannot create queues, a check uses one
of these queues with the required properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal
from uuid import UUID

UNLIMITED_QUOTA_KB = 0xFFFF_FFFF
"""The value for a quota that was not set (MS-MQDMPR 3.1.1.2)."""
QUEUE_ENTRY_KEYS_NOT_IN_CREATE_QUEUE = frozenset({"name", "private_number"})
"""The keys of [[more_queues]] that are not arguments of the control verb ``create_queue``."""


@dataclass(frozen=True, slots=True)
class QueueEntry:
    """An entry of [[more_queues]] in the SUT file: an existing queue and its properties, which are named as in
    ``create_queue``.

    ``private_number`` is the PrivateQueueNumber, or 0 if the number is unknown.
    """

    name: str
    transactional: bool = False
    authenticated: bool = False
    privacy: Literal["none", "optional", "body"] = "optional"
    quota_kb: int = UNLIMITED_QUOTA_KB
    journaling: bool = False
    journal_quota_kb: int = UNLIMITED_QUOTA_KB
    private_number: int = 0

    def fits(self, properties: Mapping[str, Any]) -> bool:
        """Return whether the queue has the properties of a queue that ``create_queue`` would create with
        ``properties``.
        """
        own = {name: value for name, value in asdict(self).items() if name not in QUEUE_ENTRY_KEYS_NOT_IN_CREATE_QUEUE}
        return properties.keys() <= own.keys() and own == {**_DEFAULT_QUEUE_PROPERTIES, **properties}

    def format_names(self, address: str, identifier: UUID | None) -> dict[str, str]:
        """Return the format names of the queue, in the form in which ``create_queue`` returns them."""
        names = {"direct": f"DIRECT=TCP:{address}\\{self.name}"}
        if self.private_number and identifier is not None:
            names["private"] = f"PRIVATE={identifier}\\{self.private_number:08x}"
        return names


_DEFAULT_QUEUE_PROPERTIES = {
    name: value for name, value in asdict(QueueEntry("")).items() if name not in QUEUE_ENTRY_KEYS_NOT_IN_CREATE_QUEUE
}
