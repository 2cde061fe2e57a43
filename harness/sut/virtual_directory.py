"""Build the directory of the reference in virtual time. The directory contains a site with the SUT and its peer,
and a second site that is reached through the peer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any
from uuid import UUID

from harness.sut.provisioning import load_known_keys
from harness.sut.sut_file import (
    BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
    GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
    GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE,
    PEER_PUBLIC_QUEUE,
    UNUSED_ADDRESS,
    DriverTable,
)
from reference_qm.directory import Computer, Enterprise, MemoryDirectory, Queue, QueueManager, RoutingLink, Site, User
from reference_qm.security import Sid, UserAccount
from reference_qm.surface.entropy import Entropy, generate_guid

OWN_SITE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d1")
FAR_SITE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000d2")
ENTERPRISE_GUID = UUID("6d71636f-6e66-4f72-8d00-0000000000e1")
COMPUTER_SID = Sid.of("S-1-5-21-1-2-3-1700")
PEER_COMPUTER_SID = Sid.of("S-1-5-21-1-2-3-1701")
PEER_MACHINE_NAME, FAR_COMPUTER_NAME = "peer", "far"
PEER_HOST_NAME = f"{PEER_MACHINE_NAME}.example"
"""The name of the peer's host, which the environment must resolve."""


def build_virtual_directory(
    driver: DriverTable, identifier: UUID, computer: str, entropy: Entropy, accounts: Iterable[UserAccount] = ()
) -> MemoryDirectory:
    """Return a directory with the objects of the capability ``directory``, with users, and with the provisioned
    keys of the peer.
    """
    peer = driver.peer_identifier
    directory = MemoryDirectory(partial(generate_guid, entropy), lambda: 0)
    for element in (
        Enterprise(Identifier=ENTERPRISE_GUID, Name="mqc"),
        Computer(Name=computer, SecurityIdentifier=COMPUTER_SID.build()),
        Computer(Name=PEER_MACHINE_NAME, SecurityIdentifier=PEER_COMPUTER_SID.build()),
        Site(Identifier=OWN_SITE_GUID, Name="here"),
        Site(Identifier=FAR_SITE_GUID, Name="there"),
        _build_machine(identifier, computer, driver.address),
        _build_machine(
            peer,
            PEER_MACHINE_NAME,
            PEER_HOST_NAME,
            RoutingServer=True,
            PublicEncryptionKeyList=load_known_keys(peer)[peer],
        ),
        _build_machine(
            GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE, FAR_COMPUTER_NAME, UNUSED_ADDRESS, FAR_SITE_GUID, RoutingServer=True
        ),
        RoutingLink(
            Site1Identifier=OWN_SITE_GUID,
            Site2Identifier=FAR_SITE_GUID,
            ActualCost=1,
            SiteGateIdentifierList=(peer, GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE),
        ),
        Queue(Identifier=PEER_PUBLIC_QUEUE, Pathname=f"{PEER_MACHINE_NAME}\\mqc-public"),
        Queue(
            Identifier=GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE,
            Pathname=f"{FAR_COMPUTER_NAME}\\mqc-public",
            BasePriority=BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE,
        ),
        *(_build_user(account) for account in accounts),
    ):
        directory.provision(element)
    return directory


def _build_user(account: UserAccount) -> User:
    return User(SecurityIdentifier=account.SecurityIdentifier.build(), Certificates=account.Certificates.build())


def _build_machine(
    identifier: UUID, name: str, address: str, site: UUID = OWN_SITE_GUID, **attributes: Any
) -> QueueManager:
    return QueueManager(
        Identifier=identifier,
        ComputerName=name,
        QualifiedComputerName=address,
        SiteIdentifierList=(site,),
        **attributes,
    )
