"""Model wrong requests of remote clients. The system refuses these requests, and they change nothing. Spec: MS-MQQP
3.1.4.
"""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

from harness.model.agreement import ExpectedRefusal
from harness.model.queues.area import QueuesModel
from harness.model.queues.state import Cursor, OpenQueueHandle
from harness.model.steps import ImpossibleStep, draw_one_value_or_refuse_step, transition

NEEDED_CAPABILITIES = ("qm2qm", "receive", "queue_control", "send")
NEED_FOR_METHODS_OF_LATER_RELEASES = "later methods"
"""The methods of qm2qm that are missing in the first releases of Windows (MS-MQQP, notes <25> and <27>)."""
OPEN_WITH_DIFFERENT_POINTERS, OPEN_WITH_ZERO_POINTERS = "open with two different pointers", "open with pointers of zero"
CLOSE_CURSOR_OF_OTHER_QUEUE = "close a cursor of another queue"
OPEN_MULTICAST_NAME = "open a multicast name to read"
CLOSE_UNKNOWN_CURSOR, PURGE_UNKNOWN_QUEUE = "close an unknown cursor", "purge an unknown queue"
READ_BY_OTHER_CURSOR, READ_BY_CLOSED_CURSOR = "read by a cursor of another handle", "read by a closed cursor"
LOOK_UP_WITH_TIMEOUT, LOOK_UP_WITHOUT_TIME_LIMIT = "look up with a timeout", "look up without a time limit"
LOOK_UP_WITH_CURSOR, LOOK_UP_WITH_OTHER_ACTION = "look up with a cursor", "look up with another action"
RULES_OF_MISUSE = {
    OPEN_WITH_DIFFERENT_POINTERS: ("MQQP-3.1.4.3-15",),
    OPEN_WITH_ZERO_POINTERS: ("MQQP-3.1.4.3-14",),
    CLOSE_CURSOR_OF_OTHER_QUEUE: ("MQQP-3.1.4.5-07",),
    CLOSE_UNKNOWN_CURSOR: ("MQQP-3.1.4.5-07",),
    PURGE_UNKNOWN_QUEUE: ("MQQP-3.1.4.7-09",),
    READ_BY_OTHER_CURSOR: ("MQQP-3.1.4.10-22",),
    READ_BY_CLOSED_CURSOR: ("MQQP-3.1.4.5-01", "MQQP-3.1.4.5-11"),
    OPEN_MULTICAST_NAME: ("MQDMPR-3.1.7.1.5-46",),
    LOOK_UP_WITH_TIMEOUT: ("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"),
    LOOK_UP_WITHOUT_TIME_LIMIT: ("MQQP-3.1.4.11-21", "MQQP-3.1.4.11-23"),
    LOOK_UP_WITH_CURSOR: ("MQQP-3.1.4.11-08", "MQQP-3.1.4.11-11"),
    LOOK_UP_WITH_OTHER_ACTION: ("MQQP-3.1.4.11-37",),
}
_MISUSES_OF_CURSORS = (CLOSE_CURSOR_OF_OTHER_QUEUE, READ_BY_OTHER_CURSOR, READ_BY_CLOSED_CURSOR)
_FAILURE_STATUSES_OF_READS_BY_OPEN_CURSOR = ("MQ_ERROR_IO_TIMEOUT", "MQ_ERROR_MESSAGE_ALREADY_RECEIVED")
"""The failure statuses that a read may have even if its cursor is open."""
RPC_INTERFACE_NAMES = ("qmcomm", "qm2qm")
GARBLED_REQUESTS = ("a version that does not exist", "bytes of another protocol", "half of a request")
WRONG_LOOK_UPS = (LOOK_UP_WITH_TIMEOUT, LOOK_UP_WITHOUT_TIME_LIMIT, LOOK_UP_WITH_CURSOR, LOOK_UP_WITH_OTHER_ACTION)


