"""Stores the attributes of the enterprise, as the queue manager last read them. Spec: MS-MQDMPR 3.1.1.1."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias
from uuid import UUID

from reference_qm.config import QueueManagerConfig
from reference_qm.directory import DirectoryState, Queue, QueueManager, Replica, User, build_equality_filter, events
from reference_qm.routing import RoutingTable
from reference_qm.security import PrivateKeys, public_key_list
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

OnAnswer: TypeAlias = Callable[[DirectoryAnswered, Now], None]


class Enterprise:
    """The enterprise as the queue manager last read it from the directory.

    ``directory``: the directory's content at the last read, which answers every read. ``awaited``: the functions that
    continue after an answer of the directory, by token. ``table``: the RoutingTable of MS-MQBR 3.1.1.2. ``last_known``:
    the directory's attributes of this machine; only these attributes survive a restart. ``public_keys``: the Queue
    Manager Public Key Cache of MS-MQSO 6.4.3.2, PublicEncryptionKeyList by Identifier. ``lost``: a function that is
    called when the directory becomes unavailable.
    """

    def __init__(self, config: QueueManagerConfig, lost: Callable[[], None]) -> None:
        self.directory = Replica(connected=False)
        self.awaited: dict[int, OnAnswer] = {}
        self.state = DirectoryState(
            LocalQueueManager=QueueManager(
                Identifier=config.identifier,
                ComputerName=config.host_name.partition(".")[0],
                QualifiedComputerName=config.host_name,
                OperatingSystemType=config.operating_system,
                PublicEncryptionKeyList=build_key_list(config.security.encryption_keys),
                PublicSigningKeyList=build_key_list(config.security.signing_keys),
            ),
            DirectoryIntegrated=config.directory_integrated,
            notifies=config.change_notifications,
            lost=lost,
        )
        self.table: RoutingTable = ()
        self.last_known: QueueManager | None = None
        self.public_keys: dict[UUID, bytes] = {}

    def find_queue_manager(self, attribute: str, value: UUID | str | None) -> QueueManager | None:
        """Read a QueueManager. Spec: MS-MQDMPR 3.1.7.1.20."""
        found = events.read_directory(
            self.directory, self.state, "QueueManager", build_equality_filter(attribute, value)
        )
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, QueueManager) else None

    def find_queue(self, identifier: UUID) -> Queue | None:
        """Read a public queue. Spec: MS-MQDMPR 3.1.7.1.20."""
        found = events.read_directory(
            self.directory, self.state, "Queue", build_equality_filter("Identifier", identifier)
        )
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, Queue) else None

    def find_user(self, security_identifier: bytes) -> User | None:
        """Read a User by its SID. Spec: MS-MQDMPR 3.1.7.1.20, MS-MQQB 3.1.5.8.3."""
        wanted = build_equality_filter("SecurityIdentifier", security_identifier)
        found = events.read_directory(self.directory, self.state, "User", wanted)
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, User) else None


def build_key_list(keys: PrivateKeys) -> bytes:
    """Return the public keys of a queue manager in the form of the directory; empty without keys."""
    return _build_key_list(tuple(keys.items())) if keys else b""


@lru_cache(maxsize=64)
def _build_key_list(keys: tuple[tuple[str, Any], ...]) -> bytes:
    return public_key_list(dict(keys)).build()
