"""MS-MQDMPR 3.1.3, 3.1.6, 3.1.7.1.25, MS-MQBR 3.1.3, 3.1.6.1, MS-MQSO 5.5.4: the core and its directory."""

from __future__ import annotations

from dataclasses import replace

from core_enterprise import (
    NORTH,
    NORTH_GATE,
    PUBLIC_NAME,
    RECEIVER,
    SENDER,
    SOUTH,
    SOUTH_GATE,
    Enterprise,
    machine,
    two_sites,
)
from core_network import Host, Network, guid, private

from reference_qm.directory import QueueManager, RoutingLink, Site
from reference_qm.model.timers import TimerKey, TimerName

HOUR_MS = 3_600_000


def state(host: Host):
    return host.core.enterprise.state


def timer_ms(host: Host, name: TimerName) -> int | None:
    return host.core.timers.get_remaining_ms(TimerKey(name, 0), host.network.now.monotonic_ms)


def next_sites(host: Host) -> dict[object, object]:
    return {row.DestinationSiteID: row.NextHopSiteID for row in host.core.enterprise.table}


def lost(enterprise: Enterprise, host: Host) -> None:
    """Cut the network between a host and its directory, so that the host notices the loss."""
    enterprise.directory.connected = False
    host.send(PUBLIC_NAME)


def test_start_reads_attributes_sites_and_gates_from_directory():
    sender = Enterprise()[SENDER]
    local = state(sender).LocalQueueManager
    assert (local.Identifier, local.SiteIdentifierList, local.RoutingServer) == (guid(SENDER), (NORTH,), False)
    (site,) = state(sender).SiteCollection
    assert (site.Name, [gate.Identifier for gate in site.SiteGateCollection]) == ("north", [guid(NORTH_GATE)])
    assert (state(sender).DirectoryIntegrated, state(sender).DirectoryOffline) == (True, False)
    adm = sender.core.adm
    assert (adm.ComputerName, adm.SiteIdentifierList, state(sender).DirectoryIntegrated) == ("host1", (NORTH,), True)


def test_only_a_site_gate_has_a_routing_table():
    enterprise = Enterprise()
    assert next_sites(enterprise[SENDER]) == {}
    assert next_sites(enterprise[NORTH_GATE]) == {NORTH: NORTH, SOUTH: SOUTH}


def test_directory_timers_have_their_specified_durations():
    sender = Enterprise()[SENDER]
    assert timer_ms(sender, TimerName.DIRECTORY_SITES_UPDATE) == 12 * HOUR_MS
    assert timer_ms(sender, TimerName.DIRECTORY_SITE_GATES_UPDATE) == HOUR_MS
    assert timer_ms(sender, TimerName.QUEUE_MANAGER_QUERY) == HOUR_MS
    assert timer_ms(sender, TimerName.DIRECTORY_ONLINE) is None


def test_workgroup_mode_runs_no_directory_timers_and_is_never_offline():
    host = Network().host(1)
    host.send(private(9))
    assert (state(host).DirectoryIntegrated, state(host).DirectoryOffline) == (False, False)
    of_messages = {TimerName.MESSAGE_EXPIRATION}
    assert all(timer_ms(host, name) is None for name in set(TimerName) - of_messages)


def test_sites_are_read_again_every_twelve_hours():
    enterprise = Enterprise()
    enterprise.update(Site(Identifier=NORTH, ForeignSite=True))
    enterprise.network.advance(12 * HOUR_MS - 1)
    assert state(enterprise[SENDER]).SiteCollection[0].ForeignSite is False
    enterprise.network.advance(1)
    assert state(enterprise[SENDER]).SiteCollection[0].ForeignSite is True
    assert timer_ms(enterprise[SENDER], TimerName.DIRECTORY_SITES_UPDATE) == 12 * HOUR_MS


