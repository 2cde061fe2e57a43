"""Manage the queues and messages of one test in the SUT."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import UUID

from harness.errors import ConformanceFailure, HarnessError
from harness.sut.control import Control, ControlRefused
from harness.sut.more_queues import QueueEntry
from harness.sut.shown import NotShown, lookup_id
from harness.sut.sut_file import SutFile

PROVISIONED_QUEUE_KEY = "restricted"
"""The kind of the restricted queue. The administrator of the SUT must create this queue, because no control channel
can set the access rights of a queue.
"""
MAX_MESSAGES_LISTED_IN_QUEUE = 10_000
MESSAGE_IDS_PER_TEST = 1024
"""The number of MessageIDs that are reserved for a test. If two tests used the same MessageID, a SUT that serves
both would discard the second message as a duplicate.
"""


class QueuesOfTest:
    """The queues and messages of one test."""

    def __init__(self, file: SutFile, control: Control | None, facilities: frozenset[str], own: str) -> None:
        self.file = file
        self._control = control
        self.facilities = facilities
        self.own = own
        """A string that is unique to this test in all runs. It is used in the names of the objects that the test
        creates.
        """
        self.identifier: UUID | None = None
        """The QueueManager.Identifier of the SUT, or None if it is unknown."""
        self.first_message_id = 1
        """The first MessageID that this test's peer may use."""
        self._queues: dict[str, str] = {}
        """The path names of the queues of this test, by kind."""
        self.provisioned: set[str] = set()
        """The kinds (plain, transactional, admin) of the queues in the SUT file that this test used."""
        self._numbers = itertools.count(1)
        self._format_names_by_created_queue: dict[str, dict[str, str]] = {}
        """The queues that this test created and has not deleted yet, with their format names."""
        self._used_more_queues: list[str] = []
        """The queues of [[more_queues]] that this test uses."""
        self._sent: set[str] = set()
        """The message ids of the messages that the SUT sent for this test."""
        self._read_system_queues: set[str] = set()
        """The system queues from which this test read messages."""
        self._paused_format_names: list[str] = []
        """The format names of the outgoing queues that this test has paused and not yet resumed."""

    @property
    def address(self) -> str:
        """The address that the SUT listens on."""
        return self.file.driver.address

    @property
    def control(self) -> Control:
        """The control channel of the SUT. Before using it, check with ``has`` that the SUT has one."""
        if self._control is None:
            raise HarnessError("a check without needs(...) used the control channel")
        return self._control

    def queue(self, kind: str = "plain") -> str:
        """Return the path name of a queue of the SUT that only this test uses. ``kind`` is plain, transactional or
        admin.

        If the control channel can create queues, the queue is created for the test. Otherwise it is the queue in
        the SUT file, which is emptied if possible.
        """
        if kind not in self._queues:
            self._queues[kind] = self._provide_queue(kind)
        return self._queues[kind]

    @property
    def has_named_queue(self) -> bool:
        """Return whether this test used a queue of the SUT by name. If so, the queue names in the SUT file must be
        correct.
        """
        return bool(self._queues or self._format_names_by_created_queue or self._used_more_queues or self.provisioned)

    def _provide_queue(self, kind: str) -> str:
        if "queue_control" in self.facilities and kind != PROVISIONED_QUEUE_KEY:
            return self.new_queue(kind, transactional=kind == "transactional")
        self.provisioned.add(kind)
        name: str = getattr(self.file.queues, kind)
        if "receive" in self.facilities:
            self.control.call("purge", queue=name)
        return name

    def new_queue(self, purpose: str = "more", **properties: Any) -> str:
        """Create a queue that only this test uses and that is deleted at the end of the test. Return its path name.

        ``properties`` are arguments of the control verb create_queue. If the control channel cannot create queues,
        return an unused queue of [[more_queues]] with these properties, or raise NotShown if there is none.
        """
        if "queue_control" not in self.facilities:
            return self._take_queue(properties)
        name = f"private$\\mqc-{self.own}-{next(self._numbers)}-{purpose}"
        self.create_queue(name, **properties)
        return name

    def _take_queue(self, properties: dict[str, Any]) -> str:
        used = {*self._used_more_queues, *self.file.queues.names}
        for entry in self.file.more_queues:
            if entry.name not in used and entry.fits(properties):
                self._used_more_queues.append(entry.name)
                self._empty_queue(entry)
                return entry.name
        wanted = ", ".join(f"{name} = {value}" for name, value in properties.items()) or "no properties"
        raise NotShown(f"the facility queue_control is missing, and no unused queue of [[more_queues]] has {wanted}")

    def _empty_queue(self, entry: QueueEntry) -> None:
        for name in (entry.name, *([f"{entry.name};journal"] if entry.journaling else [])):
            self.control.call("purge", queue=name)

    def create_queue(self, name: str, **properties: Any) -> None:
        """Create a queue with a name that the test chooses. The name must contain ``own``, which makes it unique."""
        made = self.control.call("create_queue", name=name, **properties)
        self._format_names_by_created_queue[name] = made.get("format_names", {})

    def list_created_format_names(self) -> list[str]:
        """Return all format names of the queues that this test created and has not deleted yet."""
        return [name for names in self._format_names_by_created_queue.values() for name in names.values()]

    def private_format_name(self, queue: str) -> str:
        """Return the private format name of a queue that this test created. Raise ConformanceFailure if the SUT did
        not return this name.
        """
        names = self.format_names(queue)
        if "private" not in names and queue not in self._format_names_by_created_queue:
            raise NotShown(
                "the facility queue_control is missing, "
                f"and [[more_queues]] does not state the private_number of {queue}"
            )
        if "private" not in names:
            raise ConformanceFailure(f"the SUT returned no private format name of {queue}")
        return names["private"]

    def format_names(self, queue: str) -> dict[str, str]:
        """Return the format names of a queue that this test created or that the SUT file lists. The keys of the
        result are the kinds of format names.
        """
        if queue in self._format_names_by_created_queue:
            return self._format_names_by_created_queue[queue]
        entry = next((one for one in self.file.more_queues if one.name == queue), None)
        if entry is None and queue not in self._queues.values():
            raise HarnessError(f"{queue} is not a queue that this check created")
        return (entry or QueueEntry(queue)).format_names(self.address, self.identifier)

    def delete_queue(self, name: str) -> None:
        """Delete a queue that this test created, before the end of the test."""
        self.control.call("delete_queue", name=name)
        self._format_names_by_created_queue.pop(name, None)

    def format_name(self, kind: str = "plain") -> str:
        """Return the direct format name of this test's queue of the given kind."""
        return f"DIRECT=TCP:{self.address}\\{self.queue(kind)}"

    def direct_name(self, queue: str) -> str:
        """Return the direct format name of a queue of the SUT, which is given by its path name."""
        return f"DIRECT=TCP:{self.address}\\{queue}"

    def send_here(self, queue: str, labels: Iterable[str], **fields: Any) -> None:
        """Make an application on the SUT's machine send messages with the given labels to a queue of the SUT, which
        is given by its path name.
        """
        for label in labels:
            self.send(self.direct_name(queue), label=label, body=label, **fields)

    def send(self, to: str, **fields: Any) -> str:
        """Make the SUT send a message. Return the message id."""
        message_id: str = self.control.call("send", to=to, **fields)["message_id"]
        self._sent.add(message_id)
        return message_id

    def messages(self, kind: str = "plain") -> list[dict[str, Any]]:
        """Read the messages in a queue of the SUT without removing them (control verb peek)."""
        return list(self.control.call("peek", queue=self.queue(kind))["messages"])

    def labels(self, queue: str) -> list[str]:
        """Return the labels of the messages in a queue, in the order of the messages. The queue is given by its
        path name.
        """
        return [one["label"] for one in self.control.call("peek", queue=queue, limit=10_000)["messages"]]

    def outgoing_queue(self, to: str) -> dict[str, Any]:
        """Return the outgoing queue for a format name, as the verb ``list`` reports it. Raise ConformanceFailure if
        the SUT lists no such queue.
        """
        for queue in self.control.call("list")["outgoing"]:
            if queue["format_name"].lower() == to.lower():
                return dict(queue)
        raise ConformanceFailure(f"the SUT lists no outgoing queue for {to}")

    outgoing = outgoing_queue

    def read_kept_messages(self, queue: str) -> list[dict[str, Any]]:
        """Read the messages in a system queue, such as system$;deadletter, that belong to this test and its peer.

        These messages are removed at the end of the test.
        """
        self._read_system_queues.add(queue)
        found = self.control.call("peek", queue=queue, limit=MAX_MESSAGES_LISTED_IN_QUEUE)["messages"]
        return [one for one in found if self._is_message_of_test(one["message_id"])]

    kept = read_kept_messages

    def _is_message_of_test(self, message_id: str) -> bool:
        identifier, _, ordinal = message_id.lower().rpartition("\\")
        if message_id in self._sent or not ordinal.isdigit():
            return message_id in self._sent
        ours = range(self.first_message_id - MESSAGE_IDS_PER_TEST, self.first_message_id + MESSAGE_IDS_PER_TEST)
        return str(self.file.driver.peer_identifier) in identifier and int(ordinal) in ours

    def _remove_kept_message(self, queue: str) -> None:
        for one in self.read_kept_messages(queue):
            self.control.call("receive_by_lookup_id", queue=queue, lookup_id=lookup_id(one), seek="current")

    def pause(self, to: str) -> None:
        """Pause the outgoing queue that has the given format name (MS-MQQB 3.1.7.13)."""
        self.control.call("pause_queue", to=to)
        self._paused_format_names.append(to)

    def resume(self, to: str) -> None:
        """Resume the outgoing queue that has the given format name (MS-MQQB 3.1.7.14)."""
        self.control.call("resume_queue", to=to)
        self._paused_format_names = [name for name in self._paused_format_names if name != to]

    def count_waiting_messages(self, names: Iterable[str]) -> int | None:
        """Return the number of messages in the outgoing queues whose format names contain one of the given texts,
        or None if the control channel does not show this number.
        """
        outgoing = self._list_objects("outgoing")
        if outgoing is None:
            return None
        wanted = [name.lower() for name in names]
        counts: list[int] = [
            one["count"] for one in outgoing if any(name in one["format_name"].lower() for name in wanted)
        ]
        return sum(counts)

    def _list_objects(self, kind: str) -> list[dict[str, Any]] | None:
        """Return the queues, outgoing queues or transactions in the answer to the verb ``list``, or None if the
        control channel does not report them. ``kind`` selects one of the three.
        """
        if "queue_control" not in self.facilities:
            return None
        try:
            listed: list[dict[str, Any]] | None = self.control.call("list").get(kind)
        except NotShown:
            return None
        return listed

    def _undo_queues(self) -> list[Callable[[], object]]:
        """Return functions that undo all changes which this test made to queues of the SUT."""
        undo: list[Callable[[], object]] = [
            *(partial(self.resume, to) for to in self._paused_format_names),
            *(
                partial(self._undo_unless_missing, self._remove_kept_message, queue)
                for queue in sorted(self._read_system_queues)
            ),
            # The last queue is deleted first: the deletion of a queue would also delete its subqueues.
            *(
                partial(self._undo_unless_missing, self.delete_queue, name)
                for name in reversed(self._format_names_by_created_queue)
            ),
            *(
                partial(self._empty_queue, entry)
                for entry in self.file.more_queues
                if entry.name in self._used_more_queues
            ),
        ]
        self._format_names_by_created_queue, self._used_more_queues, self._paused_format_names = {}, [], []
        return undo

    def forget_queues_of_row(self) -> None:
        """Forget the queues of the current row (set of parameter values) of a varied check. The run with the next row
        creates new queues.
        """
        (
            self._queues,
            self._format_names_by_created_queue,
            self._used_more_queues,
            self._paused_format_names,
            self._read_system_queues,
        ) = {}, {}, [], [], set()

    def _undo_unless_missing(self, undo: Callable[[str], object], queue: str) -> None:
        """Undo this test's changes to a queue with the function ``undo``. A refusal is ignored if the test created
        the queue and the queue no longer exists.
        """
        try:
            undo(queue)
        except ControlRefused:
            if not self._is_queue_missing(queue):
                raise

    def _is_queue_missing(self, queue: str) -> bool:
        """Return whether a queue that this test created is missing. Return False if the control channel does not
        report this.
        """
        if self.own not in queue:
            return False
        listed = self._list_objects("queues")
        whole = queue.partition(";")[0].lower()
        return listed is not None and whole not in [one["name"].lower() for one in listed]
