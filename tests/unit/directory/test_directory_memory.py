"""The directory in memory. MS-MQDSSM 2.2.1, 3.1.6.1 to 3.1.6.7."""

from __future__ import annotations

from uuid import UUID

import pytest
from directory_made import ALPHA, BETA, ENTERPRISE, GATE, QUEUE, SID, SITE_A, SITE_B, Clock, made

from reference_qm.directory import (
    AttributeSortOrder,
    ConnectedNetwork,
    DirectoryObject,
    Enterprise,
    MemoryDirectory,
    Queue,
    QueueManager,
    RoutingLink,
    Site,
    User,
    build_equality_filter,
)
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.replica import MAX_OPEN_QUERIES

UNKNOWN = UUID(int=0xFF)
NEW_MACHINE = QueueManager(ComputerName="gamma", SiteIdentifierList=(SITE_A,))
NEW_LINK = RoutingLink(Site1Identifier=SITE_B, Site2Identifier=SITE_A, ActualCost=1)


def get(directory: MemoryDirectory, kind: str, identifier: UUID | None) -> DirectoryObject | None:
    return directory.read(kind, build_equality_filter("Identifier", identifier)).rDirectoryObject


@pytest.mark.parametrize(
    ("element", "path"),
    [
        (NEW_MACHINE, "CN=msmq, CN=gamma, CN=Computers, "),
        (Queue(Pathname="gamma\\a,b"), "CN=a\\,b, CN=msmq, CN=gamma, CN=Computers, "),
        (Site(Name="C"), "CN=C, CN=Sites, CN=Configuration, "),
        (NEW_LINK, f"CN={SITE_B.hex}{SITE_A.hex}, CN=MsmqServices, CN=Services, CN=Configuration, "),
    ],
    ids=["machine", "queue", "site", "link"],
)
def test_mqdssm_3_1_6_1_created_object_gets_identifier_and_times(element: DirectoryObject, path: str) -> None:
    directory = made(Clock(77))
    created = directory.create(element)
    assert created.rStatus is Result.SUCCESS
    stored = get(directory, type(element).__name__, created.rObjectGUID)
    assert stored is not None
    assert stored.Identifier == created.rObjectGUID
    assert stored.FullPath == path + "DC=enterprise,DC=invalid"  # type: ignore[attr-defined]
    if isinstance(stored, Queue):
        assert stored.DirectoryPath == f"LDAP://{stored.FullPath}"
    if isinstance(stored, Queue | QueueManager):
        assert (stored.CreateTime, stored.ModifyTime) == (77, 77)


def test_mqdssm_3_1_6_1_directory_chooses_the_identifier_of_a_new_object() -> None:
    created = made().create(Site(Identifier=UNKNOWN, Name="C"))
    assert created.rObjectGUID not in (UNKNOWN, None)


@pytest.mark.parametrize(
    "element",
    [
        QueueManager(ComputerName="gamma"),
        QueueManager(SiteIdentifierList=(SITE_A,)),
        Queue(Label="nameless"),
        Queue(Pathname="no-backslash"),
        Site(),
        RoutingLink(Site1Identifier=SITE_A, Site2Identifier=SITE_B),
        RoutingLink(Site1Identifier=SITE_A, ActualCost=1),
        RoutingLink(Site1Identifier=SITE_B, Site2Identifier=SITE_A, ActualCost=0),
        RoutingLink(Site1Identifier=SITE_B, Site2Identifier=SITE_A, ActualCost=1_000_000),
        RoutingLink(Site1Identifier=SITE_A, Site2Identifier=UNKNOWN, ActualCost=1),
        Enterprise(Name="second"),
        User(SecurityIdentifier=b"\1"),
        ConnectedNetwork(Name="ethernet"),
    ],
    ids=repr,
)
def test_mqdssm_3_1_6_1_object_without_its_precondition_is_not_created(element: DirectoryObject) -> None:
    assert made().create(element).rStatus is Result.GENERIC_ERROR


