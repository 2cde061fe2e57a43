"""MS-MQQP 3.2.4.9 Closing a Queue."""

from __future__ import annotations

from harness.judging.verdicts import Verdict
from harness.run.marks import covers, needs
from suites.mqqp.steps.reader import QUEUE_HANDLE, SESSION_HANDLE, Reader, context, description
from suites.mqqp.steps.reads import READ_TIMEOUT_MS, RECEIVING

OTHER_QUEUE, OTHER_SESSION = 0x1077, context(0x5E77)


@needs("remote_read")
@covers("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-05", "MQQP-3.2.4.9-06")
def test_the_queue_that_is_meant_is_closed(peer, sut, judge):
    """Two queues are open, the first is closed: RemoteQMCloseQueue is called once, with its context handle."""
    reader = Reader(peer, sut)
    first = reader.open()
    reader.server.answers |= {
        "R_QMOpenRemoteQueue": lambda call: call.respond(
            pphContext=context(2), pdwContext=OTHER_QUEUE, dwpQueue=OTHER_QUEUE, phQueue=OTHER_QUEUE
        ),
        "RemoteQMOpenQueue": lambda call: call.respond(phContext=OTHER_SESSION),
    }
    reader.open()
    reader.begin("remote_close", remote=first)
    calls = reader.server.wait("RemoteQMCloseQueue")
    evidence = [frame for call in calls for frame in call.evidence]
    judge("MQQP-3.2.4.9-05", expected=1, observed=len(calls), evidence=evidence)
    found = [bytes(call.into.pphContext).hex() for call in calls if call.into is not None]
    for rule in ("MQQP-3.2.4.9-02", "MQQP-3.2.4.9-06"):
        judge(rule, expected=str([SESSION_HANDLE.hex()]), observed=str(found), evidence=evidence)


@needs("remote_read")
@covers("MQQP-3.2.4.9-03", "MQQP-3.2.4.9-04")
def test_reads_that_are_cancelled_with_the_queue(peer, sut, judge):
    """A read waits while its queue is closed. It may be cancelled before: then with its own handle and identifier."""
    reader = Reader(peer, sut)
    remote = reader.open()
    reader.let_reads_wait()
    RECEIVING.begin(reader, remote, READ_TIMEOUT_MS)
    read = reader.await_reads()[0]
    reader.begin("remote_close", remote=remote).wait()
    cancels = reader.server.named("RemoteQMCancelReceive")
    if not cancels:
        judge.give_up(Verdict.NOT_APPLICABLE, "the SUT does not cancel reads before it closes a queue: it need not")
        return
    evidence = [*read.evidence, *(frame for call in cancels for frame in call.evidence)]
    for rule, name, expected in (
        ("MQQP-3.2.4.9-03", "hQueue", QUEUE_HANDLE),
        ("MQQP-3.2.4.9-04", "dwRequestID", description(read).dwRequestID),
    ):
        found = [getattr(call.into, name) for call in cancels if call.into is not None]
        judge(rule, expected=str([expected]), observed=str(found), evidence=evidence)


@needs("remote_read", "inspect")
@covers("MQQP-3.2.4.9-07")
def test_a_closed_queue_has_no_entry(peer, sut, judge):
    """One entry while the queue is open, none afterwards."""
    reader = Reader(peer, sut)
    remote = reader.open()
    before = len(reader.opened())
    reader.begin("remote_close", remote=remote).wait()
    after = len(reader.opened())
    evidence = reader.one("RemoteQMCloseQueue").evidence
    judge("MQQP-3.2.4.9-07", expected="1, then 0", observed=f"{before}, then {after}", evidence=evidence)
