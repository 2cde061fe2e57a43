"""MS-NLMP, RFC 4178: security contexts of pyspnego, in both directions; how they refuse malformed tokens."""

from __future__ import annotations

import os

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st

from reference_qm.rpc.authentication import AuthLevel, AuthType, PduSegments, SecurityContext, SecurityError
from reference_qm.shell.rpc_user import User
from reference_qm.shell.spnego_security import (
    SpnegoAcceptor,
    make_client_security,
    make_server_security,
)

ALICE = User("alice", "Test-1: a password")
ANYWHERE = [ALICE, User("bob", "Test-2", "CONTOSO")]
SEGMENTS = PduSegments(b"header" * 4, b"stub data " * 8, b"8 bytes ")
LEVELS = [AuthLevel.CONNECT, AuthLevel.PKT, AuthLevel.PKT_INTEGRITY, AuthLevel.PKT_PRIVACY]


def acceptor(kind: AuthType, level: AuthLevel = AuthLevel.PKT_PRIVACY) -> SecurityContext:
    made = make_server_security(ANYWHERE).accept(kind, level)
    assert made is not None
    return made


def built(kind: AuthType, level: AuthLevel, user: User = ALICE, at_server: AuthLevel | None = None):
    """Exchange all authentication legs between client and server; return both contexts, and the number of legs."""
    client = make_client_security(kind, level, user).initiate()
    server = acceptor(kind, at_server or level)
    token, legs = client.process_token(b""), 1
    while token:
        side = server if legs % 2 else client
        token = side.process_token(token)
        legs += bool(token)
    assert client.is_complete
    assert server.is_complete
    return client, server, legs


@pytest.mark.parametrize("kind", AuthType)
@pytest.mark.parametrize("level", LEVELS)
def test_user_is_identified_after_the_authentication_legs_of_each_provider(kind, level):
    client, server, legs = built(kind, level)
    assert legs == (3 if kind is AuthType.WINNT else 4)
    assert (server.identity, client.identity) == ("alice", "")
    if level.signs_each_pdu:
        for sender, receiver in ((client, server), (server, client), (client, server)):
            signature = sender.sign(SEGMENTS, header_sign=True)
            assert len(signature) == sender.signature_size
            receiver.verify(SEGMENTS, signature, header_sign=True)


@pytest.mark.parametrize("kind", AuthType)
def test_sealed_rpc_segments_are_readable_only_by_the_remote_context(kind):
    client, server, _ = built(kind, AuthLevel.PKT_PRIVACY)
    body, signature = client.seal(SEGMENTS, header_sign=True)
    assert len(body) == len(SEGMENTS.body)
    assert body != SEGMENTS.body
    assert server.unseal(SEGMENTS._replace(body=body), signature, header_sign=True) == SEGMENTS.body
    with pytest.raises(SecurityError, match="signature is wrong"):
        server.unseal(SEGMENTS._replace(body=body), signature, header_sign=True)


@pytest.mark.parametrize("place", range(3))
def test_signature_covers_every_rpc_segment(place):
    client, server, _ = built(AuthType.WINNT, AuthLevel.PKT_INTEGRITY)
    changed = list(SEGMENTS)
    changed[place] = b"\0" + changed[place][1:]
    with pytest.raises(SecurityError, match="signature is wrong"):
        server.verify(PduSegments(*changed), client.sign(SEGMENTS, header_sign=False), header_sign=False)


@pytest.mark.parametrize(
    ("user", "known_as"),
    [
        (User("ALICE", ALICE.password, "WORKSTATION-7"), "WORKSTATION-7\\ALICE"),
        (User("bob", "Test-2", "contoso"), "contoso\\bob"),
        (User("alice", ALICE.password, "D:omain"), None),
        (User("bob", "Test-2"), None),
        (User("bob", "Test-2", "FABRIKAM"), None),
        (User("alice", "other"), None),
        (User("mallory", ALICE.password), None),
        (User("alice", ""), None),
    ],
)
@pytest.mark.parametrize("kind", AuthType)
def test_user_without_configured_domain_is_accepted_with_any_domain(kind, user, known_as):
    if known_as is None:
        with pytest.raises(SecurityError, match="token is refused"):
            built(kind, AuthLevel.PKT_INTEGRITY, user)
    else:
        assert built(kind, AuthLevel.PKT_INTEGRITY, user)[1].identity == known_as


