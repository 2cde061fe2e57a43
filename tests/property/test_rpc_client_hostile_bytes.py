"""For any bytes of a hostile server, the client's association raises no exception, keeps little memory, and either ends
or continues. C706 12.6.
"""

from __future__ import annotations

from typing import Any

import core_bridge  # noqa: F401
from budgets import FEW, budget
from core_remote import Remote, read
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.rpc import QM2QM
from reference_qm.rpc.bind_bodies import BindAck, PresentationContextResult
from reference_qm.rpc.bodies import Fault, Response, Shutdown
from reference_qm.rpc.client import ClientAssociation, build_outgoing_call
from reference_qm.rpc.header import WHOLE_PDU_FLAGS, PfcFlags
from reference_qm.rpc.outgoing import (
    AssociationBound,
    AssociationEnded,
    CallFailed,
    CallReturned,
    ClientOutput,
    SendPdusToServer,
)
from reference_qm.rpc.pdu import Pdu
from reference_qm.rpc.syntaxes import NDR, NDR64
from reference_qm.surface.inputs import BytesReceived
from reference_qm.surface.remote_commands import RemoteOpen, RemoteReceive

BYTES = st.binary(max_size=200)
CALLS = 4
SYNTAXES = st.sampled_from([NDR, NDR64])
RESULTS = st.lists(
    st.builds(PresentationContextResult, st.integers(0, 4), st.integers(0, 3), SYNTAXES), max_size=4
).map(tuple)
BODIES = st.one_of(
    st.builds(Response, st.integers(0, 3), BYTES),
    st.builds(Fault, st.integers(0, 3), st.integers(0, 0xFFFFFFFF)),
    st.builds(BindAck, st.integers(0, 0xFFFF), st.integers(0, 0xFFFF), st.integers(0, 9), BYTES, RESULTS),
    st.just(Shutdown()),
)
PDUS = st.builds(
    lambda body, call_id, flags: Pdu(body, call_id, flags).build(),
    BODIES,
    st.integers(0, 9),
    st.sampled_from([WHOLE_PDU_FLAGS, PfcFlags.FIRST_FRAG, PfcFlags.LAST_FRAG, 0, WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX]),
)


def bound(
    results: tuple[PresentationContextResult, ...] = (
        PresentationContextResult(0, transfer_syntax=NDR),
        PresentationContextResult(2, 2),
    ),
) -> Any:
    client = ClientAssociation([QM2QM])
    client.bind()
    client.receive_bytes(Pdu(BindAck(5840, 5840, 1, b"", results), 1, WHOLE_PDU_FLAGS | PfcFlags.CONC_MPX).build())
    return client


def called(client: ClientAssociation) -> None:
    for number in range(CALLS):
        client.begin_call(build_outgoing_call(QM2QM, "RemoteQMPurgeQueue", {"hQueue": number}))


def check(client: ClientAssociation, happened: list[ClientOutput], calls: int) -> None:
    """Check that each call ends at most once, and that all calls end when the association ends."""
    ended = [one.call for one in happened if isinstance(one, CallReturned | CallFailed)]
    assert len(ended) == len({id(call) for call in ended}) == calls - client.pending_call_count
    assert all(
        isinstance(one, CallReturned | CallFailed | AssociationEnded | AssociationBound | SendPdusToServer)
        for one in happened
    )
    assert client.has_ended is any(isinstance(one, AssociationEnded) for one in happened)
    if client.has_ended:
        assert client.pending_call_count == 0


@given(st.lists(st.one_of(BYTES, PDUS), max_size=12))
def test_calls_end_once_whatever_bytes_follow_the_bind(parts: list[bytes]) -> None:
    client = bound()
    called(client)
    happened = [one for part in parts for one in client.receive_bytes(part)]
    check(client, happened, CALLS)
    happened += client.fail_all_calls("over")
    assert sum(isinstance(one, CallReturned | CallFailed) for one in happened) == CALLS


@given(st.lists(st.one_of(BYTES, PDUS), max_size=6))
def test_client_survives_any_answer_to_its_bind(parts: list[bytes]) -> None:
    client = ClientAssociation([QM2QM])
    client.bind()
    check(client, [one for part in parts for one in client.receive_bytes(part)], 0)


@given(st.binary(max_size=400), st.integers(0, 399), st.booleans())
@budget(FEW)
def test_tampered_answer_ends_the_remote_read(
    noise: bytes, at: int, old: bool
) -> None:  # fmt: skip
    """Whatever the server sent, the command of the remote read is answered once, and the core continues to work."""
    remote = Remote()
    if old:
        remote.answers["RemoteQmGetVersion"] = lambda call: call.respond(pMajor=5, pMinor=0, pBuildNumber=1)
    number = remote.ask(RemoteOpen("DIRECT=TCP:10.0.0.9\\private$\\far"))["remote"]
    method = "RemoteQMStartReceive" if old else "RemoteQMStartReceive2"
    remote.waits.add(method)
    token = remote.begin(RemoteReceive(number))
    (call,) = remote.calls[method]
    (name,) = remote.connections
    for output in read(call):
        data = getattr(output, "data", b"")
        tampered = data[:at] + noise + data[at + len(noise) :]
        remote.handle(BytesReceived(name, tampered[: len(data)]))
    remote.advance(400_000)
    assert token in remote.results
    assert remote.pending() == []
