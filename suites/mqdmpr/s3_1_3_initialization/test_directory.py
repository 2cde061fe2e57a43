"""MS-MQDMPR 3.1.3 Initialization, 3.1.2 Timers: a queue manager that begins with a directory."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import between, holds, one_of
from harness.run.marks import covers, needs
from suites.applications import DONE, asked
from suites.mqdmpr.steps.shown import queue_manager
from suites.mqqb.steps.pinging import element

pytestmark = needs("directory")

MINUTE_MS, HOUR_MS = 60_000, 3_600_000
SITES_MS, GATES_MS = 12 * HOUR_MS, HOUR_MS
QUOTA_KB = 0x0012_3456
SYSTEM_QUEUES = ("system$;deadletter", "system$;deadxact", "system$;journal", r"private$\order_queue$")


@needs("environment", "restart", "configure")
@covers("MQDMPR-3.1.3-D08", "MQDMPR-3.1.1-03")
def test_what_the_directory_says_is_taken_over_at_the_start(sut, judge):
    """An administrator changes the quota of the queue manager in the directory: it has it when it begins again."""
    before = sut.published()["quota_kb"]
    sut.published(quota_kb=QUOTA_KB)
    try:
        sut.restart()
        found = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.3-D08", expected=QUOTA_KB, observed=found)
        sut.restart()
        again = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.1-03", expected=QUOTA_KB, observed=again)
    finally:
        sut.published(quota_kb=before)
        sut.restart()


@needs("environment", "restart", "queue_control")
@covers("MQDMPR-3.1.1-03", "MQDMPR-3.1.1.2-01", "MQDMPR-3.1.1.2-18")
def test_a_public_queue_is_in_the_directory_and_a_system_queue_is_not(sut, judge):
    """A public queue has its properties after a restart, here and in the directory; a system queue is not there."""
    name = f"mqc-{sut.own}-public"
    sut.create_queue(name, label="published", quota_kb=777, base_priority=-2)
    wanted = {"label": "published", "quota_kb": 777, "base_priority": -2}
    for time in ("before", "after"):
        if time == "after":
            sut.restart()
        shown = sut.control.call("get_queue", name=name)
        published = sut.published(queue=name)
        for rule, source in (("MQDMPR-3.1.1-03", shown), ("MQDMPR-3.1.1.2-01", published or {})):
            observed = {one: source.get(one) for one in wanted}
            judge(rule, expected=f"{wanted} {time} a restart", observed=f"{observed} {time} a restart")
    system = {queue: sut.published(queue=queue) for queue in SYSTEM_QUEUES}
    judge("MQDMPR-3.1.1.2-18", expected=dict.fromkeys(system), observed=system)


@needs("inspect")
@covers("MQDMPR-3.1.3-D05", "MQDMPR-3.1.3-D09", "MQDMPR-3.1.1.1-27")
def test_the_sites_of_the_queue_manager_are_those_of_the_directory(sut, judge):
    """There is a site at least, and those that were read are those that are listed."""
    shown = queue_manager(sut)
    listed = sorted(str(one).lower() for one in element(shown, "SiteIdentifierList"))
    read = sorted(one["Identifier"].lower() for one in element(shown, "SiteCollection"))
    judge("MQDMPR-3.1.3-D05", expected=holds("a site", otherwise="none"), observed=bool(listed))
    if not listed:
        raise ConformanceFailure("the SUT belongs to no site")
    judge("MQDMPR-3.1.3-D09", expected=listed, observed=read)
    strange = [one for one in read if one not in listed]
    judge("MQDMPR-3.1.1.1-27", expected=[], observed=strange)


@needs("inspect", "restart")
@covers("MQDMPR-3.1.3-D11", "MQDMPR-3.1.2.1-01", "MQDMPR-3.1.2.2-01")
def test_sites_and_gates_are_read_again_in_their_times(sut, judge):
    """After a restart both timers run, for their default durations."""
    sut.restart()
    timers = element(queue_manager(sut), "timers")
    found = {name: element(timers, name) for name in ("DirectorySitesUpdate", "DirectorySiteGatesUpdate")}
    running = {name: value is not None for name, value in found.items()}
    judge("MQDMPR-3.1.3-D11", expected=dict.fromkeys(found, True), observed=running)
    for rule, name, default_ms in (
        ("MQDMPR-3.1.2.1-01", "DirectorySitesUpdate", SITES_MS),
        ("MQDMPR-3.1.2.2-01", "DirectorySiteGatesUpdate", GATES_MS),
    ):
        due_ms = sut.duration_ms(default_ms)
        expected = between(due_ms - sut.slack_ms(0) - sut.response_timeout_ms, due_ms)
        judge(rule, expected=expected, observed=-1 if found[name] is None else int(found[name]))


@needs("environment", "queue_control")
@covers("MQDMPR-3.1.2.5-01", "MQDMPR-3.1.2.5-D01")
def test_a_directory_that_is_away_is_looked_for_every_minute(peer, sut, judge):
    """The directory goes away and comes back, changed by its administrator: the change is here within a minute, not
    before.
    """
    name = f"mqc-{sut.own}-away"
    sut.create_queue(name, label="before")
    sut.change_environment(directory=False)
    if asked(sut, "set_queue", name=name, label="meanwhile") == DONE:
        raise ConformanceFailure("the SUT changes a public queue while its directory is away")
    minute_ms = sut.duration_ms(MINUTE_MS)
    sut.control.call("environment", directory=True)
    sut.published(queue=name, label="after")
    seen = []
    for wait_ms in (minute_ms * 3 // 4, minute_ms // 4 + sut.slack_ms(MINUTE_MS)):
        peer.pass_time(wait_ms)
        seen.append(sut.control.call("get_queue", name=name)["label"])
    judge("MQDMPR-3.1.2.5-D01", expected="after", observed=seen[1])
    judge("MQDMPR-3.1.2.5-01", expected=["before", "after"], observed=seen)


@needs("inspect")
@covers("MQDMPR-3.1.3-D10")
def test_the_enterprise_says_whether_old_queue_managers_are_notified(sut, judge):
    """The enterprise is known, and whether those that do not speak LDAP are notified of changes."""
    enterprise = element(queue_manager(sut), "EnterpriseReference")
    observed = "no enterprise" if enterprise is None else str(enterprise["NonLDAPCapableQueueManagerNotification"])
    judge("MQDMPR-3.1.3-D10", expected=one_of("True", "False"), observed=observed)