def test_rpc_client_without_the_protection_of_its_level_is_refused():
    with pytest.raises(SecurityError, match="cannot provide the protection"):
        built(AuthType.WINNT, AuthLevel.CONNECT, at_server=AuthLevel.PKT_PRIVACY)


def test_passwords_of_users_are_not_left_in_environment_variables(monkeypatch):
    monkeypatch.setenv("NTLM_USER_FILE", "/before")
    built(AuthType.WINNT, AuthLevel.CONNECT)
    assert os.environ["NTLM_USER_FILE"] == "/before"
    monkeypatch.delenv("NTLM_USER_FILE")
    built(AuthType.WINNT, AuthLevel.CONNECT)
    assert "NTLM_USER_FILE" not in os.environ


def test_repr_of_a_user_contains_no_password():
    assert ALICE.password not in repr(ALICE)


def test_unknown_provider_and_server_without_users_offer_no_authentication():
    assert make_server_security(ANYWHERE).accept(16, AuthLevel.PKT_PRIVACY) is None
    assert make_server_security([]).accept(AuthType.WINNT, AuthLevel.PKT_PRIVACY) is None


def test_incomplete_security_context_cannot_sign_or_seal():
    with pytest.raises(SecurityError, match="not complete"):
        acceptor(AuthType.WINNT).sign(SEGMENTS, header_sign=True)


NEGOTIATE = make_client_security(AuthType.WINNT, AuthLevel.PKT_PRIVACY, ALICE).initiate().process_token(b"")
SPNEGO_INIT = make_client_security(AuthType.GSS_NEGOTIATE, AuthLevel.PKT_PRIVACY, ALICE).initiate().process_token(b"")


@budget(FEW)
@given(
    kind=st.sampled_from(list(AuthType)),
    token=st.one_of(
        st.binary(max_size=200),
        st.binary(max_size=80).map(lambda rest: b"NTLMSSP\0\x03\0\0\0" + rest),
        st.tuples(st.integers(0, len(SPNEGO_INIT) - 1), st.integers(0, 255)).map(
            lambda at: SPNEGO_INIT[: at[0]] + bytes([at[1]]) + SPNEGO_INIT[at[0] + 1 :]
        ),
        st.tuples(st.integers(0, len(NEGOTIATE) - 1), st.integers(0, 255)).map(
            lambda at: NEGOTIATE[: at[0]] + bytes([at[1]]) + NEGOTIATE[at[0] + 1 :]
        ),
    ),
    after=st.booleans(),
)
def test_arbitrary_security_tokens_authenticate_no_user(kind, token, after):
    context = SpnegoAcceptor(kind, AuthLevel.PKT_PRIVACY, (ALICE,))
    try:
        if after:
            context.process_token(NEGOTIATE if kind is AuthType.WINNT else SPNEGO_INIT)
        context.process_token(token)
    except SecurityError as error:
        assert "\n" not in str(error)
    assert not context.is_complete


@budget(FEW)
@given(data=st.data())
def test_altered_last_authentication_leg_never_authenticates_a_different_user(data):
    kind = data.draw(st.sampled_from(list(AuthType)))
    client = make_client_security(kind, AuthLevel.CONNECT, ALICE).initiate()
    server = acceptor(kind, AuthLevel.CONNECT)
    last = bytearray(client.process_token(server.process_token(client.process_token(b""))))
    last[data.draw(st.integers(0, len(last) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    try:
        server.process_token(bytes(last))
    except SecurityError:
        assert not server.is_complete
    else:
        assert server.identity.rpartition("\\")[2].lower() in ("", "alice")