@pytest.mark.parametrize(
    ("element", "attributes"),
    [
        (NEW_MACHINE, ["ComputerName"]),
        (NEW_MACHINE, ["SiteIdentifierList", "ConnectedNetworkIdentifierList"]),
        (Queue(Pathname="alpha\\new"), ["Label"]),
        (Queue(Pathname="alpha\\new"), ["Pathname", "Scope"]),
        (Site(Name="C"), ["ForeignSite"]),
        (Site(Name="C"), ["Name", "PrimarySiteController"]),
        (NEW_LINK, ["Site1Identifier", "Site2Identifier"]),
    ],
)
def test_mqdssm_3_1_6_1_create_with_invalid_attribute_list_is_refused(
    element: DirectoryObject, attributes: list[str]
) -> None:
    assert made().create(element, attributes).rStatus is Result.GENERIC_ERROR


def test_mqdssm_3_1_6_1_create_publishes_only_listed_attributes() -> None:
    directory = made()
    element = Queue(Pathname="alpha\\new", Label="hidden", BasePriority=4)
    created = directory.create(element, ["Pathname", "BasePriority", "NoSuchAttribute"])
    stored = get(directory, "Queue", created.rObjectGUID)
    assert isinstance(stored, Queue)
    assert (stored.Pathname, stored.Label, stored.BasePriority) == ("alpha\\new", "", 4)


@pytest.mark.parametrize(
    "element",
    [Queue(Pathname="ALPHA\\ORDERS"), Site(Name="a"), QueueManager(ComputerName="Beta", SiteIdentifierList=(SITE_A,))],
)
def test_mqdssm_3_1_6_1_object_names_are_unique_in_any_letter_case(element: DirectoryObject) -> None:
    created = made().create(element)
    assert (created.rStatus, created.rObjectGUID) == (Result.OBJECT_ALREADY_EXISTS, None)


def test_mqdssm_3_1_6_1_naming_attributes_are_always_published() -> None:
    directory = made()
    stored = get(directory, "QueueManager", directory.create(NEW_MACHINE, ["SiteIdentifierList"]).rObjectGUID)
    assert isinstance(stored, QueueManager)
    assert stored.ComputerName == "gamma"


def test_mqdssm_3_1_6_1_unknown_queue_managers_are_left_out_of_lists() -> None:
    directory = made()
    machine = QueueManager(
        ComputerName="gamma",
        SiteIdentifierList=(SITE_A,),
        InRoutingServerIdentifierList=(GATE, UNKNOWN),
        OutRoutingServerIdentifierList=(SITE_A,),
    )
    stored = get(directory, "QueueManager", directory.create(machine).rObjectGUID)
    assert isinstance(stored, QueueManager)
    assert (stored.InRoutingServerIdentifierList, stored.OutRoutingServerIdentifierList) == ((GATE,), ())


@pytest.mark.parametrize(
    "element",
    [Queue(Identifier=QUEUE), Queue(Pathname="alpha\\orders"), Queue(Identifier=QUEUE, Pathname="beta\\other")],
)
def test_mqdssm_3_1_6_2_directory_object_is_deleted_by_identifier_or_name(element: Queue) -> None:
    directory = made()
    assert directory.delete(element) is Result.SUCCESS
    assert directory.read("Queue").rStatus is Result.OBJECT_NOT_FOUND
    assert directory.create(Queue(Pathname="alpha\\orders")).rStatus is Result.SUCCESS


def test_mqdssm_3_1_6_2_directory_object_is_deleted_by_full_path() -> None:
    directory = made()
    stored = get(directory, "Site", SITE_B)
    assert isinstance(stored, Site)
    assert directory.delete(Site(FullPath=stored.FullPath)) is Result.SUCCESS
    assert get(directory, "Site", SITE_B) is None


@pytest.mark.parametrize(
    ("element", "wanted"),
    [
        (Queue(), Result.GENERIC_ERROR),
        (Enterprise(Identifier=ENTERPRISE), Result.GENERIC_ERROR),
        (ConnectedNetwork(Name="ethernet"), Result.GENERIC_ERROR),
        (Queue(Identifier=UNKNOWN), Result.OBJECT_NOT_FOUND),
        (Site(Identifier=QUEUE), Result.OBJECT_NOT_FOUND),
        (QueueManager(Identifier=ALPHA), Result.GENERIC_ERROR),
    ],
    ids=["nameless", "enterprise", "network", "unknown", "other type", "has a queue below it"],
)
def test_mqdssm_3_1_6_2_refused_delete_returns_its_status(element: DirectoryObject, wanted: Result) -> None:
    assert made().delete(element) is wanted


