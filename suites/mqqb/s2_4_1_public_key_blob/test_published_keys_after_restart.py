"""MS-MQQB 2.4.1 PUBLICKEYBLOB: the keys that the SUT publishes after a restart."""

from __future__ import annotations

import base64

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from harness.wire import protection

KEY_BITS_BY_PROVIDER = {
    protection.BASE_PROVIDER: 512,
    protection.ENHANCED_PROVIDER: 1024,
    protection.ADVANCED_PROVIDER: 1024,
}


@needs("security", "restart")
@covers("MQQB-3.1.7.1.5-10")
def test_published_keys_have_specified_lengths_after_restart(sut, judge):
    """After a restart of the SUT, its list has one key of the specified length for each of the three providers."""
    sut.restart()
    listed = base64.b64decode(sut.control.call("identity").get("public_encryption_keys_base64") or "")
    if not listed:
        judge.give_up(Verdict.NOT_OBSERVABLE, "the control channel shows no keys")
        return
    blobs = protection.read_listed_blobs(listed)
    judge(
        "MQQB-3.1.7.1.5-10",
        expected=KEY_BITS_BY_PROVIDER,
        observed={name: 8 * (len(blob) - 20) for name, blob in blobs.items()},
        case="bits of the keys after a restart",
    )
