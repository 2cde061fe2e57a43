"""The elements of a directory as objects. MS-MQDMPR 3.1.1."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest
from directory_made import ALPHA, GATE, SITE_A

from reference_qm.directory.enums import DirectoryOperationResult, OperatingSystemType
from reference_qm.directory.objects import (
    OBJECT_TYPE_BY_NAME,
    DirectoryObject,
    Queue,
    QueueManager,
    Site,
    copy_with_attributes,
    copy_with_published_attributes,
    list_directory_attributes,
)

PRINTED = {
    "QueueManager": """Identifier ComputerName QueueManagerVersion OperatingSystemVersion OperatingSystemType
        QualifiedComputerName CreateTime ModifyTime QueueManagerQuota JournalQuota ForeignSystem FullPath
        SiteIdentifierList ConnectedNetworkIdentifierList OutRoutingServerIdentifierList InRoutingServerIdentifierList
        DirectoryServer RemoteAccessServer RoutingServer SupportingServer DirectoryServerType PublicEncryptionKeyList
        PublicSigningKeyList Security Clustered""",
    "Queue": """Identifier Label CreateTime ModifyTime Type Pathname QualifiedPathname PrivateQueueNumber Journaling
        Quota JournalQuota Authentication PrivacyLevel Transactional MulticastAddress Security BasePriority FullPath
        DirectoryPath""",
    "Enterprise": """Identifier Name WeakenedSecurity NonLDAPCapableQueueManagerNotification DefaultTimeToLive
        OldDirectory Security""",
    "Site": """Identifier Name PrimarySiteController IntraSiteReplicationInterval InterSiteReplicationInterval FullPath
        ForeignSite PublicSigningKeyList MigratedFromMsmq10 Security""",
    "RoutingLink": """Identifier Description FullPath ActualCost Site1Identifier Site2Identifier
        SiteGateIdentifierList""",
    "ConnectedNetwork": "Identifier Name Security",
    "User": "Identifier SecurityIdentifier CertificateDigestList Certificates FullPath",
}


@pytest.mark.parametrize("name", PRINTED)
def test_directory_attributes_are_those_printed(name: str) -> None:
    assert set(list_directory_attributes(OBJECT_TYPE_BY_NAME[name])) == set(PRINTED[name].split())


def test_every_printed_directory_object_type_is_defined() -> None:
    assert OBJECT_TYPE_BY_NAME.keys() == PRINTED.keys()


def test_directory_results_equal_printed_values() -> None:
    """3.1.1.17."""
    assert [one.value for one in DirectoryOperationResult] == [
        "Success",
        "GenericError",
        "DirectoryNotConnected",
        "ObjectNotFound",
        "AttributeNotFound",
        "EndOfData",
        "ObjectAlreadyExists",
    ]


def test_queue_manager_object_has_printed_defaults() -> None:
    machine = QueueManager()
    assert (machine.QueueManagerQuota, machine.JournalQuota) == (0x00100000, 0xFFFFFFFF)
    assert not (machine.ForeignSystem or machine.RemoteAccessServer or machine.SupportingServer)
    assert machine.SiteIdentifierList == machine.InRoutingServerIdentifierList == ()
    assert [one.value for one in OperatingSystemType] == [
        "Foreign",
        "Win95",
        "WinClient",
        "WinServer",
        "WinEnt",
        "Other",
    ]


def test_queue_object_has_printed_defaults() -> None:
    """3.1.7.1.33."""
    queue = Queue()
    assert (queue.Label, queue.Type.int, queue.Journaling, queue.Quota) == ("", 0, False, 0xFFFFFFFF)
    assert (queue.PrivacyLevel.value, queue.Transactional, queue.MulticastAddress, queue.BasePriority) == (
        "Optional",
        False,
        None,
        0,
    )


@pytest.mark.parametrize("kind", OBJECT_TYPE_BY_NAME.values())
def test_directory_objects_are_immutable(kind: type[DirectoryObject]) -> None:
    with pytest.raises(FrozenInstanceError):
        kind().Identifier = ALPHA  # type: ignore[misc]


def test_directory_read_returns_only_requested_attributes() -> None:
    machine = QueueManager(Identifier=ALPHA, ComputerName="alpha", RoutingServer=True)
    assert copy_with_attributes(machine, ["RoutingServer"]) == QueueManager(RoutingServer=True)
    assert copy_with_attributes(machine, None) == machine


def test_directory_update_keeps_attributes_that_are_not_published() -> None:
    gates = (QueueManager(Identifier=GATE),)
    site = Site(Identifier=SITE_A, Name="old", SiteGateCollection=gates)
    assert copy_with_published_attributes(site, Site(Identifier=SITE_A, Name="new")) == replace(site, Name="new")
    assert "SiteGateCollection" in {one.name for one in fields(Site)} - set(list_directory_attributes(Site))
