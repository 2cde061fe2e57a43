"""MS-MQQP 3.2.4.1 Opening a Queue: the client opens queues by private, direct and journal format names."""

from __future__ import annotations

from uuid import UUID

from harness.errors import ConformanceFailure
from harness.expectations import each
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import CommandOutcome, Reader

PRIVATE_QUEUE_NUMBER = 0x0A0B_0C0D


@needs("remote_read", "private_names")
@covers("MQQP-3.2.4.1-10")
def test_client_open_queue_has_own_guid_for_private_direct_and_journal_names(peer, sut, judge):
    """The SUT opens a queue of the peer twice by a private format name, once by a direct format name, and, if it
    supports these names, by the name of the journal of the queue. In each RemoteQMOpenQueue, pLicGuid is the SUT's
    identifier.
    """
    reader = Reader(peer, sut)
    private = peer.build_private_format_name_of_peer(PRIVATE_QUEUE_NUMBER)
    for name in (private, reader.format_name, private, f"{private};JOURNAL", f"{reader.format_name};JOURNAL"):
        opened = reader.begin_open_queue(name)
        if opened.outcome() is CommandOutcome.SUCCESS:
            reader.begin("remote_close", remote=int(opened.wait()["remote"])).outcome()
        elif not name.endswith(";JOURNAL"):
            raise ConformanceFailure(f"the SUT did not open {name}")
    calls = reader.server.list_calls_of(Method.OPEN_QUEUE)
    found = [UUID(bytes_le=bytes(call.decoded_request.pLicGuid)) for call in calls if call.decoded_request is not None]
    if not found:
        raise ConformanceFailure("the SUT did not call RemoteQMOpenQueue")
    judge("MQQP-3.2.4.1-10", expected=each(sut.guid, "pLicGuid"), observed=found, evidence=calls)