class MisuseTransitions(QueuesModel):
    """The transitions in which clients send wrong requests, or requests that change nothing."""

    clients: Mapping[str, Any]
    remote: dict[str, OpenQueueHandle]
    remote_cursors: dict[str, Cursor]
    closed_cursors: dict[str, str]
    """The name of the handle of each cursor that a client has closed."""

    @transition(
        "MQQP-3.1.4.9-D02",
        "MQQP-3.1.4.9-D01",
        needs=(*NEEDED_CAPABILITIES, NEED_FOR_METHODS_OF_LATER_RELEASES),
        weight=1,
    )
    def ask_version(self, client: str) -> None:
        """Let a client request the version of the system, which must always be the same."""
        self.find(self.clients, client)
        self.answers["answer"] = "the same version"

    def draw_ask_version(self, chance: Random) -> dict[str, Any]:
        return {"client": draw_one_value_or_refuse_step(chance, self.clients)}

    @transition("MQQP-3.1.4.8-D05", "MQQP-3.1.4.8-D06", needs=NEEDED_CAPABILITIES, weight=1)
    def ask_port(self, client: str, interface: str, at_read_port: bool) -> None:
        """Let a client request the port of an interface, which must always be the same. ``at_read_port``: whether the
        client connects to the port of qm2qm for this request.
        """
        self.find(self.clients, client)
        self.answers["answer"] = "the same port"

    def draw_ask_port(self, chance: Random) -> dict[str, Any]:
        at_read_port = chance.random() < 0.5
        return {
            "client": draw_one_value_or_refuse_step(chance, self.clients),
            "interface": chance.choice(RPC_INTERFACE_NAMES),
            "at_read_port": at_read_port,
        }

    @transition("MQQP-3.1.3-01", needs=NEEDED_CAPABILITIES, weight=1)
    def garble(self, how: str) -> None:
        """Let a client connect, send bytes that are no request, and disappear. The system serves all other clients."""
        self.answer_with_success()

    def draw_garble(self, chance: Random) -> dict[str, Any]:
        return {"how": chance.choice(GARBLED_REQUESTS)}

    @transition(
        "MQQP-3.1.4.3-12", "MQQP-3.1.4.5-07", needs=(*NEEDED_CAPABILITIES, NEED_FOR_METHODS_OF_LATER_RELEASES), weight=2
    )
    def misuse(self, handle: str, other: str | None, how: str) -> None:
        """Let a client send an incorrect request about a queue. ``other``: the cursor that the client wrongly names in
        the request, or None if the request names no cursor.
        """
        self.find(self.remote, handle)
        if how in _MISUSES_OF_CURSORS and other not in self._list_unusable_cursors(handle, how):
            raise ImpossibleStep
        self.cite_rules(*RULES_OF_MISUSE[how])
        if how in (READ_BY_OTHER_CURSOR, READ_BY_CLOSED_CURSOR):
            self.answers["answer"] = ExpectedRefusal(excluded_statuses=_FAILURE_STATUSES_OF_READS_BY_OPEN_CURSOR)
        else:
            self.answer_with_refusal()

    def draw_misuse(self, chance: Random) -> dict[str, Any]:
        how = chance.choice([one for one in RULES_OF_MISUSE if one not in WRONG_LOOK_UPS])
        handle = draw_one_value_or_refuse_step(chance, self.remote)
        other = (
            draw_one_value_or_refuse_step(chance, self._list_unusable_cursors(handle, how))
            if how in _MISUSES_OF_CURSORS
            else None
        )
        return {"handle": handle, "other": other, "how": how}

    def _list_unusable_cursors(self, handle: str, how: str) -> list[str]:
        """Return the cursors that a wrong request for a queue can name."""
        opened, cursors = self.remote[handle], self.remote_cursors
        if how == CLOSE_CURSOR_OF_OTHER_QUEUE:
            return [name for name, one in cursors.items() if one.handle.queue is not opened.queue]
        if how == READ_BY_CLOSED_CURSOR:
            return [name for name, of in self.closed_cursors.items() if of == handle]
        return [name for name, one in cursors.items() if one.handle is not opened]

    @transition(
        "MQQP-3.1.4.11-23",
        "MQQP-3.1.4.11-13",
        needs=(*NEEDED_CAPABILITIES, NEED_FOR_METHODS_OF_LATER_RELEASES),
        weight=2,
    )
    def misuse_lookup(self, handle: str, how: str) -> None:
        """Let a client send a wrong lookup."""
        self.find(self.remote, handle)
        self.cite_rules(*RULES_OF_MISUSE[how])
        self.answer_with_refusal()

    def draw_misuse_lookup(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one_value_or_refuse_step(chance, self.remote), "how": chance.choice(WRONG_LOOK_UPS)}

    @transition("MQQP-3.1.4.6-08", "MQQP-3.1.4.6-09", "MQQP-3.1.4.6-11", needs=NEEDED_CAPABILITIES, weight=1)
    def cancel_nothing(self, handle: str) -> None:
        """Let a client cancel a nonexistent read on a queue, with or without waiting reads on this queue."""
        opened = self.find(self.remote, handle)
        self.answer_with_refusal("MQ_ERROR" if opened.readers else "MQ_ERROR_INVALID_HANDLE")

    def draw_cancel_nothing(self, chance: Random) -> dict[str, Any]:
        return {"handle": draw_one_value_or_refuse_step(chance, self.remote)}
