"""MS-MQQP 3.2.4.1 Opening a Queue: queues of two servers, a later start of the client, and purges of opened queues."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import each, facts, holds
from harness.run.marks import covers, needs
from harness.wire.rpc import QM2QM
from harness.wire.rpc_qm2qm import Method
from suites.mqqp.steps.reader import Reader

pytestmark = needs("remote_read")


def _count_binds_to_qm2qm(reader: Reader) -> int:
    return sum(
        any(proposal.abstract_syntax == QM2QM for proposal in proposals)
        for association in reader.server.associations
        for _, proposals in association.binds
    )


@covers("MQQP-3.2.4.1-02")
def test_client_binds_to_server_of_each_queue(peer, second_host, sut, judge):
    """The SUT opens a queue of the peer, a queue of a second host, and a further queue of each of them. Each time, the
    SUT binds to qm2qm at the host of that queue, and calls RemoteQMOpenQueue only there.
    """
    readers = [Reader(host, sut) for host in (peer, second_host)]
    for turn in (1, 2):
        for reader, other in (readers, readers[::-1]):
            binds = [_count_binds_to_qm2qm(one) for one in (reader, other)]
            reader.begin_open_queue().outcome()
            calls = reader.server.wait(Method.OPEN_QUEUE, turn)
            added = [_count_binds_to_qm2qm(one) - old for one, old in zip((reader, other), binds, strict=True)]
            observed = {
                "the_client_binds_at_the_host_of_the_queue": added[0] > 0,
                "binds_at_the_other_host": added[1],
                "number_of_openings_at_the_host": len(calls),
            }
            expected = facts(
                the_client_binds_at_the_host_of_the_queue=True,
                binds_at_the_other_host=0,
                number_of_openings_at_the_host=turn,
            )
            evidence = [frame for association in reader.server.associations for frame, _ in association.binds]
            judge("MQQP-3.2.4.1-02", expected=expected, observed=observed, evidence=[*evidence, *calls])


@needs("restart")
@covers("MQQP-3.2.4.1-10")
def test_client_open_queue_has_own_guid_after_restart(peer, sut, judge):
    """The SUT opens a queue before and after a restart. In both calls of RemoteQMOpenQueue, pLicGuid is the SUT's
    identifier.
    """
    reader = Reader(peer, sut)
    reader.begin_open_queue().outcome()
    reader.await_first_call(Method.OPEN_QUEUE)
    sut.restart()
    reader.begin_open_queue().outcome()
    calls = reader.server.wait(Method.OPEN_QUEUE, 2)
    found = [UUID(bytes_le=bytes(call.decoded_request.pLicGuid)) for call in calls if call.decoded_request is not None]
    observed = {"number_of_calls": len(found), "pLicGuid": found}
    expected = facts(number_of_calls=2, pLicGuid=each(sut.guid, "pLicGuid"))
    judge("MQQP-3.2.4.1-10", expected=expected, observed=observed, evidence=calls)


@covers("MQQP-3.1.4.3-07", "MQQP-3.1.4.7-01")
def test_client_purges_only_opened_queues(peer, sut, judge):
    """The SUT opens two queues, and purges each of them twice. Each RemoteQMPurgeQueue has the hQueue of an earlier
    RemoteQMOpenQueue.
    """
    reader = Reader(peer, sut)
    remotes = [reader.open() for _ in range(2)]
    for remote in (*remotes, *remotes):
        reader.begin("remote_purge", remote=remote).outcome()
    calls = [call for call in reader.server.calls if call.name in (Method.OPEN_QUEUE, Method.PURGE_QUEUE)]
    purges = [call for call in calls if call.name == Method.PURGE_QUEUE]
    opened: set[int] = set()
    known = []
    for call in calls:
        if call.decoded_request is None:
            continue
        if call.name == Method.OPEN_QUEUE:
            opened.add(call.decoded_request.hQueue)
        else:
            known.append(call.decoded_request.hQueue in opened)
    judge(
        "MQQP-3.1.4.3-07",
        "MQQP-3.1.4.7-01",
        expected=facts(number_of_purges=4, purges=each(holds("the queue was opened by RemoteQMOpenQueue"))),
        observed={"number_of_purges": len(known), "purges": known},
        evidence=[*calls[:2], *purges],
    )
