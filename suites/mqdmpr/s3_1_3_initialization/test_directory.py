"""MS-MQDMPR 3.1.3 Initialization: attributes that a queue manager reads from the directory when it starts."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from harness.errors import ConformanceFailure
from harness.expectations import any_order, holds, none, one_of
from harness.judging.judge import Judge
from harness.peer.peer import Peer
from harness.run.marks import covers, needs
from harness.sut.sut import Sut
from suites.mqdmpr.steps.directory import Enterprise

pytestmark = needs("directory")

DIRECTORY_QUOTA_KB = 0x0012_3456
REPLICATION_INTERVAL_ATTRIBUTE, REPLICATION_INTERVAL_PROPERTY = (
    "IntraSiteReplicationInterval",
    "intra_site_replication_interval_s",
)
CHANGED_REPLICATION_INTERVAL_S = 4_321
KEY_LISTS_BY_RULE = {"MQDMPR-3.1.3-21": "PublicEncryptionKeyList", "MQDMPR-3.1.3-24": "PublicSigningKeyList"}


@needs("environment", "restart", "configure")
@covers("MQDMPR-3.1.3-D08", "MQDMPR-3.1.1-03")
def test_own_quota_is_read_from_directory_at_start(sut, judge):
    """An administrator changes a quota in the directory. After a restart of the SUT, the new quota applies, and it
    still applies after a further restart.
    """
    quota_before = sut.read_directory_object()["quota_kb"]
    sut.change_directory_object(quota_kb=DIRECTORY_QUOTA_KB)
    try:
        sut.restart()
        quota_found = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.3-D08", expected=DIRECTORY_QUOTA_KB, observed=quota_found, case="quota in KB")
        sut.restart()
        quota_after = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.1-03", expected=DIRECTORY_QUOTA_KB, observed=quota_after, case="quota in KB after a restart")
    finally:
        sut.change_directory_object(quota_kb=quota_before)
        sut.restart()


@needs("inspect", "restart")
@covers("MQDMPR-3.1.3-D05", "MQDMPR-3.1.3-D09", "MQDMPR-3.1.1.1-27")
def test_sites_are_read_from_directory_at_start(peer, sut, judge):
    """Before and after a restart, the SUT belongs to the sites that its directory object lists, which is at least one
    site. SiteCollection contains exactly these sites, each with the name and the replication interval that the
    directory had at the start of the SUT.
    """
    for time in ("before a restart", "after a restart"):
        if time == "after a restart":
            sut.restart()
        queue_manager = sut.inspect_queue_manager()
        listed = [str(one).lower() for one in queue_manager["SiteIdentifierList"]]
        sites = {one["Identifier"].lower(): one for one in queue_manager["SiteCollection"]}
        judge(
            "MQDMPR-3.1.3-D05",
            expected=holds("at least one site", otherwise="no site"),
            observed=bool(listed),
            case=f"SiteIdentifierList {time}",
        )
        if not listed:
            raise ConformanceFailure("the SUT belongs to no site")
        judge("MQDMPR-3.1.3-D09", expected=any_order(*listed), observed=list(sites), case=f"site identifiers {time}")
        strange = [one for one in sites if one not in listed]
        missing = [one for one in listed if one not in sites]
        judge("MQDMPR-3.1.1.1-27", expected=none("site that is missing from SiteIdentifierList"), observed=strange)
        judge("MQDMPR-3.1.1.1-27", expected=none("listed site that is missing from SiteCollection"), observed=missing)
        if sut.controls_environment:
            _judge_sites_of_directory(peer, sut, judge, listed, sites, time)


def _judge_sites_of_directory(
    peer: Peer, sut: Sut, judge: Judge, listed: list[str], sites: dict[str, Any], time: str
) -> None:
    """Compare the SUT's sites with the directory, and set another interval for each site in the directory before the
    next start.
    """
    published = [str(one).lower() for one in sut.read_directory_object()["sites"]]
    judge("MQDMPR-3.1.3-D05", expected=any_order(*published), observed=listed, case=f"SiteIdentifierList {time}")
    for identifier, site in sites.items():
        of_directory = sut.read_directory_object(site=identifier)
        if of_directory is None:
            raise ConformanceFailure("the directory does not contain a site of the SUT")
        judge(
            "MQDMPR-3.1.3-D09",
            expected={
                "Name": of_directory["name"],
                REPLICATION_INTERVAL_ATTRIBUTE: of_directory[REPLICATION_INTERVAL_PROPERTY],
            },
            observed={name: site[name] for name in ("Name", REPLICATION_INTERVAL_ATTRIBUTE)},
            case=f"attributes of a site {time}",
        )
        if of_directory[REPLICATION_INTERVAL_PROPERTY] != CHANGED_REPLICATION_INTERVAL_S:
            before = {
                "site": identifier,
                REPLICATION_INTERVAL_PROPERTY: of_directory[REPLICATION_INTERVAL_PROPERTY] or 0,
            }
            peer.call_at_end_of_test(partial(sut.change_directory_object, **before))
            sut.change_directory_object(
                site=identifier, **{REPLICATION_INTERVAL_PROPERTY: CHANGED_REPLICATION_INTERVAL_S}
            )


@needs("inspect", "restart")
@covers("MQDMPR-3.1.3-D10")
def test_enterprise_notification_flag_is_read_from_directory(sut, judge):
    """Before and after a restart, the SUT's data model contains an enterprise whose
    NonLDAPCapableQueueManagerNotification is True or False.
    """
    for time in ("before a restart", "after a restart"):
        if time == "after a restart":
            sut.restart()
        enterprise = sut.inspect_queue_manager()["EnterpriseReference"]
        observed = "no enterprise" if enterprise is None else str(enterprise["NonLDAPCapableQueueManagerNotification"])
        flag = one_of("True", "False")
        judge("MQDMPR-3.1.3-D10", expected=flag, observed=observed, case=f"enterprise notification flag {time}")


@needs("inspect", "environment", "queue_control")
@covers(
    "MQDMPR-3.1.1.1-11",
    "MQDMPR-3.1.1.1-27",
    "MQDMPR-3.1.1.1-31",
    "MQDMPR-3.1.3-10",
    "MQDMPR-3.1.3-21",
    "MQDMPR-3.1.3-24",
    "MQDMPR-3.1.3-D02",
    "MQDMPR-3.1.3-D04",
    "MQDMPR-3.1.3-D10",
)
@pytest.mark.parametrize("start", [False, pytest.param(True, marks=needs("restart"))], ids=["outage", "start"])
def test_attributes_do_not_depend_on_directory(peer, sut, judge, start):
    """The directory is unavailable while the SUT runs, or while it starts, and is then available again. In both
    periods, the SUT has the same MachineDomainId as before. A SUT that runs while the directory is unavailable also
    keeps its keys and its InitializationRetryTimerDuration. With the directory, the SUT has its sites, its keys and the
    enterprise, and no DirectoryServerType unless it is a directory server.
    """
    enterprise = Enterprise(peer, sut)
    if not enterprise.await_directory_online():
        raise ConformanceFailure("the SUT has no directory at the start of the check")
    before = sut.inspect_queue_manager()
    duration = str(before["InitializationRetryTimerDuration"])
    judge("MQDMPR-3.1.3-D04", expected=one_of("120", "900"), observed=duration, case="retry duration in seconds")
    if start:
        reason = "a start without the directory may be a failed attempt to initialize"
        judge.mark_not_exercised("MQDMPR-3.1.1.1-31", reason=reason)
        sut.change_environment(directory=False)
        sut.restart()
    else:
        enterprise.go_offline()
    for time in ("without the directory", "with the directory"):
        if time == "with the directory":
            sut.change_environment(directory=True)
            if start:
                sut.restart()
            if not enterprise.await_directory_online():
                raise ConformanceFailure("the SUT does not use its directory, which is available again")
        shown = sut.inspect_queue_manager()
        judge(
            "MQDMPR-3.1.3-10",
            "MQDMPR-3.1.3-D02",
            expected=before["MachineDomainId"],
            observed=shown["MachineDomainId"],
            case=f"MachineDomainId {time}",
        )
        if not (start and time == "without the directory"):  # MS-MQDMPR 3.1.3 initializes the lists with a directory
            for rule, name in KEY_LISTS_BY_RULE.items():
                judge(rule, expected=holds("at least one key"), observed=bool(shown[name]), case=f"{name} {time}")
        if not start:
            judge(
                "MQDMPR-3.1.1.1-31",
                "MQDMPR-3.1.3-D04",
                expected=duration,
                observed=str(shown["InitializationRetryTimerDuration"]),
                case=f"retry duration in seconds {time}",
            )
        if shown["DirectoryServer"]:
            judge.mark_not_exercised("MQDMPR-3.1.1.1-11", reason="the SUT is a directory server")
        else:
            server_type = shown["DirectoryServerType"]
            judge("MQDMPR-3.1.1.1-11", expected=None, observed=server_type, case=f"DirectoryServerType {time}")
    listed = {str(one).lower() for one in shown["SiteIdentifierList"]}
    strange = [one["Identifier"] for one in shown["SiteCollection"] if one["Identifier"].lower() not in listed]
    judge("MQDMPR-3.1.1.1-27", expected=none("site that is missing from SiteIdentifierList"), observed=strange)
    judge(
        "MQDMPR-3.1.3-D10",
        expected=holds("an enterprise"),
        observed=shown["EnterpriseReference"] is not None,
        case="EnterpriseReference with the directory",
    )
