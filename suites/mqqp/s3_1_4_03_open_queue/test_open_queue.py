"""MS-MQQP 3.1.4.3 RemoteQMOpenQueue: its handles and parameters."""

from __future__ import annotations

from uuid import UUID

from harness.expectations import each, facts, holds, status
from harness.peer.association import Call
from harness.peer.remote import RemoteQueue
from harness.run.marks import covers, needs, sut_survives
from harness.wire.rpc_qmcomm import PEEK_ACCESS

pytestmark = needs("qm2qm")


INVALID_PARAMETER_STATUS = "MQ_ERROR_INVALID_PARAMETER"


@covers(
    "MQQP-3.1.4.3-10", "MQQP-3.1.4.3-12", "MQQP-3.1.4.3-16", "MQQP-3.1.4.3-19", "MQQP-3.1.4.3-20", "MQQP-2.2.1.1-01"
)
def test_each_open_queue_returns_unique_handle(remote, judge):
    """Two calls of RemoteQMOpenQueue return two different handles, and a third call with the descriptor of the first
    call returns a third handle. Peeks of both queues succeed, even if a queue was opened only to peek.
    RemoteQMCloseQueue succeeds once with each handle, and ends only the queue of this handle; a second call gets a
    fault.
    """
    remote.empty_queue()
    association = remote.associate()
    sessions = [remote.open_remote(association).expect_success() for _ in range(2)]
    queue, second = (RemoteQueue(remote, association, one, settled=False) for one in sessions)
    remote.deliver(["first"])
    handles = [bytes(one.session.out.phContext) if one.session.out is not None else b"" for one in (queue, second)]
    apart = len({*handles, queue.NULL_HANDLE}) == 3
    both = [one.session.outcome for one in (queue, second)]
    evidence = [*queue.session.evidence, *second.session.evidence]
    judge("MQQP-3.1.4.3-16", expected=holds("the SUT returns two different handles"), observed=apart, evidence=evidence)
    third = queue.open_session()
    if third.outcome == "MQ_OK":
        judge(
            "MQQP-3.1.4.3-16",
            expected=holds("another open of the same queue returns a third handle"),
            observed=bytes(third.out.phContext) not in handles,
            evidence=[*evidence, *third.evidence],
        )
        judge(
            "MQQP-3.1.4.3-20",
            expected=holds("the third open returns a handle"),
            observed=bytes(third.out.phContext) != queue.NULL_HANDLE,
            evidence=third.evidence,
        )
    opened = {"outcomes_of_the_opens": both, "a_handle_is_NULL": queue.NULL_HANDLE in handles}
    expected = facts(outcomes_of_the_opens=each("MQ_OK"), a_handle_is_NULL=False)
    judge("MQQP-3.1.4.3-12", "MQQP-3.1.4.3-20", expected=expected, observed=opened, evidence=evidence)
    to_peek = remote.open_remote(association, access=PEEK_ACCESS).expect_success()
    peeking = RemoteQueue(remote, association, to_peek, settled=False)
    peek_handle = bytes(peeking.session.out.phContext) if peeking.session.out is not None else b""
    judge(
        "MQQP-3.1.4.3-20",
        expected=holds("the open to peek returns a handle"),
        observed=peek_handle not in (b"", queue.NULL_HANDLE),
        evidence=peeking.session.evidence,
    )
    reads = [one.peek().label_or_outcome for one in (queue, second, peeking)]
    judge("MQQP-3.1.4.3-19", expected=each("first", "read"), observed=reads, evidence=evidence)
    closed, again = second.close(), second.close()
    later_reads = [one.peek() for one in (queue, second, peeking)]
    peeking_closes = [peeking.close(), peeking.close()]
    observed = {
        "the_handles_differ": apart,
        "first_close": closed.outcome,
        "second_close": again.outcome,
        "reads_after_the_close": [read.label_or_failure for read in later_reads],
        "closes_of_the_queue_opened_to_peek": [close.outcome for close in peeking_closes],
    }
    expected = facts(
        the_handles_differ=True,
        first_close="MQ_OK",
        second_close="fault nca_s_fault_context_mismatch",
        reads_after_the_close=["first", Call.FAILURE_HRESULT_TEXT, "first"],
        closes_of_the_queue_opened_to_peek=["MQ_OK", "fault nca_s_fault_context_mismatch"],
    )
    judge(
        "MQQP-3.1.4.3-10",
        "MQQP-2.2.1.1-01",
        expected=expected,
        observed=observed,
        evidence=[*closed.evidence, *again.evidence, *later_reads, *peeking_closes],
    )
    if third.outcome == "MQ_OK":
        first = queue.close()
        judge(
            "MQQP-3.1.4.3-16",
            expected="MQ_OK",
            observed=first.outcome,
            case="close by the first of two handles of one descriptor",
            evidence=[third, first],
        )


