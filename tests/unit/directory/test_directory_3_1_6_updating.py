"""A queue manager updates its elements from the directory. MS-MQDMPR 3.1.2, 3.1.3, 3.1.6.1, 3.1.6.2."""

from __future__ import annotations

from uuid import UUID

import pytest
from directory_made import ALPHA, BETA, ENTERPRISE, GATE, SITE_A, SITE_B, made, state_of

from reference_qm.directory import Enterprise, QueueManager, RoutingLink, Site, intervals
from reference_qm.directory.enums import DirectoryOperationResult as Result
from reference_qm.directory.updating import (
    compute_site_gate_collections,
    synchronize_with_directory,
    update_directory_site_gates,
    update_directory_sites,
)


def test_mqdmpr_3_1_2_timers_have_printed_intervals() -> None:
    assert intervals.DIRECTORY_SITES_UPDATE_INTERVAL_MS == 43_200_000
    assert intervals.DIRECTORY_SITE_GATES_UPDATE_INTERVAL_MS == 3_600_000
    assert intervals.DIRECTORY_ONLINE_MS == 60_000


def test_mqdmpr_3_1_3_own_queue_manager_and_its_sites_are_read_from_the_directory() -> None:
    state = state_of()
    assert synchronize_with_directory(made(), state, provisioning=False) is Result.SUCCESS
    assert (state.LocalQueueManager.QueueManagerQuota, [site.Name for site in state.SiteCollection]) == (7, ["A"])


def test_mqdmpr_3_1_3_missing_notification_attribute_means_notification() -> None:
    directory, state = made(), state_of()
    synchronize_with_directory(directory, state, provisioning=False)
    assert state.EnterpriseReference == Enterprise(NonLDAPCapableQueueManagerNotification=True)
    directory.write(Enterprise(Identifier=ENTERPRISE, NonLDAPCapableQueueManagerNotification=False))
    synchronize_with_directory(directory, state, provisioning=False)
    assert state.EnterpriseReference == Enterprise(NonLDAPCapableQueueManagerNotification=False)


@pytest.mark.parametrize(
    ("connected", "provisioning", "wanted"),
    [
        (True, False, Result.OBJECT_NOT_FOUND),
        (True, True, Result.SUCCESS),
        (False, True, Result.DIRECTORY_NOT_CONNECTED),
    ],
)
def test_mqdmpr_3_1_3_unknown_queue_manager_is_an_error_after_provisioning(
    connected: bool, provisioning: bool, wanted: Result
) -> None:
    directory, state = made(), state_of()
    directory.connected = connected
    state.LocalQueueManager = QueueManager(Identifier=UUID(int=0x99))
    assert synchronize_with_directory(directory, state, provisioning=provisioning) is wanted
    assert (state.LocalQueueManager, state.SiteCollection) == (QueueManager(Identifier=UUID(int=0x99)), ())


def test_mqdmpr_3_1_6_1_sites_are_read_again_and_keep_their_gates() -> None:
    directory, state = made(), state_of()
    state.SiteCollection = (
        Site(Identifier=SITE_A, Name="stale", SiteGateCollection=(QueueManager(Identifier=GATE),)),
        Site(Identifier=UUID(int=0x99), Name="unknown"),
    )
    update_directory_sites(directory, state)
    assert [one.Name for one in state.SiteCollection] == ["A", "unknown"]
    assert state.SiteCollection[0].SiteGateCollection == (QueueManager(Identifier=GATE),)


def test_mqdmpr_3_1_6_2_gates_of_sites_are_read_again() -> None:
    directory, state = made(), state_of()
    unknown = QueueManager(Identifier=UUID(int=0x99))
    state.SiteCollection = (
        Site(Identifier=SITE_A, Name="stale", SiteGateCollection=(QueueManager(Identifier=GATE), unknown)),
    )
    update_directory_site_gates(directory, state)
    (site,) = state.SiteCollection
    assert (site.Name, [gate.RoutingServer for gate in site.SiteGateCollection]) == ("stale", [True, False])


def test_site_gate_must_belong_to_the_site_be_a_routing_server_and_be_listed() -> None:
    """A gate of a site belongs to this site, is a routing server, and is listed by a link. This is the reading with
    which MS-MQBR finds SiteGateCollection in a directory.
    """
    machines = [
        QueueManager(Identifier=GATE, SiteIdentifierList=(SITE_A,), RoutingServer=True),
        QueueManager(Identifier=ALPHA, SiteIdentifierList=(SITE_A,)),
        QueueManager(Identifier=BETA, SiteIdentifierList=(SITE_B,), RoutingServer=True),
        QueueManager(Identifier=UUID(int=0x99), SiteIdentifierList=(SITE_A,), RoutingServer=True),
    ]
    link = RoutingLink(Site1Identifier=SITE_A, Site2Identifier=SITE_B, SiteGateIdentifierList=(GATE, ALPHA, BETA))
    by_identifier = {one.Identifier: one for one in machines if one.Identifier}
    assert compute_site_gate_collections([link], by_identifier) == {SITE_A: (machines[0],), SITE_B: (machines[2],)}


def test_gates_of_several_links_are_listed_once_and_in_order() -> None:
    machines = {
        one: QueueManager(Identifier=one, SiteIdentifierList=(SITE_A,), RoutingServer=True) for one in (GATE, ALPHA)
    }
    links = [
        RoutingLink(Site1Identifier=SITE_A, Site2Identifier=SITE_B, SiteGateIdentifierList=(GATE,)),
        RoutingLink(Site1Identifier=SITE_B, Site2Identifier=SITE_A, SiteGateIdentifierList=(GATE, ALPHA)),
    ]
    assert compute_site_gate_collections(links, machines) == {SITE_A: (machines[ALPHA], machines[GATE])}
