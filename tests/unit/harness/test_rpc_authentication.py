"""MS-RPCE 3.3.1.5.2: the tester authenticates as a client of a scripted SUT, and as a server for impacket."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from harness_made import sut_file
from rpc_scripted import ScriptedSut

from harness.capture.packets import CapturedPackets, PacketNamedByVerdict
from harness.capture.recorder import Recorder
from harness.environment import RealEnvironment, VirtualEnvironment
from harness.errors import ConformanceFailure, UsageError
from harness.peer.association import Association
from harness.peer.peer import Peer
from harness.peer.rpc_server import RpcServer
from harness.sut.rpc_access import RpcCredentials
from harness.sut.sut import Sut
from harness.wire.rpc import QM2QM, QMCOMM, get_rpc_kind
from harness.wire.rpc_trailer import HEADER_SIGN_FLAG, SecTrailer, append_trailer, read_trailer, split_pdu
from harness.wire.wire_error import WireError
from reference_qm.rpc.authentication import AuthLevel, AuthType
from reference_qm.shell.rpc_user import User
from reference_qm.shell.spnego_security import make_server_security

sys.path.append(str(Path(__file__).parents[1] / "rpc"))
from impacket.dcerpc.v5.rpcrt import DCERPCException
from test_rpc_impacket import Impacket, RemoteQMGetQMQMServerPort

TESTER = User("tester", "Test-1")
KINDS = [("negotiate", AuthType.GSS_NEGOTIATE), ("ntlm", AuthType.WINNT)]
LEVELS = {
    "connect": AuthLevel.CONNECT,
    "packet": AuthLevel.PKT,
    "integrity": AuthLevel.PKT_INTEGRITY,
    "privacy": AuthLevel.PKT_PRIVACY,
}
SESSION = {"hQueue": 7, "pQueue": 7, "dwpContext": 7}


def access(level: str, kind: str = "negotiate", user: User = TESTER) -> dict[str, Any]:
    return {"level": level, "authentication": kind, "user": user.qualified_name, "password": user.password}


@pytest.fixture
def environment() -> Iterator[VirtualEnvironment]:
    made = VirtualEnvironment()
    yield made
    made.close()


@contextlib.contextmanager
def peer_of(environment: Any, capture: Path, **changes: Any) -> Iterator[Peer]:
    file = sut_file(**changes)
    about = {"identifier": None, "facilities": frozenset(), "tcp_port": 1801, "ping_port": 3527, "rpc_port": 2103}
    peer = Peer(environment, Sut(file, environment, None, **about, scale=1), Recorder(environment, capture), seed="rpc")
    yield peer
    peer.close()


def scripted(environment: VirtualEnvironment, least: AuthLevel = AuthLevel.NONE) -> ScriptedSut:
    return ScriptedSut(
        environment,
        security=make_server_security([TESTER], least),
        RemoteQmGetVersion=lambda call: call.respond(pMajor=6, pMinor=1, pBuildNumber=7),
        RemoteQMPurgeQueue=lambda call: call.respond(Return=0),
    )


@pytest.mark.parametrize(("kind", "auth_type"), KINDS)
@pytest.mark.parametrize("level", LEVELS)
def test_rpc_calls_use_the_authentication_level_of_the_sut_file(environment, tmp_path, level, kind, auth_type):
    sut = scripted(environment)
    with peer_of(environment, tmp_path / "rpc.pcapng", rpc=access(level, kind)) as peer:
        association = Association(peer).connect(2103).bind(QM2QM, QMCOMM)
        calls = [association.call("RemoteQmGetVersion") for _ in range(3)]
        assert [call.out.pMajor for call in calls] == [6, 6, 6]
        association.bind_additional_interfaces(QM2QM)
        assert association.call("RemoteQMPurgeQueue", hQueue=7).outcome == "MQ_OK"
        frames = association.record.frames
        association.close()
    assert {(call.level, call.identity) for call in sut.calls} == {(LEVELS[level], "tester")}
    bound = read_trailer(frames[0].data)
    assert bound is not None
    assert (bound.auth_type, bound.auth_level) == (auth_type, LEVELS[level])
    signs = level != "connect"
    assert bool(frames[0].packet.pfc_flags & HEADER_SIGN_FLAG) is (level in ("integrity", "privacy"))
    answers = [frame for frame in frames if frame.kind in ("request", "response")]
    assert {read_trailer(frame.data) is not None for frame in answers} == {signs}
    sealed = "on the wire they are the bytes above" in answers[1].dissection_text
    assert sealed is (level == "privacy")
    assert "pMajor" in answers[1].dissection_text
    # The capture holds the wire: whoever has no keys reads what was not sealed, and is told.
    captured = CapturedPackets(tmp_path / "rpc.pcapng")
    first = next(packet for packet in captured.packets if get_rpc_kind(packet.data) == "response")
    (shown,) = captured.show([PacketNamedByVerdict(first.frame)])
    assert ("pMajor" in shown.dissection) is (level != "privacy")
    assert ("they are neither read nor judged" in shown.dissection) is (level == "privacy")


@pytest.mark.parametrize("level", ["packet", "integrity", "privacy"])
@pytest.mark.parametrize("place", [-1, -20, 20, 24])
def test_rpc_answer_altered_in_transit_is_malformed(environment, tmp_path, level, place):
    sut = scripted(environment)
    with peer_of(environment, tmp_path / "rpc.pcapng", rpc=access(level, "ntlm")) as peer:
        association = Association(peer).connect(2103).bind(QM2QM)

        def flipped(data: bytes) -> bytes:
            changed = bytearray(data)
            changed[place] ^= 1
            return bytes(changed)

        sut.change = flipped
        assert association.call("RemoteQmGetVersion").outcome.startswith("a malformed response: not genuine")


def test_rpc_answer_without_a_security_token_is_rejected(environment, tmp_path):
    sut = scripted(environment)
    with peer_of(environment, tmp_path / "rpc.pcapng", rpc=access("integrity")) as peer:
        association = Association(peer).connect(2103).bind(QM2QM)

        def bare(data: bytes) -> bytes:
            header, body, _, _ = split_pdu(data)
            size = (len(header) + len(body)).to_bytes(2, "little")
            return header[:8] + size + bytes(2) + header[12:] + body

        sut.change = bare
        assert (
            "the PDU has no token, which authentication level 5 requires"
            in association.call("RemoteQmGetVersion").outcome
        )


@pytest.mark.parametrize(("kind", "auth_type"), KINDS)
def test_wrong_password_of_the_sut_file_is_reported(environment, tmp_path, kind, auth_type):
    scripted(environment)
    wrong = access("integrity", kind, User("tester", "other"))
    with peer_of(environment, tmp_path / "rpc.pcapng", rpc=wrong) as peer:
        association = Association(peer).connect(2103)
        if auth_type is AuthType.WINNT:  # the first call is told
            assert association.bind(QM2QM).call("RemoteQmGetVersion").outcome == "fault ERROR_ACCESS_DENIED"
        else:
            with pytest.raises(ConformanceFailure, match="the answer was fault"):
                association.bind(QM2QM)


def test_sut_without_authentication_is_reported(environment, tmp_path):
    ScriptedSut(environment)
    with (
        peer_of(environment, tmp_path / "rpc.pcapng", rpc=access("privacy")) as peer,
        pytest.raises(ConformanceFailure, match="bind_nak"),
    ):
        Association(peer).connect(2103).bind(QM2QM)


def test_call_denied_without_authentication_names_remedy(environment, tmp_path):
    sut = scripted(environment)
    sut.answers["RemoteQMPurgeQueue"] = lambda call: call.fault(5)
    for rpc, hinted in (({}, True), (access("connect"), False)):
        with peer_of(environment, tmp_path / "rpc.pcapng", rpc=rpc) as peer:
            call = Association(peer).connect(2103).bind(QM2QM).call("RemoteQMPurgeQueue", hQueue=7)
            with pytest.raises(ConformanceFailure, match="ERROR_ACCESS_DENIED") as caught:
                call.settled()
            assert ("[rpc] of the SUT file" in str(caught.value)) is hinted


# -- the peer's server ------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def served(tmp_path: Path, **rpc: Any) -> Iterator[tuple[RealEnvironment, RpcServer, tuple[str, int]]]:
    """Serve qm2qm at a free port of loopback in real time."""
    environment = RealEnvironment()
    driver = {"kind": "process", "peer_rpc_port": 0, "command": ["none"]}
    try:
        with peer_of(environment, tmp_path / "served.pcapng", driver=driver, **rpc) as peer:
            server = RpcServer(peer, {"RemoteQMGetQMQMServerPort": lambda call: call.respond(Return=2105)})
            yield environment, server, ("127.0.0.2", server.port)
    finally:
        environment.close()


def impacket(environment: RealEnvironment, where: tuple[str, int], login: Any, times: int = 3) -> Any:
    """Let impacket make calls in a separate thread while the peer's time advances; return the result of the calls."""
    came: list[Any] = []

    def call() -> None:
        try:
            client = Impacket(where, login=login)
        except DCERPCException as error:
            came.append(str(error))
            return
        try:
            came.append([client.request(RemoteQMGetQMQMServerPort(), dwPortType=1)["Port"] for _ in range(times)])
        except DCERPCException as error:
            came.append(str(error))
        finally:
            client.dce.disconnect()

    thread = threading.Thread(target=call)
    thread.start()
    assert environment.run_until(lambda: not thread.is_alive(), 60_000), "the call does not end"
    return came[0] if came else "nothing"


