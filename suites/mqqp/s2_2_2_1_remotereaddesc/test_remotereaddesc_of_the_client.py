"""MS-MQQP 2.2.2.1 REMOTEREADDESC: request identifiers of the client, and the fields that the client ignores."""

from __future__ import annotations

from functools import partial

from harness.expectations import holds
from harness.peer.rpc_server import ServedCall
from harness.run.marks import covers, needs
from harness.wire.rpc_qm2qm import REMOTEREADDESC, Ack, Method, desc2
from harness.wire.rpc_stub import buffer
from suites.mqqp.steps.reader import Reader, Reading


@needs("remote_read")
@covers("MQQP-2.2.2.1-05")
def test_request_id_of_unended_receive_is_not_reused(peer, sut, judge):
    """The SUT receives, and the peer does not answer RemoteQMEndReceive.

    A second receive of the SUT has another dwRequestID.
    """
    reader = Reader(peer, sut)
    remote = reader.open()
    del reader.server.answers["RemoteQMEndReceive"]
    reader.begin_read(Reading.RECEIVE, remote)
    first = reader.await_first_call("RemoteQMEndReceive")
    reader.let_reads_wait()
    reader.begin_read(Reading.RECEIVE, remote, Reader.LONG_TIMEOUT_MS)
    calls = reader.await_reads(2)
    numbers = [reader.description_of(call).dwRequestID for call in calls]
    judge(
        "MQQP-2.2.2.1-05",
        expected=holds("the second read has another dwRequestID"),
        observed=len(set(numbers)) == 2,
        evidence=[*calls, *first.evidence],
    )
    first.respond()


@needs("remote_read")
@covers("MQQP-2.2.2.1-06", "MQQP-2.2.2.1-09")
def test_answers_with_any_reserved_fields_are_accepted(peer, sut, judge):
    """The peer answers peeks with several values of Reserved and of eAckNack: the application gets the message each
    time.
    """
    reader = Reader(peer, sut)
    for rule, name, values in (
        ("MQQP-2.2.2.1-06", "Reserved", (0, 1, 0xFFFF_FFFF)),
        ("MQQP-2.2.2.1-09", "eAckNack", (0, Ack.RR_NACK, Ack.RR_ACK)),
    ):
        for value in values:
            remote = reader.open()
            reader.server.answers[Method.START_RECEIVE2] = partial(_answer_peek, reader, name, value)
            reply = reader.begin_read(Reading.PEEK, remote).wait()
            observed = bool(reply.get("message")) or str(reply.get("error", "no message"))
            reader.await_first_call(Method.START_RECEIVE2)
            evidence = reader.server.named(Method.START_RECEIVE2)[-1].evidence
            judge(rule, expected=holds("the message is brought"), observed=observed, evidence=evidence)


def _answer_peek(reader: Reader, name: str, value: int, call: ServedCall) -> None:
    """Answer a peek with a message and with one value of a reserved field."""
    data = reader.build_message()
    answer = REMOTEREADDESC(
        hRemoteQueue=Reader.QUEUE_HANDLE,
        dwQueue=Reader.QUEUE_DESCRIPTOR,
        ulAction=reader.description_of(call).ulAction,
        **{"dwSize": len(data), "lpBuffer": buffer(data), name: value},
    )
    call.respond(lpRemoteReadDesc2=desc2(answer, Reader.SEQUENTIAL_ID))
