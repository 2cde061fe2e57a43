"""Model wrong requests of remote clients. The system refuses these requests, and they change nothing. Spec: MS-MQQP
3.1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from harness.model.queues.area import Queues
from harness.model.queues.state import Cursor, Handle
from harness.model.steps import ImpossibleStep, draw_one, transition

NEEDED_CAPABILITIES = ("qm2qm", "receive", "queue_control", "send")
LATER_METHODS = "later methods"
"""The methods of qm2qm that are missing in the first releases of Windows (MS-MQQP, notes <25> and <27>)."""
OTHER_CONTEXT, NO_CONTEXT = "open with two different pointers", "open with pointers of zero"
OTHER_CURSOR = "close a cursor of another queue"
OPEN_MULTICAST = "open a multicast name to read"
UNKNOWN_CURSOR, UNKNOWN_QUEUE = "close an unknown cursor", "purge an unknown queue"
LOOK_UP_WITH_TIMEOUT, LOOK_UP_WITHOUT_LIMIT = "look up with a timeout", "look up without a time limit"
LOOK_UP_WITH_CURSOR, LOOK_UP_BY_READ = "look up with a cursor", "look up with another action"
RULES_OF_MISUSE = {
    OTHER_CONTEXT: ("MQQP-3.1.4.3-15",),
    NO_CONTEXT: ("MQQP-3.1.4.3-14",),
    OTHER_CURSOR: ("MQQP-3.1.4.5-07",),
    UNKNOWN_CURSOR: ("MQQP-3.1.4.5-07",),
    UNKNOWN_QUEUE: ("MQQP-3.1.4.7-09",),
    OPEN_MULTICAST: ("MQDMPR-3.1.7.1.5-46",),
    LOOK_UP_WITH_TIMEOUT: ("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"),
    LOOK_UP_WITHOUT_LIMIT: ("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"),
    LOOK_UP_WITH_CURSOR: ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11"),
    LOOK_UP_BY_READ: ("MQQP-3.1.4.11-37",),
}
LOOK_UPS = (LOOK_UP_WITH_TIMEOUT, LOOK_UP_WITHOUT_LIMIT, LOOK_UP_WITH_CURSOR, LOOK_UP_BY_READ)


class Misuse(Queues):
    """The transitions in which clients send wrong requests, or requests that change nothing."""

    clients: Mapping[str, Any]
    remote: dict[str, Handle]
    remote_cursors: dict[str, Cursor]

    @transition("MQQP-3.1.4.9-D02", "MQQP-3.1.4.9-D01", needs=(*NEEDED_CAPABILITIES, LATER_METHODS), weight=1)
    def ask_version(self, client: str) -> None:
        """Let a client request the version of the system, which must always be the same."""
        self.find(self.clients, client)
        self.answers["answer"] = "the same version"

    def draw_ask_version(self, chance: Random) -> dict[str, Any]:
        return {"client": draw_one(chance, self.clients)}

    @transition("MQQP-3.1.4.3-12", "MQQP-3.1.4.5-07", needs=(*NEEDED_CAPABILITIES, LATER_METHODS), weight=2)
    def misuse(self, handle: str, other: str | None, how: str) -> None:
        """Let a client send a wrong request for a queue. ``other``: a cursor of another queue."""
        opened = self.find(self.remote, handle)
        if how == OTHER_CURSOR and self.find(self.remote_cursors, str(other)).handle.queue is opened.queue:
            raise ImpossibleStep
        self.cite_rules(*RULES_OF_MISUSE[how])
        self.refuse()

    def draw_misuse(self, chance: Random) -> dict[str, Any]:
        how = chance.choice([one for one in RULES_OF_MISUSE if one not in LOOK_UPS])
        handle = draw_one(chance, self.remote)
        queue = self.remote[handle].queue
        others = [name for name, one in self.remote_cursors.items() if one.handle.queue is not queue]
        other = draw_one(chance, others) if how == OTHER_CURSOR else None
        return {"handle": handle, "other": other, "how": how}

    @transition("MQQP-3.1.4.11-23", "MQQP-3.1.4.11-13", needs=(*NEEDED_CAPABILITIES, LATER_METHODS), weight=2)
    def misuse_lookup(self, handle: str, how: str) -> None:
        """Let a client send a wrong lookup."""
        self.find(self.remote, handle)
        self.cite_rules(*RULES_OF_MISUSE[how])
        self.refuse()

    def draw_misuse_lookup(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one(chance, self.remote), "how": chance.choice(LOOK_UPS)}

    @transition("MQQP-3.1.4.6-08", "MQQP-3.1.4.6-09", "MQQP-3.1.4.6-11", needs=NEEDED_CAPABILITIES, weight=1)
    def cancel_nothing(self, handle: str) -> None:
        """Let a client cancel a nonexistent read on a queue, with or without waiting reads on this queue."""
        opened = self.find(self.remote, handle)
        self.refuse("MQ_ERROR" if opened.readers else "MQ_ERROR_INVALID_HANDLE")

    def draw_cancel_nothing(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one(chance, self.remote)}
