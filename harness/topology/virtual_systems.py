"""Create three reference queue managers of one enterprise in virtual time. The enterprise has two sites, and the
router belongs to both sites.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import MappingProxyType
from uuid import UUID

from harness.environment import Environment
from harness.environment.system_host import SystemHost
from harness.faults.registry import wrap
from harness.sut.control import VirtualControl
from harness.sut.sut import Sut
from harness.sut.sut_file import SutFile
from harness.sut.view import build_sut_view, request_identity
from harness.topology.topology import System
from harness.topology.topology_file import (
    GUID_OF_QUEUE_MANAGER_NEAR_SENDER,
    RECEIVER_ROLE,
    ROLES,
    ROUTER_ROLE,
    SENDER_ROLE,
)
from reference_qm.config import QueueManagerConfig
from reference_qm.core.installation import QueueManagerInstallation
from reference_qm.directory import MemoryDirectory, QueueManager, RoutingLink, Site
from reference_qm.surface.entropy import Entropy, SeededEntropy, generate_guid
from reference_qm.surface.queue_manager_environment import QueueManagerEnvironment

MSMQ_PORT = 1801
RELAY_ADDRESS_BY_ROLE = MappingProxyType(
    {SENDER_ROLE: "127.0.1.1", ROUTER_ROLE: "127.0.1.2", RECEIVER_ROLE: "127.0.1.3"}
)
LISTENING_ADDRESS_BY_ROLE = MappingProxyType(
    {SENDER_ROLE: "127.0.2.1", ROUTER_ROLE: "127.0.2.2", RECEIVER_ROLE: "127.0.2.3"}
)


def create_virtual_systems(file: SutFile, environment: Environment, seed: str) -> dict[str, System]:
    """Return three new cores, each with the faults that its SUT file names."""
    entropy = SeededEntropy(f"topology {seed}")
    identifiers = {role: generate_guid(entropy) for role in ROLES}
    directory = build_enterprise_directory(identifiers, entropy)
    return {
        role: System(
            role,
            RELAY_ADDRESS_BY_ROLE[role],
            _build_virtual_sut(file, environment, role, identifiers[role], directory, seed),
        )
        for role in ROLES
    }


def build_enterprise_directory(identifiers: dict[str, UUID], entropy: Entropy) -> MemoryDirectory:
    """Return the directory of an enterprise with two sites. The router is the gate of the sender's site, and the
    receiver is the gate of its own site. The sender's site is the second site of the routing link between them.
    """
    west, east = generate_guid(entropy), generate_guid(entropy)
    sites = {SENDER_ROLE: (west,), ROUTER_ROLE: (west,), RECEIVER_ROLE: (east,)}
    directory = MemoryDirectory(partial(generate_guid, entropy), lambda: 0)
    link = RoutingLink(
        Site1Identifier=east,
        Site2Identifier=west,
        ActualCost=1,
        SiteGateIdentifierList=(identifiers[ROUTER_ROLE], identifiers[RECEIVER_ROLE]),
    )
    machines = [
        QueueManager(
            Identifier=identifiers[role],
            ComputerName=role,
            QualifiedComputerName=RELAY_ADDRESS_BY_ROLE[role],
            SiteIdentifierList=sites[role],
            RoutingServer=role != SENDER_ROLE,
            OutRoutingServerIdentifierList=(identifiers[ROUTER_ROLE],) if role == SENDER_ROLE else (),
        )
        for role in ROLES
    ]
    near = QueueManager(Identifier=GUID_OF_QUEUE_MANAGER_NEAR_SENDER, ComputerName="near", SiteIdentifierList=(west,))
    for element in (Site(Identifier=west, Name="west"), Site(Identifier=east, Name="east"), *machines, near, link):
        directory.provision(element)
    return directory


def _build_virtual_sut(
    file: SutFile, environment: Environment, role: str, identifier: UUID, directory: MemoryDirectory, seed: str
) -> Sut:
    config = QueueManagerConfig(
        identifier=identifier,
        host_name=role,
        addresses=(LISTENING_ADDRESS_BY_ROLE[role], RELAY_ADDRESS_BY_ROLE[role]),
        remote_tcp_port=MSMQ_PORT,
        directory_integrated=True,
    )
    faults = file.reference.faults
    installed = QueueManagerInstallation(config, SeededEntropy(f"{role} {seed}"), lambda make: wrap(make, faults))
    surroundings = QueueManagerEnvironment(directory, identifier)
    host = SystemHost(environment, installed, LISTENING_ADDRESS_BY_ROLE[role], surroundings=surroundings)
    host.start()
    host.listen(MSMQ_PORT)
    control = VirtualControl(host)
    of_role = replace(file, driver=replace(file.driver, address=LISTENING_ADDRESS_BY_ROLE[role]))
    return build_sut_view(of_role, environment, control, request_identity(control), MSMQ_PORT, file.driver.ping_port)
