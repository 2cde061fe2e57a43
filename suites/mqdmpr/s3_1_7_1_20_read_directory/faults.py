"""Faults of MS-MQDMPR 3.1.7.1.20 Read Directory, and of its siblings 3.1.7.1.21, 3.1.7.1.22."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from uuid import UUID

from harness.faults.made_up import ELSEWHERE
from harness.faults.parts import fault, replace_part
from harness.faults.primitives import both
from harness.faults.registry import add
from reference_qm.codec import FormatName, PrivateName, PublicName, parse_format_name
from reference_qm.core.enterprise.directory_client import DirectoryClient
from reference_qm.core.names.destinations import Destinations
from reference_qm.core.names.next_hops import Destination, NextHops
from reference_qm.core.names.queue_names import QueueNames
from reference_qm.core.queue_manager import QueueManager
from reference_qm.directory import QueueManager as Machine
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.model.adm import Queue
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

FOUND = ("MQDMPR-3.1.7.1.20-02", "MQDMPR-3.1.7.1.20-05")


@fault("first-queue-of-the-directory", breaks=(*FOUND, "MQDMPR-3.1.7.1.20-30"))
class FirstQueue(NextHops):
    """A public name means the first queue that the directory has, whatever its GUID."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        if not isinstance(parse_format_name(format_name), PublicName):
            return super().get_destination_info(format_name)
        enterprise = self.qm.enterprise
        machine = enterprise.find_queue_manager("Identifier", enterprise.state.LocalQueueManager.Identifier)
        return None if machine is None else super().get_destination_info(f"PRIVATE={machine.Identifier}\\00000001")


@fault("directory-never-asked", breaks=("MQDMPR-3.1.7.1.20-23", "MQDMPR-3.1.7.1.20-29"))
class NeverAsked(NextHops):
    """The directory is never asked for the queue of a public name."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        public = isinstance(parse_format_name(format_name), PublicName)
        return None if public else super().get_destination_info(format_name)


@fault("object-read-not-looked-at", breaks="MQDMPR-3.1.7.1.20-30")
class ObjectNotLookedAt(NextHops):
    """The host of a queue manager is not what its object in the directory says."""

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        return tuple(replace(one, QualifiedComputerName=ELSEWHERE) for one in super().get_next_hops(guid))


# -- offline -------------------------------------------------------------------------------------------------------


@fault("own-public-queues-not-found-offline", breaks=("MQDMPR-3.1.7.1.20-09", "MQDMPR-3.1.7.1.20-13"))
class OwnPublicQueuesNotFound(QueueNames):
    """Offline, public queues of the queue manager itself are not found."""

    def find_by_format_name(self, name: FormatName) -> Queue | None:
        public = isinstance(name, PublicName) and self.qm.enterprise.state.DirectoryOffline
        return None if public else super().find_by_format_name(name)


@fault("own-public-queues-unavailable-offline", breaks="MQDMPR-3.1.7.1.20-14")
class OwnPublicQueuesUnavailable(Destinations):
    """Offline, a message for a public name is not accepted, though the queue is here."""

    def find_local(self, text: str) -> Queue | None:
        if isinstance(parse_format_name(text), PublicName) and self.qm.enterprise.state.DirectoryOffline:
            return None
        return super().find_local(text)


@fault("own-object-not-found-offline", breaks=("MQDMPR-3.1.7.1.20-17", "MQDMPR-3.1.7.1.20-18"))
class OwnObjectNotFound(Destinations):
    """Offline, the queue manager does not know its own GUID: what names it is another's."""

    def find_local(self, text: str) -> Queue | None:
        if isinstance(parse_format_name(text), PrivateName) and self.qm.enterprise.state.DirectoryOffline:
            return None
        return super().find_local(text)


@contextmanager
def _as_if_online(qm: QueueManager) -> Iterator[None]:
    state = qm.enterprise.state
    offline, state.DirectoryOffline = state.DirectoryOffline, False
    try:
        yield
    finally:
        state.DirectoryOffline = offline


class _KeepsWhatItRead(DirectoryClient):
    """What was read before the directory went away is kept."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        before = self.qm.enterprise.directory
        super().on_answered(event, now)
        if event.status is Result.DIRECTORY_NOT_CONNECTED:
            self.qm.enterprise.directory = before


class _FindsQueuesOffline(NextHops):
    """Queues of others are looked for in what was read once."""

    def get_destination_info(self, format_name: str) -> Destination | None:
        with _as_if_online(self.qm):
            return super().get_destination_info(format_name)


class _FindsQueueManagersOffline(NextHops):
    """Queue managers are looked for in what was read once."""

    def get_next_hops(self, guid: UUID) -> tuple[Machine, ...]:
        with _as_if_online(self.qm):
            return super().get_next_hops(guid)


add(
    "queue-managers-found-offline",
    "MQDMPR-3.1.7.1.20-20",
    "Offline, queue managers are found as they were in the directory.",
    both(replace_part(_KeepsWhatItRead), replace_part(_FindsQueueManagersOffline)),
)
add(
    "everything-found-offline",
    ("MQDMPR-3.1.7.1.20-11", "MQDMPR-3.1.7.1.20-27"),
    "Offline, queues and queue managers are found as they were in the directory.",
    both(replace_part(_KeepsWhatItRead), replace_part(_FindsQueuesOffline), replace_part(_FindsQueueManagersOffline)),
)


@fault("reads-do-not-notice-the-outage", breaks="MQDMPR-3.1.7.1.20-25")
class ReadsDoNotNotice(DirectoryClient):
    """A read that finds no directory leaves DirectoryOffline False."""

    def on_answered(self, event: DirectoryAnswered, now: Now) -> None:
        if event.status is Result.DIRECTORY_NOT_CONNECTED:
            event = replace(event, status=Result.GENERIC_ERROR)
        super().on_answered(event, now)
