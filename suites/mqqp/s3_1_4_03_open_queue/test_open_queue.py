"""MS-MQQP 3.1.4.3 RemoteQMOpenQueue: before anything else of an open queue."""

from __future__ import annotations

from uuid import UUID

import pytest

from harness.judging.verdicts import Verdict
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, goes_on, needs
from harness.wire.rpc_qm2qm import PEEK_CURRENT
from harness.wire.rpc_stub import NULL_HANDLE, guid
from suites.mqqp.steps.reader import START, START2, WINDOWS_7, WINDOWS_2000, Reader, frames_of
from suites.mqqp.steps.reading import FIRST, UNKNOWN_HANDLE, brought, deliver, filled, frames
from suites.mqqp.steps.reads import READ_TIMEOUT_MS, RECEIVING

pytestmark = needs("qm2qm")


INVALID_PARAMETER, INVALID_HANDLE = "MQ_ERROR_INVALID_PARAMETER", "MQ_ERROR_INVALID_HANDLE"


@covers(
    "MQQP-3.1.4.3-10", "MQQP-3.1.4.3-12", "MQQP-3.1.4.3-16", "MQQP-3.1.4.3-19", "MQQP-3.1.4.3-20", "MQQP-2.2.1.1-01"
)
def test_each_opening_has_a_handle_of_its_own(remote, judge):
    """Two openings bring two handles; both can be read through; a closed one is unknown."""
    remote.empty()
    association = remote.associate()
    sessions = [remote.open_remote(association).settled() for _ in range(2)]
    queue, second = (RemoteQueue(remote, association, one, settled=False) for one in sessions)
    deliver(remote, [FIRST])
    handles = [bytes(one.session.out.phContext) if one.session.out is not None else b"" for one in (queue, second)]
    seen = "two handles" if len({*handles, NULL_HANDLE}) == 3 else f"{len(set(handles))} handles"
    both = [one.session.outcome for one in (queue, second)]
    evidence = [*queue.session.evidence, *second.session.evidence]
    judge("MQQP-3.1.4.3-16", expected="two handles", observed=seen, evidence=evidence)
    for rule in ("MQQP-3.1.4.3-12", "MQQP-3.1.4.3-20"):
        observed = [*both, NULL_HANDLE not in handles]
        judge(rule, expected=["MQ_OK", "MQ_OK", True], observed=observed, evidence=evidence)
    reads = [brought(one.read(PEEK_CURRENT)) for one in (queue, second)]
    judge("MQQP-3.1.4.3-19", expected=[FIRST, FIRST], observed=reads, evidence=evidence)
    closed, again = second.close(), second.close()
    observed = [seen, closed.outcome, again.outcome]
    expected = ["two handles", "MQ_OK", "fault nca_s_fault_context_mismatch"]
    for rule in ("MQQP-3.1.4.3-10", "MQQP-2.2.1.1-01"):
        judge(rule, expected=expected, observed=observed, evidence=[*closed.evidence, *again.evidence])


@goes_on()
@covers("MQQP-3.1.4.3-11", "MQQP-3.1.4.3-14", "MQQP-3.1.4.3-15", "MQQP-3.1.4.3-17")
def test_values_that_are_refused_and_one_that_is_ignored(remote, judge):
    """pQueue and dwpContext are the same and not 0; hQueue may be anything; dwpContext is what is read from then on."""
    queue = filled(remote, FIRST)
    zeros = [queue.open_session(pQueue=0), queue.open_session(dwpContext=0), queue.open_session(pQueue=0, dwpContext=0)]
    evidence = [frame for call in zeros for frame in call.evidence]
    judge(
        "MQQP-3.1.4.3-14",
        expected=[INVALID_PARAMETER] * 3,
        observed=[call.outcome for call in zeros],
        evidence=evidence,
    )
    judge.finished("MQQP-3.1.4.3-14")
    differs = queue.open_session(pQueue=queue.pointer + 1)
    judge("MQQP-3.1.4.3-15", expected=INVALID_PARAMETER, observed=differs.outcome, evidence=differs.evidence)
    judge.finished("MQQP-3.1.4.3-15")
    opened = remote.open_remote(queue.association, "admin").settled()
    values = {"pQueue": opened.out.dwpQueue, "dwpContext": opened.out.pdwContext}
    ignored = queue.open_session(hQueue=UNKNOWN_HANDLE, **values)
    judge("MQQP-3.1.4.3-11", expected="MQ_OK", observed=ignored.outcome, evidence=ignored.evidence)
    judge.finished("MQQP-3.1.4.3-11")
    deliver(remote, ["second"], queue="admin")
    handles = {"hRemoteQueue": opened.out.phQueue, "dwQueue": opened.out.dwpQueue}
    read = queue.read(PEEK_CURRENT, **handles)
    judge("MQQP-3.1.4.3-17", expected="second", observed=brought(read), evidence=[*ignored.evidence, *read.evidence])