@pytest.mark.parametrize(
    ("kind", "attributes", "wanted"),
    [
        ("ConnectedNetwork", None, Result.GENERIC_ERROR),
        ("Printer", None, Result.GENERIC_ERROR),
        ("QueueManager", ["ConnectedNetworkIdentifierList"], Result.GENERIC_ERROR),
        ("Site", ["PrimarySiteController"], Result.GENERIC_ERROR),
        ("Queue", ["MulticastAddress"], Result.ATTRIBUTE_NOT_FOUND),
        ("Enterprise", ["NonLDAPCapableQueueManagerNotification"], Result.ATTRIBUTE_NOT_FOUND),
        ("Queue", ["Label", "NoSuchAttribute"], Result.SUCCESS),
    ],
)
def test_mqdssm_3_1_6_3_directory_read_returns_the_specified_status(
    kind: str, attributes: list[str] | None, wanted: Result
) -> None:
    directory = made()
    assert directory.read(kind, attributes=attributes).rStatus is wanted
    handle = directory.read_begin(kind, attributes=attributes).rQueryHandle
    assert (handle is None) == (wanted is Result.GENERIC_ERROR)
    if handle is not None:
        assert directory.read_next(handle).rStatus is wanted


def test_mqdssm_3_1_6_3_directory_read_without_match_returns_object_not_found() -> None:
    directory = made()
    assert directory.read("Queue", build_equality_filter("Label", "none")).rStatus is Result.OBJECT_NOT_FOUND
    assert directory.read("Queue", build_equality_filter("Identifier", SITE_A)).rStatus is Result.OBJECT_NOT_FOUND


def test_mqdssm_3_1_6_4_enumeration_is_sorted_and_fixed_at_its_begin() -> None:
    directory = made()
    begun = directory.read_begin("QueueManager", (), ["QueueManagerQuota"], [AttributeSortOrder(1)])
    assert begun.rQueryHandle is not None
    directory.delete(QueueManager(Identifier=BETA))
    quotas = []
    while (found := directory.read_next(begun.rQueryHandle)).rStatus is Result.SUCCESS:
        assert isinstance(found.rDirectoryObject, QueueManager)
        quotas.append(found.rDirectoryObject.QueueManagerQuota)
    assert (quotas, found.rStatus) == ([3, 7, 0x100000], Result.END_OF_DATA)


def test_mqdssm_3_1_6_4_invalid_query_begins_no_enumeration() -> None:
    directory = made()
    assert directory.read_begin("Site", build_equality_filter("Color", 1)).rStatus is Result.GENERIC_ERROR
    assert directory.read_begin("Site", (), None, [AttributeSortOrder(1)]).rStatus is Result.GENERIC_ERROR


def test_mqdssm_3_1_6_4_number_of_unended_enumerations_is_limited() -> None:
    directory = made()
    handles = [directory.read_begin("Site").rQueryHandle for _ in range(MAX_OPEN_QUERIES)]
    assert len(set(handles)) == MAX_OPEN_QUERIES
    assert directory.read_begin("Site").rStatus is Result.GENERIC_ERROR
    assert directory.read_end(handles[5] or 0) is Result.SUCCESS
    assert directory.read_begin("Site").rQueryHandle not in {None, *handles}


def test_mqdssm_3_1_6_7_write_changes_listed_and_set_attributes() -> None:
    clock = Clock(10)
    directory = made(clock)
    clock.utc_s = 20
    change = Queue(Identifier=QUEUE, Label="new", BasePriority=9, Quota=1)
    assert directory.write(change, ["Label", "Quota", "MulticastAddress"]) is Result.SUCCESS
    stored = get(directory, "Queue", QUEUE)
    assert isinstance(stored, Queue)
    assert (stored.Label, stored.Quota, stored.BasePriority) == ("new", 1, 0)
    assert (stored.CreateTime, stored.ModifyTime) == (10, 20)


