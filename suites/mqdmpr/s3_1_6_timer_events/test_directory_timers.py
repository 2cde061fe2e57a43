"""MS-MQDMPR 3.1.6.1, 3.1.6.2: the timers after which sites and gates are read again."""

from __future__ import annotations

from typing import Any

from harness.errors import ConformanceFailure
from harness.expectations import none
from harness.run.marks import covers, needs
from harness.sut.sut import Sut

QUEUE_MANAGER_QUOTA_KB, REPLICATION_INTERVAL_S = 76_543, 1_234
REPLICATION_INTERVAL_PROPERTY = "intra_site_replication_interval_s"
LONGEST_WAIT_MS = 120_000
"""The longest time in ms that a check waits when it cannot speed up the timers."""
SITES_UPDATE_RULES = ("MQDMPR-3.1.6.1-04", "MQDMPR-3.1.6.1-10")
SITE_GATES_UPDATE_RULES = ("MQDMPR-3.1.6.2-05", "MQDMPR-3.1.6.2-11")
SITE_COLLECTION_RULE = "MQDMPR-3.1.1.1-27"
SITE_IDENTIFIER_RULES = ("MQDMPR-3.1.6.1-07", "MQDMPR-3.1.6.2-08")


def _read_sites(sut: Sut) -> list[dict[str, Any]]:
    return list(sut.inspect_queue_manager()["SiteCollection"])


def _list_site_identifiers(sites: list[dict[str, Any]]) -> list[list[str]]:
    """Return, for each site, its identifier and the identifiers of its gates."""
    return [[site["Identifier"], *(gate["Identifier"] for gate in site["SiteGateCollection"])] for site in sites]


def _list_gate_quotas(sites: list[dict[str, Any]], gate: str) -> list[int]:
    """Return QueueManagerQuota of a gate, for each site that contains the gate."""
    gates = [one for site in sites for one in site["SiteGateCollection"]]
    return [one["QueueManagerQuota"] for one in gates if one["Identifier"] == gate]


def _get_time_until_expiry_ms(sut: Sut) -> int:
    """Return the time, in ms, until both timers have expired."""
    timers = sut.inspect_queue_manager()["timers"]
    return max(int(timers[name] or 0) for name in ("DirectorySitesUpdate", "DirectorySiteGatesUpdate"))


@needs("directory", "environment", "inspect")
@covers(*SITES_UPDATE_RULES, *SITE_GATES_UPDATE_RULES, *SITE_IDENTIFIER_RULES, SITE_COLLECTION_RULE)
def test_site_and_gate_changes_are_read_when_timers_expire(peer, sut, judge):
    """The replication interval of a site and the quota of its gate are changed twice in the directory. After each
    change, the SUT's data model contains the new values as soon as the timers have expired.
    """
    sites_before = _read_sites(sut)
    site = next((one for one in sites_before if one["SiteGateCollection"]), None)
    if site is None:
        raise ConformanceFailure("none of the SUT's sites has a gate")
    gate = site["SiteGateCollection"][0]
    left_ms = _get_time_until_expiry_ms(sut)
    if not sut.environment.is_time_virtual and left_ms > LONGEST_WAIT_MS:
        judge.mark_not_exercised(
            *SITES_UPDATE_RULES,
            *SITE_GATES_UPDATE_RULES,
            *SITE_IDENTIFIER_RULES,
            SITE_COLLECTION_RULE,
            reason=f"the SUT reads its sites and gates again only after {left_ms // 1_000} s",
        )
        return
    published = sut.read_directory_object(queue_manager=gate["Identifier"])
    if published is None:
        raise ConformanceFailure("the directory does not contain the gate of the SUT's site")
    restore = (
        {"site": site["Identifier"], REPLICATION_INTERVAL_PROPERTY: site["IntraSiteReplicationInterval"] or 0},
        {"queue_manager": gate["Identifier"], "quota_kb": published["quota_kb"]},
    )
    for arguments in restore:
        peer.call_at_end_of_test(lambda arguments=arguments: sut.change_directory_object(**arguments))
    for interval_s, quota_kb in (
        (REPLICATION_INTERVAL_S, QUEUE_MANAGER_QUOTA_KB),
        (2 * REPLICATION_INTERVAL_S, 2 * QUEUE_MANAGER_QUOTA_KB),
    ):
        sut.change_directory_object(site=site["Identifier"], **{REPLICATION_INTERVAL_PROPERTY: interval_s})
        sut.change_directory_object(queue_manager=gate["Identifier"], quota_kb=quota_kb)
        gates_left_ms = int(sut.inspect_queue_manager()["timers"]["DirectorySiteGatesUpdate"] or left_ms)
        peer.pass_time(gates_left_ms + sut.slack_ms(gates_left_ms) + sut.response_timeout_ms)
        quotas = _list_gate_quotas(_read_sites(sut), gate["Identifier"])
        judge(
            *SITE_GATES_UPDATE_RULES,
            expected=[quota_kb],
            observed=quotas,
            case="quotas in KB after the timer of the gates",
        )
        peer.pass_time(left_ms + sut.slack_ms(left_ms) + sut.response_timeout_ms)
        sites_after = _read_sites(sut)
        intervals = [
            one["IntraSiteReplicationInterval"] for one in sites_after if one["Identifier"] == site["Identifier"]
        ]
        judge(
            *SITES_UPDATE_RULES,
            "MQDMPR-3.1.6.1-07",
            expected=[interval_s],
            observed=intervals,
            case="intervals of the sites in seconds",
        )
        quotas = _list_gate_quotas(sites_after, gate["Identifier"])
        judge(*SITE_GATES_UPDATE_RULES, expected=[quota_kb], observed=quotas, case="quotas in KB")
        names = {one["Identifier"]: one["Name"] for one in sites_after}
        judge(
            *SITES_UPDATE_RULES,
            *SITE_IDENTIFIER_RULES,
            expected={one["Identifier"]: one["Name"] for one in sites_before},
            observed=names,
            case="names of the sites",
        )
        listed = [str(one).lower() for one in sut.inspect_queue_manager()["SiteIdentifierList"]]
        strange = [one for one in names if one.lower() not in listed]
        judge(SITE_COLLECTION_RULE, expected=none("site that is missing from SiteIdentifierList"), observed=strange)
        left_ms = max(left_ms, _get_time_until_expiry_ms(sut))
    judge(
        *SITE_IDENTIFIER_RULES,
        "MQDMPR-3.1.6.1-10",
        expected=_list_site_identifiers(sites_before),
        observed=_list_site_identifiers(sites_after),
        case="identifiers of the sites",
    )
