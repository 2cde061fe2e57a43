"""MS-MQSO 6.6.2, 6.6.2.1: the core after its machine joins or leaves a domain."""

from __future__ import annotations

from functools import partial

from core_enterprise import NORTH, SENDER, Enterprise
from core_network import Host, guid

from reference_qm.directory import MemoryDirectory, QueueManager, Site, build_equality_filter
from reference_qm.surface.commands import Identity
from reference_qm.surface.entropy import SeededEntropy, generate_guid

HOME, ABROAD = guid(0x71), guid(0x72)


def start(host: Host) -> None:
    host.restart()
    host.network.settle()


def member() -> Host:
    """Return a host that was started in its domain."""
    enterprise = Enterprise(numbers=())
    host = enterprise.join(SENDER)
    host.domain = HOME
    start(host)
    return host


def another_domain(*elements: QueueManager) -> MemoryDirectory:
    directory = MemoryDirectory(partial(generate_guid, SeededEntropy("abroad")), lambda: 0)
    for element in (Site(Identifier=NORTH, Name="north"), *elements):
        directory.provision(element)
    return directory


def move(host: Host, directory: MemoryDirectory) -> None:
    host.domain, host.directory = ABROAD, directory
    start(host)


def object_of(host: Host) -> QueueManager | None:
    assert host.directory is not None
    found = host.directory.read(
        "QueueManager", build_equality_filter("QualifiedComputerName", "host1")
    ).rDirectoryObject
    return found if isinstance(found, QueueManager) else None


def test_queue_manager_creates_its_object_in_new_domain_and_takes_its_identifier():
    host = member()
    move(host, another_domain())
    made = object_of(host)
    assert made is not None
    assert made.Identifier not in (None, guid(SENDER))
    assert (made.ComputerName, made.SiteIdentifierList) == ("host1", (NORTH,))
    assert made.PublicEncryptionKeyList == host.core.enterprise.state.LocalQueueManager.PublicEncryptionKeyList
    for _ in range(2):
        assert host.ask(Identity())["guid"] == str(made.Identifier)
        assert host.core.adm.LastDomain == ABROAD
        assert host.core.enterprise.state.DirectoryOffline is False
        start(host)


def test_new_domain_without_directory_means_workgroup_mode_until_next_start():
    host = member()
    directory = another_domain()
    directory.connected = False
    move(host, directory)
    assert (host.core.enterprise.state.DirectoryIntegrated, host.core.adm.LastDomain) == (False, HOME)
    directory.connected = True
    host.network.settle()
    assert object_of(host) is None
    start(host)
    assert object_of(host) is not None


def test_initialization_is_retried_when_directory_creates_no_object():
    host = member()
    directory = another_domain(
        QueueManager(Identifier=guid(98), ComputerName="host1", QualifiedComputerName="elsewhere")
    )
    move(host, directory)
    assert "cannot create the machine" in (host.core.halted or "")
    directory.delete(QueueManager(Identifier=guid(98)))
    host.network.advance(120_000)
    assert object_of(host) is not None
    assert host.core.halted is None