def test_mqdssm_3_1_6_7_names_and_generated_attributes_cannot_be_written() -> None:
    directory = made()
    before = get(directory, "QueueManager", BETA)
    change = QueueManager(Identifier=BETA, ComputerName="renamed", FullPath="CN=x", CreateTime=1, Clustered=True)
    names = ["ComputerName", "FullPath", "CreateTime", "Identifier", "Clustered"]
    assert directory.write(change, names) is Result.SUCCESS
    assert get(directory, "QueueManager", BETA) == before


@pytest.mark.parametrize(
    ("element", "attributes", "wanted"),
    [
        (Queue(Label="nameless"), None, Result.GENERIC_ERROR),
        (ConnectedNetwork(Identifier=UNKNOWN), None, Result.GENERIC_ERROR),
        (QueueManager(Identifier=BETA), ["ConnectedNetworkIdentifierList"], Result.GENERIC_ERROR),
        (Site(Name="none"), None, Result.OBJECT_NOT_FOUND),
        (Enterprise(DefaultTimeToLive=5), None, Result.SUCCESS),
        (User(SecurityIdentifier=SID, Certificates=b"\1"), None, Result.SUCCESS),
        (RoutingLink(FullPath="CN=none", ActualCost=1_000_000), None, Result.GENERIC_ERROR),
    ],
)
def test_mqdssm_3_1_6_7_directory_write_returns_the_specified_status(
    element: DirectoryObject, attributes: list[str] | None, wanted: Result
) -> None:
    assert made().write(element, attributes) is wanted


def test_mqdssm_3_1_6_7_write_keeps_attributes_missing_in_the_element() -> None:
    directory = made()
    assert directory.write(Site(Identifier=SITE_A, ForeignSite=True)) is Result.SUCCESS
    stored = get(directory, "Site", SITE_A)
    assert isinstance(stored, Site)
    assert (stored.ForeignSite, stored.Security) == (True, b"\1")


def test_mqdssm_3_1_6_7_description_of_link_to_deleted_site_can_be_written() -> None:
    directory = made()
    link = directory.read("RoutingLink").rDirectoryObject
    assert isinstance(link, RoutingLink)
    assert directory.delete(Site(Identifier=SITE_B)) is Result.SUCCESS
    described = RoutingLink(Identifier=link.Identifier, Description="down")
    assert directory.write(described, ["Description"]) is Result.SUCCESS
    assert directory.read("RoutingLink", build_equality_filter("Description", "down")).rStatus is Result.SUCCESS


def test_mqdssm_3_1_6_7_routing_link_must_connect_sites() -> None:
    directory = made()
    link = directory.read("RoutingLink").rDirectoryObject
    assert isinstance(link, RoutingLink)
    wrong = RoutingLink(Identifier=link.Identifier, Site2Identifier=QUEUE)
    assert directory.write(wrong, ["Site2Identifier"]) is Result.GENERIC_ERROR
    assert directory.read("RoutingLink").rDirectoryObject == link


def test_mqdssm_2_2_1_operations_fail_without_directory_connection() -> None:
    directory = made()
    handle = directory.read_begin("Site").rQueryHandle
    directory.connected = False
    assert directory.create(NEW_MACHINE).rStatus is Result.DIRECTORY_NOT_CONNECTED
    assert directory.read_begin("Site").rStatus is Result.DIRECTORY_NOT_CONNECTED
    assert directory.create(Site()).rStatus is Result.GENERIC_ERROR
    assert directory.read_next(handle or 0).rStatus is Result.SUCCESS
    directory.connected = True
    assert get(directory, "Site", SITE_A) is not None


@pytest.mark.parametrize(
    ("element", "complaint"),
    [
        (ConnectedNetwork(Name="ethernet"), "does not store objects of this type"),
        (Site(), "Site: the attributes that form its name must be set"),
        (Site(Name="A"), "already exists"),
        (Site(Identifier=SITE_A, Name="C"), "already exists"),
        (
            RoutingLink(Site1Identifier=SITE_B, Site2Identifier=SITE_A, ActualCost=0),
            "RoutingLink.ActualCost: the value must be 1 to 999999",
        ),
    ],
)
def test_invalid_provisioned_object_gives_one_line_error(element: DirectoryObject, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as raised:
        made().provision(element)
    assert "\n" not in str(raised.value)