@pytest.mark.parametrize("level", [AuthLevel.CONNECT, AuthLevel.PKT_INTEGRITY, AuthLevel.PKT_PRIVACY])
def test_impacket_calls_the_peer_at_every_authentication_level(tmp_path, level):
    with served(tmp_path, rpc=access("privacy")) as (environment, server, where):
        assert impacket(environment, where, (level, "tester", "Test-1", "DOMAIN")) == [2105] * 3
        association = server.associations[0]
        assert association.protection is not None
        assert (association.protection.auth_level, association.protection.context.identity) == (level, "DOMAIN\\tester")
        assert [call.name for call in server.calls] == ["RemoteQMGetQMQMServerPort"] * 3
        assert server.malformed == []
        answers = [frame for frame in association.record.frames if frame.kind == "response"]
        assert {read_trailer(frame.data) is not None for frame in answers} == {level.signs_each_pdu}


@pytest.mark.parametrize("level", [AuthLevel.CONNECT, AuthLevel.PKT_PRIVACY])
def test_peer_denies_a_wrong_password_and_records_the_reason(tmp_path, level):
    with served(tmp_path, rpc=access("privacy")) as (environment, server, where):
        assert "access_denied" in impacket(environment, where, (level, "tester", "other"))
        assert server.malformed[0][1] == "the authentication failed: the token is refused"
        assert server.calls == []


