"""MS-MQDMPR 3.1.3 Initialization: attributes that a queue manager reads from the directory when it starts."""

from __future__ import annotations

from harness.errors import ConformanceFailure
from harness.expectations import any_order, holds, none, one_of
from harness.run.marks import covers, needs

pytestmark = needs("directory")

DIRECTORY_QUOTA_KB = 0x0012_3456


@needs("environment", "restart", "configure")
@covers("MQDMPR-3.1.3-D08", "MQDMPR-3.1.1-03")
def test_own_quota_is_read_from_directory_at_start(sut, judge):
    """A quota that an administrator changes in the directory applies after a restart of the SUT, and after a further
    restart.
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


@needs("inspect")
@covers("MQDMPR-3.1.3-D05", "MQDMPR-3.1.3-D09", "MQDMPR-3.1.1.1-27")
def test_sites_are_read_from_directory_at_start(sut, judge):
    """The SUT belongs to at least one site, and SiteCollection contains exactly the sites of SiteIdentifierList."""
    queue_manager = sut.inspect_queue_manager()
    listed = [str(one).lower() for one in queue_manager["SiteIdentifierList"]]
    identifiers = [one["Identifier"].lower() for one in queue_manager["SiteCollection"]]
    judge(
        "MQDMPR-3.1.3-D05",
        expected=holds("at least one site", otherwise="no site"),
        observed=bool(listed),
        case="SiteCollection",
    )
    if not listed:
        raise ConformanceFailure("the SUT belongs to no site")
    judge("MQDMPR-3.1.3-D09", expected=any_order(*listed), observed=identifiers, case="site identifiers")
    strange = [one for one in identifiers if one not in listed]
    judge("MQDMPR-3.1.1.1-27", expected=none("site that is missing from SiteIdentifierList"), observed=strange)


@needs("inspect")
@covers("MQDMPR-3.1.3-D10")
def test_enterprise_notification_flag_is_read_from_directory(sut, judge):
    """The model of the SUT contains an enterprise whose NonLDAPCapableQueueManagerNotification is True or False."""
    enterprise = sut.inspect_queue_manager()["EnterpriseReference"]
    observed = "no enterprise" if enterprise is None else str(enterprise["NonLDAPCapableQueueManagerNotification"])
    judge("MQDMPR-3.1.3-D10", expected=one_of("True", "False"), observed=observed, case="enterprise notification flag")
