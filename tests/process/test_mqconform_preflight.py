"""``mqconform preflight`` reports a correct set-up as correct, and names the one defect of each broken set-up."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar
from uuid import UUID

import pytest
import typer
from mqconform_process import ROOT
from patience import PATIENCE_S
from qm_process import Served, free_port, serve
from typer.testing import CliRunner

from harness.attach.attach import call_every_agent_verb
from harness.cli import attach as attach_command
from harness.cli.preflight import register
from harness.errors import SutUnavailable, UsageError
from harness.preflight.findings import PreflightReport
from harness.preflight.preflight import run_preflight
from harness.prerequisites import asking
from harness.sut import endpoint_mapper
from harness.sut.sut_file import load_sut_file
from harness.wire import dissect, establish_connection

SUT, PEER = "127.0.47.1", "127.0.47.2"
OTHER = UUID("6d71636f-6e66-4f72-8d00-0000000000cc")
MADE = {"ok": True, "format_names": {"direct": "DIRECT=OS:other\\private$\\made"}}
"""The answers of an agent: to create_queue, and to verbs that need only ``ok``."""
ACCESS = '[rpc]\nlevel = "privacy"\nuser = "tester"\npassword = "Test-1: no real one"\n'
RULES = {"A-1": "MUST", "A-2": "MUST NOT", "A-3": "SHOULD", "A-4": "MUST", "A-5": "MUST"}
NEEDS = {"A-1": "", "A-2": "ping", "A-3": "", "A-4": "send", "A-5": "qm2qm"}


class Rules:
    """Rules for the tests: five rules, four of them MUST; three rules need a capability or facility."""

    catalogue: ClassVar = {rule: SimpleNamespace(level=level) for rule, level in RULES.items()}

    @staticmethod
    def list_judgeable_rules(have: set[str]) -> frozenset[str]:
        return frozenset(rule for rule, need in NEEDS.items() if not need or need in have)


@pytest.fixture(scope="module")
def peer_port() -> int:
    return free_port(PEER)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, peer_port: int) -> Iterator[Served]:
    ports = ("--address", SUT, "--tcp-port", "0", "--ping-port", "0", "--rpc-port", "0", "--control", f"{SUT}:0")
    users = '[rpc]\nleast_level = "privacy"\n[[rpc.users]]\nname = "tester"\npassword = "Test-1: no real one"\n'
    toml = f"[remote]\ntcp_port = {peer_port}\n{users}[[queues]]\nname = 'private$\\here'\n"
    with serve(tmp_path_factory.mktemp("preflight"), *ports, toml=toml) as running:
        yield running


Write = Callable[..., Path]


@pytest.fixture
def write(served: Served, peer_port: int, tmp_path: Path) -> Write:
    """Return a function that writes the SUT file of ``served``, with the given changes."""

    def written(
        control: str | None = served.bound["control"],
        more: str = "",
        access: str = ACCESS,
        control_ms: int = PATIENCE_S * 1_000,
        **driver: object,
    ) -> Path:
        given: dict[str, object] = {"kind": "external", "address": SUT, "peer_address": PEER}
        given |= {f"{name}_port": served.endpoint(name)[1] for name in ("tcp", "ping", "rpc")}
        given |= {"peer_tcp_port": peer_port, "peer_ping_port": free_port(PEER), "peer_rpc_port": free_port(PEER)}
        keys = "".join(f"{key} = {json.dumps(value)}\n" for key, value in (given | driver).items())
        channel = "" if control is None else f'[control]\nkind = "jsonl"\naddress = "{control}"\n'
        path = tmp_path / "sut.toml"
        path.write_text(
            f'[sut]\nname = "contoso"\n[driver]\n{keys}{channel}{access}[timeouts]\ncontrol_ms = {control_ms}\n'
            f"[capabilities]\nping = true\nqm2qm = true\n{more}",
            "utf-8",
        )
        return path

    return written


def look(path: Path) -> PreflightReport:
    return run_preflight(load_sut_file(path), Rules)


def bad(report: PreflightReport) -> dict[str, str]:
    """Return the items that preflight reports as missing or wrong, by name."""
    return {line.subject: f"{line.state}: {line.said}; {line.remedy}" for line in report.lines if line.is_missing}


def states(report: PreflightReport) -> dict[str, str]:
    return {line.subject: str(line.state) for line in report.lines}


@contextlib.contextmanager
def server(answer: Callable[[bytes], bytes]) -> Iterator[int]:
    """Yield the port of a server that answers the bytes on each connection with the results of ``answer``."""
    with socket.create_server((SUT, 0)) as listener:

        def work() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection = listener.accept()[0]
                    threading.Thread(target=speak, args=(connection,), daemon=True).start()

        def speak(connection: socket.socket) -> None:
            with contextlib.suppress(OSError), connection:
                while data := connection.recv(65_536):
                    connection.sendall(answer(data))

        threading.Thread(target=work, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)


def test_preflight_of_complete_setup_passes_and_changes_nothing(served: Served, write: Write) -> None:
    with served.control() as control:
        before = control.call("list")["queues"]
        report = look(write())
        assert control.call("list")["queues"] == before
    assert bad(report) == {}
    assert set(states(report).values()) == {"ok"}
    assert (report.is_system_ready, report.blocking_subjects) == (True, [])
    assert report.summary == "4 of 4 MUST rules can be judged with this set-up"


def test_preflight_reports_system_that_is_not_running(write: Write) -> None:
    port = free_port(SUT)
    report = look(write(tcp_port=port))
    assert bad(report).keys() == {"tcp port"}
    assert bad(report)["tcp port"].startswith(
        f"missing: {SUT}:{port}: Connection refused; check that the system runs, "
    )
    assert (states(report)["session"], states(report)["one system"]) == ("not seen", "not seen")
    more = f"4 if the system provides everything that {report.file} declares"
    said = f"0 of 4 MUST rules can be judged with this set-up; {more}"
    assert report.summary == f"a run cannot begin (tcp port): {said}"


def test_preflight_reports_port_of_another_system(served: Served, write: Write) -> None:
    def session(data: bytes) -> bytes:
        asked: Any = dissect(data)
        client = asked["EstablishConnectionHeader"].ClientGuid
        return bytes(establish_connection(ClientGuid=client, ServerGuid=OTHER))

    with server(session) as port, served.control() as control:
        report = look(write(tcp_port=port))
        own = control.call("identity")["guid"]
    assert bad(report)["one system"] == (
        f"wrong: queue manager {OTHER} answers sessions, but {own} answers on the control channel; "
        "set address, tcp_port and control.address to those of one system"
    )
    assert report.blocking_subjects == ["one system"]


def test_preflight_reports_missing_ping_answer(write: Write) -> None:
    report = look(write(ping_port=free_port(SUT)))
    assert bad(report).keys() == {"ping"}
    assert "EnablePingService" in bad(report)["ping"]
    assert report.summary == (
        "at most 3 of 4 MUST rules can be judged with this set-up; "
        f"4 if the system provides everything that {report.file} declares"
    )


@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM])
def test_preflight_reports_peer_port_in_use(write: Write, kind: socket.SocketKind) -> None:
    key = "peer_tcp_port" if kind is socket.SOCK_STREAM else "peer_ping_port"
    with socket.socket(socket.AF_INET, kind) as taken:
        taken.bind((PEER, 0))
        if kind is socket.SOCK_STREAM:
            taken.listen()
        report = look(write(**{key: taken.getsockname()[1]}))
    assert bad(report).keys() == {"peer ports"}
    assert f"(driver.{key}) is in use by process " in bad(report)["peer ports"]
    assert states(report)["peer reached"] == "not seen"
    assert states(report)["clock"] == "ok", "of a message that the system sends to itself"


def test_preflight_reports_silent_control_channel(write: Write) -> None:
    with server(lambda _: b"") as port:
        report = look(write(control=f"{SUT}:{port}", control_ms=1_000))
    assert bad(report).keys() == {"control"}
    assert "identity: no answer arrived in time" in bad(report)["control"]
    assert (states(report)["peer reached"], states(report)["clock"]) == ("not seen", "not seen")
    assert report.blocking_subjects == ["control"]


@pytest.mark.parametrize(
    ("port", "said"),
    [
        (lambda served: free_port(SUT), "missing: level privacy as tester: cannot connect to "),
        (
            lambda served: served.endpoint("tcp")[1],
            "wrong: level privacy as tester: the SUT did not accept the interface ",
        ),
    ],
)
def test_preflight_reports_port_without_rpc(
    served: Served, write: Write, port: Callable[[Served], int], said: str
) -> None:
    report = look(write(rpc_port=port(served)))
    assert bad(report).keys() == {"rpc"}
    assert bad(report)["rpc"].startswith(said)
    assert "driver.rpc_port" in bad(report)["rpc"]
    assert report.count.judged == 3


def test_preflight_finds_qmcomm_port_by_endpoint_mapper(
    served: Served, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = served.endpoint("rpc")[1]
    monkeypatch.setattr(endpoint_mapper, "MAPPER_PORT", port)  # serve's is beside qmcomm: 135 is for root
    report = look(write(rpc_port=0))
    assert bad(report) == {}
    assert f"rpc port        ok            the endpoint mapper at {SUT} returns {port}" in map(str, report.lines)
    assert states(report)["rpc access"] == "ok"


def test_preflight_reports_missing_endpoint_mapper(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endpoint_mapper, "MAPPER_PORT", free_port(SUT))
    report = look(write(rpc_port=0))
    assert bad(report).keys() == {"rpc port"}
    assert "does not return the port of qmcomm: Connection refused; give driver.rpc_port" in bad(report)["rpc port"]
    assert report.count.judged == 3


@pytest.mark.parametrize(
    ("access", "subject", "said"),
    [
        (
            "",
            "rpc access",
            "ERROR_ACCESS_DENIED; the tester does not authenticate; [rpc] of the SUT file can name a user",
        ),
        (ACCESS.replace("Test-1", "Test-2"), "rpc", "that level, user and password in [rpc] are right"),
    ],
)
def test_preflight_reports_denied_rpc_access(write: Write, access: str, subject: str, said: str) -> None:
    report = look(write(access=access))
    assert bad(report).keys() == {subject}
    assert bad(report)[subject].endswith(said)
    assert report.count.judged == 3


def test_preflight_checks_provisioned_queues_without_control_channel(write: Write) -> None:
    report = look(write(control=None, more="[queues]\nplain = 'private$\\here'\nadmin = 'private$\\gone'\n"))
    queues = [str(line) for line in report.lines if line.subject == "queues"]
    assert queues[0] == "queues          ok            private$\\here (queues.plain) accepts nontransactional messages"
    assert queues[2].startswith(
        "queues          missing       sut.toml names private$\\gone as queues.admin, but no message"
    )
    assert queues[2].endswith("; check the spelling, or create a nontransactional queue of this name")
    assert states(report)["control"] == "not declared"
    assert not report.is_system_ready


def agent(facilities: list[str], refuses: Callable[[str], bool], guid: object = OTHER) -> Callable[[bytes], bytes]:
    """Return the answers of a control channel with hostile strings, of the system ``guid`` or of a different system."""

    def answer(data: bytes) -> bytes:
        answers: list[dict[str, Any]] = []
        for line in data.splitlines():
            asked = json.loads(line)
            who = {"guid": str(guid), "protocol": 2, "name": "\x1b[2J\nok", "vendor": "", "version": ""}
            said = {"ok": True, **who, "facilities": facilities} if asked["verb"] == "identity" else MADE
            no = {"ok": False, "error": "no\x1b[31m\nname            ok"}
            answers.append({"id": asked["id"], **(no if refuses(asked["verb"]) else said)})
        return b"".join(json.dumps(answer).encode() + b"\n" for answer in answers)

    return answer


def test_hostile_text_of_a_system_is_printed_harmlessly(served: Served, write: Write) -> None:
    with served.control() as control:
        own = control.call("identity")["guid"]
    with server(agent(["send"], lambda verb: verb != "identity", own)) as port:
        report = look(write(control=f"{SUT}:{port}"))
    assert bad(report).keys() == {"peer reached", "queues"}
    assert all(str(line).isprintable() for line in report.lines)
    assert "the SUT refused send: no<U+001B>[31m name ok" in bad(report)["peer reached"]


@pytest.mark.parametrize(
    ("refuses", "state", "said"),
    [
        (False, "wrong", "MQ_ERROR_QUEUE_NOT_FOUND; set driver.rpc_port and control.address to those of one system"),
        (True, "not seen", "the SUT refused create_queue: no<U+001B>[31m name ok"),
    ],
)
def test_preflight_reports_rpc_of_different_system(write: Write, refuses: bool, state: str, said: str) -> None:
    with server(agent(["queue_control"], lambda verb: refuses and verb == "create_queue")) as port:
        report = look(write(control=f"{SUT}:{port}"))
    (line,) = [line for line in report.lines if line.subject == "rpc access"]
    assert line.state == state
    assert str(line).endswith(said)


def test_preflight_command_prints_findings_and_exit_code(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("harness.proof.inventory.take_inventory", Rules)
    app = typer.Typer()
    register(app)
    path = write()
    done = CliRunner().invoke(app, ["--sut", str(path), "--format", "json"])
    assert done.exit_code == 0, done.output
    tree = json.loads(done.stdout)
    assert (tree["file"], tree["ready"]) == (str(path), True)
    assert tree["must_rules"] == {"of": 4, "judged": 4, "promised": 4}
    assert tree["lines"][0]["said"] == "contoso unknown (unknown), profile none"
    ended = write(kind="process", command=["false"], tcp_port=0, ping_port=0, rpc_port=0, control=None)
    done = CliRunner().invoke(app, ["--sut", str(ended)])
    assert done.exit_code == 1
    said = "contoso: the program ended with exit status 1: it printed nothing; "
    said += "try to start the system with driver.command by hand"
    assert done.stdout.splitlines()[1] == f"start           missing       {said}"


def test_preflight_refuses_virtual_time(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    path.write_text('[sut]\nname = "x"\n[driver]\nkind = "virtual"\n', "utf-8")
    with pytest.raises(UsageError, match='kind = "virtual": a virtual system needs no set-up'):
        look(path)


def test_preflight_reports_system_that_connects_elsewhere(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "TIMEOUT_FOR_REACHING_PEER_MS", 200)
    report = look(write(peer_tcp_port=free_port(PEER)))
    assert bad(report).keys() == {"peer reached"}
    assert "driver.peer_tcp_port to the port to which it connects" in bad(report)["peer reached"]


# -- five set-ups that are broken in one way each, as both commands see them (docs/attach.md) --------------------------


def wrong_port(write: Write) -> Path:
    return write(tcp_port=free_port(SUT))


def peer_not_found(write: Write) -> Path:
    return write(peer_tcp_port=free_port(PEER))


def by_command(write: Write, *words: str) -> Path:
    path = write(control=None)
    command = json.dumps([sys.executable, "-S", "-E", *words])
    path.write_text(f'{path.read_text("utf-8")}[control]\nkind = "stdio"\ncommand = {command}\n', "utf-8")
    return path


def noisy_agent(write: Write) -> Path:
    return by_command(write, "-c", "print('Welcome!', flush=True); input()")


def silent_agent(write: Write) -> Path:
    path = by_command(write, "-c", "import sys; sys.stdin.read()")
    text = path.read_text("utf-8").replace("[driver]\n", "[driver]\nstart_timeout_s = 1\n")
    path.write_text(text.replace("control_ms = ", "control_ms = 1_000 # "), "utf-8")
    return path


def agent_of_another(write: Write) -> Path:
    return by_command(write, str(ROOT / "examples" / "agent" / "agent.py"))


@pytest.mark.parametrize(
    ("broken", "attached", "looked"),
    [
        (wrong_port, "", {"tcp port": f"missing: {SUT}:"}),
        (
            peer_not_found,
            "",
            {"peer reached": f"missing: sut.toml gives the tester's peer the address {PEER}:"},
        ),
        (noisy_agent, "nothing but answers may be written", {"control": "missing: control command "}),
        (silent_agent, "identity: no answer arrived in time", {"control": "missing: control command "}),
        (
            agent_of_another,
            "",
            {"one system": "wrong: queue manager ", "rpc access": "wrong: R_QMOpenRemoteQueue of a queue "},
        ),
    ],
)
def test_preflight_reports_each_of_five_broken_setups(
    write: Write, monkeypatch: pytest.MonkeyPatch, broken: Any, attached: str, looked: dict[str, str]
) -> None:
    """Both commands report each of five broken set-ups. ``attached``: the end of attach's line, empty where the agent
    is right; ``looked``: the findings of preflight.
    """
    monkeypatch.setattr("harness.proof.inventory.take_inventory", Rules)
    if broken is peer_not_found:
        monkeypatch.setattr(asking, "TIMEOUT_FOR_REACHING_PEER_MS", 200)
    if broken is silent_agent:
        monkeypatch.setitem(call_every_agent_verb.__kwdefaults__, "answer_ms", 1_000)
    path = broken(write)
    found = bad(look(path))
    app = typer.Typer()
    attach_command.register(app)
    done = CliRunner().invoke(app, ["--sut", str(path)])
    assert found.keys() == looked.keys()
    assert all(found[subject].startswith(said) for subject, said in looked.items()), found
    if attached:
        assert isinstance(done.exception, SutUnavailable)
        assert attached in str(done.exception)
    else:
        assert done.exit_code == 0, done.output
