"""Stores the attributes of the enterprise that the queue manager last read from the directory. Spec: MS-MQDMPR
3.1.1.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias
from uuid import UUID

from reference_qm.config import QueueManagerConfig
from reference_qm.directory import (
    DirectoryReplica,
    DirectoryState,
    Queue,
    QueueManager,
    User,
    build_equality_filter,
    events,
)
from reference_qm.routing import RoutingTable
from reference_qm.security import PrivateKeyByProvider, build_directory_key_list
from reference_qm.surface.clock import Now
from reference_qm.surface.inputs import DirectoryAnswered

DirectoryAnswerHandler: TypeAlias = Callable[[DirectoryAnswered, Now], None]


class Enterprise:
    """The enterprise as the queue manager last read it from the directory.

    ``directory`` is the content of the directory at the last read; every read is answered from this content.
    ``awaited`` contains the functions that are called when the directory answers, by token. ``table`` is the
    RoutingTable of MS-MQBR 3.1.1.2. ``last_known`` contains the attributes that the directory had for this machine;
    only these attributes survive a restart. ``public_keys`` is the Queue Manager Public Key Cache of MS-MQSO
    6.4.3.2, which contains the PublicEncryptionKeyList for each Identifier. ``lost`` is the function that is called
    when the directory becomes unavailable.
    """

    def __init__(self, config: QueueManagerConfig, lost: Callable[[], None]) -> None:
        self.directory = DirectoryReplica(connected=False)
        self.awaited: dict[int, DirectoryAnswerHandler] = {}
        self.state = DirectoryState(
            LocalQueueManager=QueueManager(
                Identifier=config.identifier,
                ComputerName=config.host_name.partition(".")[0],
                QualifiedComputerName=config.host_name,
                OperatingSystemType=config.operating_system,
                PublicEncryptionKeyList=build_public_key_list(config.security.encryption_keys),
                PublicSigningKeyList=build_public_key_list(config.security.signing_keys, signing=True),
            ),
            DirectoryIntegrated=config.directory_integrated,
            sends_notifications=config.change_notifications,
            on_directory_lost=lost,
        )
        self.table: RoutingTable = ()
        self.last_known: QueueManager | None = None
        self.public_keys: dict[UUID, bytes] = {}

    def find_queue_manager(self, attribute: str, value: UUID | str | None) -> QueueManager | None:
        """Return the QueueManager with the given value of an attribute, or None. Spec: MS-MQDMPR 3.1.7.1.20."""
        found = events.read_directory(
            self.directory, self.state, "QueueManager", build_equality_filter(attribute, value)
        )
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, QueueManager) else None

    def find_queue(self, identifier: UUID) -> Queue | None:
        """Return the public queue with the given Identifier, or None. Spec: MS-MQDMPR 3.1.7.1.20."""
        found = events.read_directory(
            self.directory, self.state, "Queue", build_equality_filter("Identifier", identifier)
        )
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, Queue) else None

    def find_user(self, security_identifier: bytes) -> User | None:
        """Return the User with the given SID, or None. Spec: MS-MQDMPR 3.1.7.1.20, MS-MQQB 3.1.5.8.3."""
        wanted = build_equality_filter("SecurityIdentifier", security_identifier)
        found = events.read_directory(self.directory, self.state, "User", wanted)
        return found.rDirectoryObject if isinstance(found.rDirectoryObject, User) else None


def build_public_key_list(keys: PrivateKeyByProvider, *, signing: bool = False) -> bytes:
    """Return the public keys of a queue manager in the form that the directory uses. The list is empty if there are
    no keys.
    """
    return _build_cached_key_list(tuple(keys.items()), signing) if keys else b""


@lru_cache(maxsize=64)
def _build_cached_key_list(keys: tuple[tuple[str, Any], ...], signing: bool) -> bytes:
    return build_directory_key_list(dict(keys), signing=signing).build()