def test_gates_of_own_sites_are_read_again_every_hour():
    enterprise = Enterprise()
    enterprise.update(QueueManager(Identifier=guid(NORTH_GATE), JournalQuota=5))
    enterprise.network.advance(HOUR_MS)
    (gate,) = state(enterprise[SENDER]).SiteCollection[0].SiteGateCollection
    assert gate.JournalQuota == 5
    assert timer_ms(enterprise[SENDER], TimerName.DIRECTORY_SITE_GATES_UPDATE) == HOUR_MS


def test_the_routing_table_is_made_again_every_hour():
    east = Site(Identifier=guid(0x13), Name="east")
    enterprise = Enterprise([*two_sites(), east])
    gate = enterprise[NORTH_GATE]
    assert guid(0x13) not in next_sites(gate)
    enterprise.directory.provision(
        RoutingLink(
            Site1Identifier=SOUTH,
            Site2Identifier=east.Identifier,
            ActualCost=1,
            SiteGateIdentifierList=(guid(SOUTH_GATE),),
        )
    )
    enterprise.network.advance(HOUR_MS - 1)
    assert guid(0x13) not in next_sites(gate)
    enterprise.network.advance(1)
    assert next_sites(gate)[guid(0x13)] == SOUTH
    assert timer_ms(gate, TimerName.QUEUE_MANAGER_QUERY) == HOUR_MS


def test_timer_scale_shortens_directory_timers():
    enterprise = Enterprise(numbers=())
    sender = enterprise.join(SENDER, timers=replace(enterprise.timers, scale=60))
    assert timer_ms(sender, TimerName.QUEUE_MANAGER_QUERY) == 60_000


def test_lost_directory_is_polled_every_minute():
    enterprise = Enterprise()
    sender = enterprise[SENDER]
    lost(enterprise, sender)
    assert state(sender).DirectoryOffline is True
    assert timer_ms(sender, TimerName.DIRECTORY_ONLINE) == 60_000
    enterprise.network.advance(30_000)
    assert timer_ms(sender, TimerName.DIRECTORY_ONLINE) == 30_000, "not started again"
    enterprise.network.advance(30_000)
    assert timer_ms(sender, TimerName.DIRECTORY_ONLINE) == 60_000, "it was not back"
    enterprise.directory.connected = True
    enterprise.network.advance(60_000)
    assert state(sender).DirectoryOffline is False
    assert timer_ms(sender, TimerName.DIRECTORY_ONLINE) is None


def test_messages_wait_for_unavailable_directory_and_are_sent_on_its_return():
    enterprise = Enterprise()
    sender = enterprise[SENDER]
    enterprise.directory.connected = False
    sender.send(private(RECEIVER), b"private")
    sender.send(PUBLIC_NAME, b"public")
    enterprise.settle()
    assert {queue["State"] for queue in sender.adm()["OutgoingQueues"]} == {"NeedValidation"}
    assert sender.connects == []
    enterprise.directory.connected = True
    enterprise.settle(70)
    assert enterprise[RECEIVER].bodies() == ["private"]
    assert enterprise[RECEIVER].bodies("orders") == ["public"]


def test_queue_manager_waits_until_the_directory_knows_it():
    enterprise = Enterprise([one for one in two_sites() if one.Identifier != guid(SENDER)], numbers=(NORTH_GATE,))
    sender = enterprise.join(SENDER)
    assert state(sender).DirectoryOffline is True
    enterprise.directory.provision(machine(SENDER, NORTH))
    enterprise.network.advance(60_000)
    assert (state(sender).DirectoryOffline, len(state(sender).SiteCollection)) == (False, 1)


def test_inspection_shows_the_enterprise():
    enterprise = Enterprise()
    shown = enterprise[NORTH_GATE].adm()["QueueManager"]
    assert shown["DirectoryIntegrated"] is True
    assert shown["DirectoryOffline"] is False
    assert shown["RoutingServer"] is True
    assert shown["SiteIdentifierList"] == [str(NORTH)]
    assert {"DestinationSiteID": str(SOUTH), "NextHopSiteID": str(SOUTH)} in shown["RoutingTable"]