def test_peer_without_a_configured_user_refuses_authentication(tmp_path):
    with served(tmp_path) as (environment, server, where):
        said = impacket(environment, where, (AuthLevel.PKT_PRIVACY, "tester", "Test-1"))
        assert "Authentication type not recognized" in said
        assert "no [rpc] user" in server.malformed[0][1]


# -- trailers, [rpc] --------------------------------------------------------------------------------------------------


def test_security_trailers_are_built_and_read():
    plain = bytes.fromhex("05000003 10000000 1c00 0000 02000000 04000000 0000 0800") + b"stub"
    made = append_trailer(plain, SecTrailer(10, 6, 7, b"sixteen octets!!", 12))
    assert read_trailer(made) == SecTrailer(10, 6, 7, b"sixteen octets!!", 12)
    assert split_pdu(made) == (made[:24], b"stub" + bytes(12), made[40:48], b"sixteen octets!!")
    assert read_trailer(plain) is None
    for place, value in ((10, 60), (42, 200)):
        wrong = bytearray(made)
        wrong[place] = value
        with pytest.raises(WireError, match="fit"):
            read_trailer(bytes(wrong))


@pytest.mark.parametrize(
    ("rpc", "said"),
    [
        ({"level": "integrity"}, "give the test user that authenticates as rpc.user"),
        ({"user": "tester"}, "rpc.user requires a level"),
        ({"level": "integrity", "user": "tester"}, "give exactly one of password, password_env, password_file"),
        ({"level": "integrity", "user": "tester", "password_env": "MQC_NOT_SET"}, "'MQC_NOT_SET' is not set"),
        ({"level": "most"}, "must be one of none, connect, packet, integrity, privacy"),
        ({"level": "privacy", "user": "a", "password": "b", "authentication": "x"}, "must be one of negotiate, ntlm"),
    ],
)
def test_unusable_rpc_setting_of_sut_file_gives_one_line_error(rpc, said):
    with pytest.raises(UsageError) as caught:
        sut_file(rpc=rpc)
    assert said in str(caught.value)


def test_the_user_of_the_sut_file_may_have_a_domain_and_its_password_is_not_shown():
    file = sut_file(rpc=access("privacy", "ntlm", User("tester", "Test-1", "CONTOSO")))
    assert file.rpc == RpcCredentials(AuthLevel.PKT_PRIVACY, AuthType.WINNT, User("tester", "Test-1", "CONTOSO"))
    assert "Test-1" not in repr(file)
    assert sut_file().rpc == RpcCredentials()