@sut_survives()
@covers("MQQP-3.1.4.3-11", "MQQP-3.1.4.3-14", "MQQP-3.1.4.3-15", "MQQP-3.1.4.3-17")
def test_open_queue_with_zero_or_unequal_values_is_refused(remote, judge):
    """The SUT refuses RemoteQMOpenQueue if pQueue or dwpContext is 0, or if the two values differ. RemoteQMOpenQueue
    succeeds with any hQueue, and reads then return the messages of the queue that dwpContext identifies.
    """
    queue = remote.open_with_messages("first")
    zeros = [queue.open_session(pQueue=0), queue.open_session(dwpContext=0), queue.open_session(pQueue=0, dwpContext=0)]
    judge("MQQP-3.1.4.3-14", expected=each(status(INVALID_PARAMETER_STATUS), "opening"), observed=zeros, evidence=zeros)
    judge.conclude("MQQP-3.1.4.3-14")
    opened = [remote.open_remote(queue.association, "admin").expect_success().out for _ in range(3)]
    wrong = (queue.pointer + 1, queue.pointer ^ 0x1_0000, queue.pointer ^ 0x8000_0000, opened[0].dwpQueue)
    differs = [queue.open_session(pQueue=one) for one in wrong]
    judge(
        "MQQP-3.1.4.3-15",
        expected=each(status(INVALID_PARAMETER_STATUS), "open with unequal values"),
        observed=differs,
        evidence=differs,
    )
    judge.conclude("MQQP-3.1.4.3-15")
    ignored = [
        queue.open_session(hQueue=handle, pQueue=one.dwpQueue, dwpContext=one.pdwContext)
        for handle, one in zip((queue.UNKNOWN_HANDLE, 0, queue.handle), opened, strict=True)
    ]
    judge(
        "MQQP-3.1.4.3-11",
        expected=each(status("MQ_OK"), "open with any hQueue"),
        observed=ignored,
        evidence=ignored,
    )
    remote.deliver(["second"], queue="admin")
    reads = [queue.peek(hRemoteQueue=one.phQueue, dwQueue=one.dwpQueue) for one in opened]
    judge(
        "MQQP-3.1.4.3-11",
        "MQQP-3.1.4.3-17",
        expected=each("second", "read"),
        observed=[one.label_or_outcome for one in reads],
        evidence=[*ignored, *reads],
    )


@needs("inspect")
@covers("MQQP-3.1.4.3-18")
def test_open_queue_entry_has_client_guid(remote, sut, judge):
    """Two clients open the queue: the entries of OpenQueueEntryCollection contain the clients' pLicGuids as ClientId.
    If the SUT lets a third client open the descriptor of the second client, a further entry contains its pLicGuid.
    """
    clients = [UUID(int=0x6D71_0001), UUID(int=0x6D71_0002)]
    queue = remote.open()
    calls = []
    for client in clients:
        opened = remote.open_remote(queue.association).expect_success().out
        values = {"hQueue": opened.phQueue, "pQueue": opened.dwpQueue, "dwpContext": opened.pdwContext}
        calls.append(queue.open_session(client=client, **values).expect_success())
    again = queue.open_session(client=UUID(int=0x6D71_0003), **values)
    if again.outcome == "MQ_OK":
        clients.append(UUID(int=0x6D71_0003))
        calls.append(again)
    known = {
        entry["ClientId"].lower() for entry in sut.inspect()["RemoteReadingServerState"]["OpenQueueEntryCollection"]
    }
    found = [str(client) for client in clients if str(client) in known]
    judge(
        "MQQP-3.1.4.3-18",
        expected=[str(client) for client in clients],
        case="ClientIds of the entries",
        observed=found,
        evidence=calls,
    )


@covers("MQQP-3.1.4.3-D01")
@sut_survives()
def test_open_queue_with_dw_mqs_above_16_is_refused(remote, judge):
    """RemoteQMOpenQueue succeeds with a dwMQS from 0 to 16. The SUT refuses the call with a dwMQS above 16. Afterwards,
    the queue can still be read.
    """
    queue = remote.open_with_messages("first")
    in_range = [queue.open_session(dwMQS=value) for value in (0, 1, 2, 8, 15, 16)]
    above = [queue.open_session(dwMQS=value) for value in (17, 0x100, 0x8000_0000, 0xFFFF_FFFF)]
    observed = {
        "opens_with_dwMQS_in_its_range": in_range,
        "opens_with_dwMQS_above_its_range_are_refused": [call.is_refused for call in above],
        "peek": queue.peek().label_or_outcome,
    }
    expected = facts(
        opens_with_dwMQS_in_its_range=each(status("MQ_OK")),
        opens_with_dwMQS_above_its_range_are_refused=each(True),
        peek="first",
    )
    judge.all(expected=expected, observed=observed, evidence=[*in_range[-2:], *above])