@needs("inspect")
@covers("MQQP-3.1.4.3-18")
def test_the_client_is_kept_with_what_it_opened(remote, sut, judge):
    """Two clients open a queue: the entries of their openings have their pLicGuids."""
    clients = [UUID(int=0x6D71_0001), UUID(int=0x6D71_0002)]
    queue = filled(remote)
    calls = []
    for client in clients:
        opened = remote.open_remote(queue.association).settled().out
        values = {"hQueue": opened.phQueue, "pQueue": opened.dwpQueue, "dwpContext": opened.pdwContext}
        calls.append(queue.open_session(pLicGuid=guid(client), **values).settled())
    known = {entry["ClientId"].lower() for entry in sut.inspect()["RemoteReading"]["OpenQueueEntryCollection"]}
    found = [str(client) for client in clients if str(client) in known]
    judge("MQQP-3.1.4.3-18", expected=[str(client) for client in clients], observed=found, evidence=frames(calls))


LOOKUP = "RemoteQMStartReceiveByLookupId"


IDENTIFIER = 0x0055_0000_0000_0007


LIFE = ("RemoteQMOpenQueue", "RemoteQMCloseQueue")


METHODS = {
    START: ("MQQP-3.1.4.1-04", ["MQQP-3.1.4.3-02"]),
    "RemoteQMEndReceive": ("MQQP-3.1.4.2-05", ["MQQP-3.1.4.3-03", "MQQP-3.1.4.2-03"]),
    "RemoteQMCloseQueue": ("MQQP-3.1.4.4-02", ["MQQP-3.1.4.3-04"]),
    "RemoteQMCloseCursor": ("MQQP-3.1.4.5-02", ["MQQP-3.1.4.3-05"]),
    "RemoteQMCancelReceive": ("MQQP-3.1.4.6-04", ["MQQP-3.1.4.3-06", "MQQP-3.1.4.6-02"]),
    "RemoteQMPurgeQueue": ("MQQP-3.1.4.7-02", ["MQQP-3.1.4.3-07", "MQQP-3.1.4.7-01"]),
    "RemoteQMGetQMQMServerPort": ("MQQP-3.1.4.8-01", []),
    "RemoteQmGetVersion": ("MQQP-3.1.4.9-01", []),
    START2: ("MQQP-3.1.4.10-01", ["MQQP-3.1.4.3-08"]),
    LOOKUP: ("MQQP-3.1.4.11-01", ["MQQP-3.1.4.3-09"]),
}
"""Of each method: the rule of its binding, and those that want the queue open before."""


@needs("remote_read")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=covers(rule, *more), id=name) for name, (rule, more) in METHODS.items()]
)
def test_each_method_is_called_on_a_binding_and_an_open_queue(peer, sut, judge, name):
    """It comes on a presentation context that was agreed on, after RemoteQMOpenQueue and no RemoteQMCloseQueue."""
    binding, order = METHODS[name]
    reader = Reader(peer, sut, WINDOWS_2000 if name == START else WINDOWS_7)
    use(reader, name)
    unbound = [(frame, reason) for frame, reason in reader.server.malformed if reason.startswith("context")]
    calls = reader.server.wait(name)
    if not calls and not unbound:
        judge.give_up(Verdict.NOT_EXERCISED, f"the SUT does not call {name}")
        return
    evidence = [*frames_of(calls), *(frame for frame, _ in unbound)]
    judge(binding, expected=[], observed=[reason for _, reason in unbound], evidence=evidence)
    came = [call.name for call in reader.server.calls]
    before = [one for one in came[: came.index(name) if calls else 0] if one in LIFE]
    for rule in order:
        judge(rule, expected=["RemoteQMOpenQueue"], observed=before, evidence=evidence)


def use(reader: Reader, name: str) -> None:
    """Let the SUT do what takes a method; what it says of it does not matter."""
    opened = reader.begin("remote_open", queue=reader.format_name).wait()
    if not opened.get("ok"):
        return
    remote = int(opened["remote"])
    if name == "RemoteQMCancelReceive":
        reader.let_reads_wait()
        read = RECEIVING.begin(reader, remote, READ_TIMEOUT_MS)
        reader.await_reads()
        reader.begin("cancel", request=read.number).wait()
    elif name == "RemoteQMCloseCursor":
        reader.begin("remote_close_cursor", cursor=reader.open_cursor(remote)).wait()
    elif name == "RemoteQMCloseQueue":
        reader.begin("remote_close", remote=remote).wait()
    elif name == "RemoteQMPurgeQueue":
        reader.begin("remote_purge", remote=remote).wait()
    elif name == LOOKUP:
        reader.begin("remote_receive_by_lookup_id", remote=remote, lookup_id=IDENTIFIER).wait()
    else:
        RECEIVING.begin(reader, remote).wait()
