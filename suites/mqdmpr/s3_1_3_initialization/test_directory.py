"""MS-MQDMPR 3.1.3 Initialization, 3.1.2 Timers: a queue manager that begins with a directory."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, holds, none, one_of
from harness.run.marks import covers, needs

pytestmark = needs("directory")

QUOTA_KB = 0x0012_3456


@needs("environment", "restart", "configure")
@covers("MQDMPR-3.1.3-D08", "MQDMPR-3.1.1-03")
def test_what_the_directory_says_is_taken_over_at_the_start(sut, judge):
    """A queue manager that begins takes over the properties that the directory has of it, and keeps them."""
    before = sut.read_directory_object()["quota_kb"]
    sut.change_directory_object(quota_kb=QUOTA_KB)
    try:
        sut.restart()
        found = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.3-D08", expected=QUOTA_KB, observed=found)
        sut.restart()
        again = sut.control.call("configure")["quota_kb"]
        judge("MQDMPR-3.1.1-03", expected=QUOTA_KB, observed=again)
    finally:
        sut.change_directory_object(quota_kb=before)
        sut.restart()


@needs("inspect")
@covers("MQDMPR-3.1.3-D05", "MQDMPR-3.1.3-D09", "MQDMPR-3.1.1.1-27")
def test_the_sites_of_the_queue_manager_are_those_of_the_directory(sut, judge):
    """A queue manager that begins reads from the directory the sites that it belongs to, at least one."""
    shown = sut.inspect_queue_manager()
    listed = [str(one).lower() for one in shown["SiteIdentifierList"]]
    read = [one["Identifier"].lower() for one in shown["SiteCollection"]]
    judge("MQDMPR-3.1.3-D05", expected=holds("a site", otherwise="no site"), observed=bool(listed))
    if not listed:
        raise ConformanceFailure("the SUT belongs to no site")
    judge("MQDMPR-3.1.3-D09", expected=any_order(*listed), observed=read)
    strange = [one for one in read if one not in listed]
    judge("MQDMPR-3.1.1.1-27", expected=none("site that is not listed"), observed=strange)


@needs("inspect")
@covers("MQDMPR-3.1.3-D10")
def test_the_enterprise_says_whether_old_queue_managers_are_notified(sut, judge):
    """A queue manager that begins reads whether the enterprise notifies queue managers without LDAP of changes."""
    enterprise = sut.inspect_queue_manager()["EnterpriseReference"]
    observed = "no enterprise" if enterprise is None else str(enterprise["NonLDAPCapableQueueManagerNotification"])
    judge("MQDMPR-3.1.3-D10", expected=one_of("True", "False"), observed=observed)
