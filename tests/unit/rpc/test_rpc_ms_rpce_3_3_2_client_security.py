"""MS-RPCE 3.3.1.5.2, 3.3.2: the security context of a client's association, also with servers that violate the
protocol.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st
from rpc_made import pdus
from rpc_secured import LEGS, FixedContext, SecuredClient

from reference_qm.rpc import QM2QM, AssociationLimits, CallReceived, SendBytes
from reference_qm.rpc.authentication import AuthLevel, AuthType, ClientSecurity
from reference_qm.rpc.bodies import Auth3, Fault
from reference_qm.rpc.client import AlterContext, ClientAssociation, build_outgoing_call
from reference_qm.rpc.header import PfcFlags, SecTrailer
from reference_qm.rpc.outgoing import (
    AssociationBound,
    AssociationEnded,
    CallFailed,
    CallReturned,
    ClientOutput,
    SendPdusToServer,
)
from reference_qm.rpc.pdu import Pdu

SIGNING = [AuthLevel.PKT, AuthLevel.PKT_INTEGRITY, AuthLevel.PKT_PRIVACY]
Change = Callable[[bytes], bytes]


class Pair:
    """A client and a server that answers RemoteQmGetVersion; ``change`` alters each PDU of the server in transit."""

    def __init__(
        self, level: AuthLevel, auth_type: AuthType = AuthType.WINNT, limits: AssociationLimits | None = None
    ) -> None:
        self.server = SecuredClient(level)
        initiate: Callable[[], Any] = lambda: FixedContext(server=False)  # noqa: E731 - a factory
        self.client = ClientAssociation([QM2QM], limits, ClientSecurity(auth_type, level, initiate))
        if auth_type is not AuthType.WINNT:
            accept = self.server.server.security.accept
            object.__setattr__(self.server.server.security, "accept", lambda kind, level: accept(10, level))
        self.change: Change = bytes
        self.sent: list[Pdu] = []
        self.happened: list[ClientOutput] = []

    def run(self, outgoing: list[ClientOutput]) -> list[ClientOutput]:
        """Deliver PDUs in both directions until neither side sends any more; return the client's other outputs."""
        waiting = list(outgoing)
        while waiting:
            one = waiting.pop(0)
            if isinstance(one, SendPdusToServer):
                self.sent += pdus(one.data)
                for answer in self._answered(one.data):
                    waiting += self.client.receive_bytes(self.change(answer))
            else:
                self.happened.append(one)
        return self.happened

    def _answered(self, data: bytes) -> list[bytes]:
        found = []
        for one in self.server.feed(data):
            if isinstance(one, CallReceived):
                found += [each.data for each in one.call.respond(pMajor=6, pMinor=1, pBuildNumber=7)]
            elif isinstance(one, SendBytes):
                found.append(one.data)
        return found

    def bound(self) -> Pair:
        assert [type(one) for one in self.run(self.client.bind())] == [AssociationBound]
        return self

    def version(self) -> ClientOutput:
        """Call RemoteQmGetVersion; return the outcome of the call."""
        self.run(self.client.begin_call(build_outgoing_call(QM2QM, "RemoteQmGetVersion", {})))
        return self.happened[1]


@pytest.mark.parametrize("level", [AuthLevel.CONNECT, *SIGNING])
def test_rpc_client_protects_calls_and_verifies_answers(level):
    pair = Pair(level).bound()
    assert [type(pdu.body) for pdu in pair.sent[1:]] == [Auth3]
    returned = pair.version()
    assert isinstance(returned, CallReturned)
    assert returned.results["pBuildNumber"] == 7
    request = pair.sent[-1]
    assert (request.sec_trailer is not None) is level.signs_each_pdu
    assert bool(pair.sent[0].pfc_flags & PfcFlags.SUPPORT_HEADER_SIGN) is (level >= AuthLevel.PKT_INTEGRITY)


