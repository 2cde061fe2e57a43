"""MS-MQQP 3.1.4.6: RemoteQMCancelReceive of a client. The SUT is the client."""

from __future__ import annotations

import pytest

from harness.expectations import facts
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-3.1.4.6-03")
@pytest.mark.parametrize("version", [Reader.WINDOWS_2000, Reader.WINDOWS_7], ids=["old", "new"])
def test_client_cancels_read_after_it_began(peer, sut, judge, version):
    """Two reads of the SUT wait at the peer, and the application cancels the second: the SUT sends one
    RemoteQMCancelReceive, after both reads and with the dwRequestID of the second read.
    """
    reader = Reader(peer, sut, version)
    remote = reader.open()
    reader.let_reads_wait()
    requests = reader.begin_long_reads(Reading.RECEIVE, remote, 2)
    reader.begin("cancel", request=requests[1].number)
    cancels = reader.server.wait("RemoteQMCancelReceive")
    begun = [reader.get_read_description(call).dwRequestID for call in reader.reads()]
    came = [call.name == "RemoteQMCancelReceive" for call in reader.server.calls if call in [*reader.reads(), *cancels]]
    cancelled = [call.into.dwRequestID for call in cancels if call.into is not None]
    observed = {"RemoteQMCancelReceive_was_called": came, "dwRequestID_in_the_call": cancelled}
    expected = facts(RemoteQMCancelReceive_was_called=[False, False, True], dwRequestID_in_the_call=begun[1:])
    evidence = [*reader.reads(), *cancels]
    judge("MQQP-3.1.4.6-03", expected=expected, observed=observed, evidence=evidence)
