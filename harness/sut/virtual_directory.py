"""The directory of the virtual system: one site with the system and its peer."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from harness.sut.provisioning import known_keys
from harness.sut.sut_file import PEER_PUBLIC_QUEUE, DriverTable
from reference_qm.directory import MemoryDirectory, Queue, QueueManager, Site
from reference_qm.surface.entropy import Entropy, new_guid

SITE = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
PEER = "peer"


def virtual_directory(driver: DriverTable, identifier: UUID, computer: str, entropy: Entropy) -> MemoryDirectory:
    """Return a directory with the system, its peer with the provisioned keys, and the peer's public queue."""
    peer = driver.peer_identifier
    directory = MemoryDirectory(partial(new_guid, entropy), lambda: 0)
    for element in (
        Site(Identifier=SITE, Name="here"),
        _machine(identifier, computer, driver.address),
        _machine(peer, PEER, driver.peer_address, known_keys(peer)[peer]),
        Queue(Identifier=PEER_PUBLIC_QUEUE, Pathname=f"{PEER}\\mqc-public"),
    ):
        directory.provision(element)
    return directory


def _machine(identifier: UUID, name: str, address: str, keys: bytes = b"") -> QueueManager:
    return QueueManager(
        Identifier=identifier,
        ComputerName=name,
        QualifiedComputerName=address,
        SiteIdentifierList=(SITE,),
        PublicEncryptionKeyList=keys,
    )