def test_authentication_with_even_number_of_legs_ends_with_alter_context():
    pair = Pair(AuthLevel.PKT_INTEGRITY, AuthType.GSS_NEGOTIATE).bound()
    assert [type(pdu.body) for pdu in pair.sent[1:]] == [AlterContext]
    assert isinstance(pair.version(), CallReturned)


def changed_trailer(data: bytes, **fields: Any) -> bytes:
    (pdu,) = pdus(data)
    trailer = pdu.sec_trailer
    assert trailer is not None
    given = {name: getattr(trailer, name) for name in ("auth_type", "auth_level", "auth_context_id", "token")}
    return Pdu(pdu.body, pdu.call_id, pdu.pfc_flags, sec_trailer=SecTrailer(**{**given, **fields})).build()


def without_trailer(data: bytes) -> bytes:
    (pdu,) = pdus(data)
    return Pdu(pdu.body, pdu.call_id, pdu.pfc_flags).build()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (without_trailer, "it does not authenticate"),
        (lambda data: changed_trailer(data, auth_context_id=9), "a different security context"),
        (lambda data: changed_trailer(data, auth_type=9), "a different security context"),
        (lambda data: changed_trailer(data, token=b"other"), "is not b'challenge'"),
        (lambda data: changed_trailer(data, token=bytes(100)), "the token is too long: 100 bytes"),
    ],
)
def test_rpc_client_ends_association_with_server_without_authentication(change, why):
    pair = Pair(AuthLevel.PKT_INTEGRITY, limits=AssociationLimits(token_bytes=64))
    pair.change = change
    (ended,) = pair.run(pair.client.bind())
    assert isinstance(ended, AssociationEnded)
    assert why in ended.reason


def test_refused_authentication_leg_ends_the_client_association():
    pair = Pair(AuthLevel.PKT_INTEGRITY, AuthType.GSS_NEGOTIATE)
    pair.run([])
    pair.server.association.security._limits = AssociationLimits(auth_legs=1)
    (ended,) = pair.run(pair.client.bind())
    assert isinstance(ended, AssociationEnded)
    assert "refused the authentication: status 0x00000005" in ended.reason


def test_rpc_client_limits_the_authentication_legs_of_the_server():
    pair = Pair(AuthLevel.PKT_INTEGRITY, limits=AssociationLimits(auth_legs=0))
    (ended,) = pair.run(pair.client.bind())
    assert isinstance(ended, AssociationEnded)
    assert "more than 0 tokens" in ended.reason
    assert LEGS[0] == pair.sent[0].sec_trailer.token  # type: ignore[union-attr]


@pytest.mark.parametrize("level", SIGNING)
def test_rpc_client_rejects_answer_without_token_but_accepts_such_a_fault(level):
    pair = Pair(level).bound()
    pair.change = without_trailer
    failed = pair.version()
    assert isinstance(failed, CallFailed)
    assert "has no token" in failed.error
    other = Pair(level).bound()
    other.change = lambda data: Pdu(Fault(0, 0x6F7), 2).build()
    refused = other.version()
    assert isinstance(refused, CallFailed)
    assert refused.status == 0x6F7


@budget(FEW)
@given(level=st.sampled_from(SIGNING), early=st.booleans(), data=st.data())
def test_tampered_server_bytes_give_no_false_result(level, early, data):
    pair = Pair(level)

    def flipped(wire: bytes) -> bytes:
        place = data.draw(st.integers(0, len(wire) - 1))
        return wire[:place] + bytes([wire[place] ^ data.draw(st.integers(1, 255))]) + wire[place + 1 :]

    if early:
        pair.change = flipped
        pair.run(pair.client.bind())
        assert len(pair.happened) <= 1
        return
    pair.bound()
    pair.change = flipped
    pair.run(pair.client.begin_call(build_outgoing_call(QM2QM, "RemoteQmGetVersion", {})))
    for one in pair.happened[1:]:
        assert not isinstance(one, CallReturned)
