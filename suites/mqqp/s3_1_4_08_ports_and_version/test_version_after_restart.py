"""MS-MQQP 3.1.4.9 RemoteQmGetVersion: the version after a restart."""

from __future__ import annotations

from harness.expectations import between
from harness.run.marks import covers, needs
from harness.sut.releases import find_release
from harness.wire.rpc import QM2QM


@needs("qm2qm", "restart")
@covers("MQQP-3.1.4.9-02", "MQQP-3.1.4.9-03", "MQQP-3.1.4.9-D01")
def test_version_is_returned_after_restart(remote, sut, judge):
    """RemoteQmGetVersion returns version 6.1, or the version of the SUT's release, and a build number, both before and
    after a restart.
    """
    release = find_release(sut)
    sut.restart()
    call = remote.associate(QM2QM).call("RemoteQmGetVersion").expect_success()
    major, minor = release.version
    build = between(release.first_build or 1, 0xFFFF)
    for rule, name, expected, observed in (
        ("MQQP-3.1.4.9-02", "pMajor", major, call.out.pMajor),
        ("MQQP-3.1.4.9-D01", "pMinor", minor, call.out.pMinor),
        ("MQQP-3.1.4.9-03", "pBuildNumber", build, call.out.pBuildNumber),
    ):
        judge(rule, expected=expected, observed=observed, case=f"{name} after a restart", evidence=call.evidence)
