"""A check is recorded with a virtual system and replayed on its capture; unsuitable captures are refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from budgets import FEW, budget
from hypothesis import given
from hypothesis import strategies as st

from harness.capture.pcapng import MAX_NOTE_TEXT_BYTES, CapturedNote, build_note_block, read_packets_and_notes
from harness.capture.recorder import Recorder
from harness.environment import VirtualEnvironment
from harness.errors import MqconformError, SutUnavailable
from harness.peer.peer import Peer
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.sut.control import ControlRefused
from harness.sut.replay_driver import ReplayDriver
from harness.sut.replay_items import NotReplayable
from harness.sut.replay_tape import CheckNoteWriter, RecordedEnvironmentCommands, encode_note
from harness.sut.surroundings import EnvironmentChangedByCommands
from harness.sut.sut import Sut
from harness.sut.sut_file import load_sut_file
from harness.sut.sut_process import ProcessEnd
from harness.sut.virtual_driver import VirtualDriver

TEST, RUN = "suites/mqqb/test_made.py::test_made[a]", "run-1"
Script = Callable[[Peer, Sut], Any]
"""The body of a check; it returns its observations."""


def talk(peer: Peer, sut: Sut, *, verb: str = "inspect", body: bytes = b"one", more: bool = True) -> Any:
    """Open a session, send a message, send two control requests, of which one is refused; return the observations."""
    session = peer.open_session()
    session.send_message(body=body)
    sut.environment.run_until(lambda: False, sut.quiet_ms)
    found = sut.control.call(verb)
    with pytest.raises(ControlRefused, match="no-such-queue"):
        sut.control.call("peek", queue="private$\\no-such-queue", limit=1)
    if more:
        peer.connect()
    return found, [(frame.number, frame.kind, frame.direction, frame.data) for frame in peer.recorder.frames]


def carried_out(view: Sut, path: Path, script: Script) -> Any:
    recorder = Recorder(view.environment, path)
    assert view.tape is not None
    view.tape.begin(recorder, view, RUN, TEST)
    peer = Peer(view.environment, view, recorder, seed=TEST)
    try:
        found = script(peer, view)
        view.tape.end()
    finally:
        peer.close()
        view.close()
    return found


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Any]:
    """Record `talk` as a check; return the capture and the observations."""
    folder = tmp_path_factory.mktemp("recorded")
    (folder / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    view = VirtualDriver(load_sut_file(folder / "sut.toml")).open(TEST)
    path = folder / "made.pcapng"
    return path, carried_out(view, path, talk)


def replayed(path: Path, tmp_path: Path, script: Script) -> tuple[Any, dict[str, str]]:
    """Replay a check; return its observations (None if the replay ended early), and the reasons why the check cannot be
    replayed.
    """
    driver = driver_of(path)
    try:
        return carried_out(driver.open(TEST), tmp_path / "again.pcapng", script), driver.differences
    except NotReplayable:
        return None, driver.differences


def driver_of(path: Path, run: str = RUN) -> ReplayDriver:
    file = load_sut_file(path.parent / "sut.toml")
    return ReplayDriver(file, {TEST: path}, run)


def test_replayed_check_gives_its_original_verdicts(recorded: tuple[Path, Any], tmp_path: Path):
    path, found = recorded
    assert replayed(path, tmp_path, talk) == (found, {})


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"body": b"two"}, "frame 8: the harness sends different bytes: not replayable"),
        ({"verb": "identity"}, "after frame 8: the harness calls identity with different arguments: not replayable"),
        ({"more": False}, "after frame 8: the harness ends the check: not replayable"),
    ],
)
def test_check_with_different_actions_is_not_replayable(
    recorded: tuple[Path, Any], tmp_path: Path, changes: dict[str, Any], why: str
):
    _, differences = replayed(recorded[0], tmp_path, lambda peer, sut: talk(peer, sut, **changes))
    assert differences == {TEST: why}


def test_check_longer_than_its_capture_is_not_replayable(recorded: tuple[Path, Any], tmp_path: Path):
    def longer(peer: Peer, sut: Sut) -> None:
        talk(peer, sut)
        sut.control.call("inspect")

    _, differences = replayed(recorded[0], tmp_path, longer)
    assert differences == {TEST: "after frame 11: the harness calls inspect: not replayable"}


def test_replay_skips_cleanup_after_check(recorded: tuple[Path, Any], tmp_path: Path):
    view = driver_of(recorded[0]).open(TEST)
    carried_out(view, tmp_path / "again.pcapng", talk)
    with pytest.raises(SutUnavailable, match="the capture has ended"):
        view.control.call("inspect")


# -- captures that are not what they seem ------------------------------------------------------------------------------


def rewritten(source: Path, folder: Path, alter: Callable[[dict[str, Any]], object]) -> Path:
    """Copy a capture, and change the set-up in its first note."""
    notes = [one.text for one in read_packets_and_notes(source) if isinstance(one, CapturedNote)]
    setup = json.loads(notes[0])
    alter(setup["setup"])
    path = folder / source.name
    path.write_bytes(source.read_bytes().replace(build_note_block(notes[0]), build_note_block(encode_note(setup)), 1))
    (folder / "sut.toml").write_bytes((source.parent / "sut.toml").read_bytes())
    return path


@pytest.mark.parametrize(
    ("alter", "why"),
    [
        (
            lambda setup: setup.update(run="run-2"),
            f"the capture of this check was recorded for {TEST} in the run run-2",
        ),
        (lambda setup: setup.update(test="x"), "the capture of this check was recorded for x in the run run-1"),
        (lambda setup: setup.pop("own"), 'the set-up in the capture of this check: "own" is a required property'),
        (
            lambda setup: setup.update(scale=0),
            "the set-up in the capture of this check: 0 is less than the minimum of 1",
        ),
        (lambda setup: setup["began"].update(utc_s=2**60), "is greater than the maximum of"),
        (lambda setup: setup["file"].update(environment={"store": ["touch", "x"]}), "Additional properties"),
        (lambda setup: setup["file"]["driver"].update(kind="x"), "driver.kind is 'x'"),
        (lambda setup: setup["file"]["queues"].update(plain=5), "queues.plain is 5; it must be a string"),
        (lambda setup: setup["file"]["driver"].update(address="192.0.2.1"), "is not loopback"),
        (lambda setup: setup.update(identifier="x" * 36), "the set-up in the capture of this check"),
        (lambda setup: setup.update(schema=1), "the set-up in the capture of this check: 2 was expected"),
        (lambda setup: setup.update(parts=["rm -r"]), 'the set-up in the capture of this check: "rm -r" is not one of'),
    ],
)
def test_capture_with_a_set_up_of_different_run_or_check_is_not_replayable(
    recorded: tuple[Path, Any], tmp_path: Path, alter: Callable[[dict[str, Any]], object], why: str
):
    driver = driver_of(rewritten(recorded[0], tmp_path, alter))
    with pytest.raises(NotReplayable):
        driver.open(TEST)
    assert why in driver.differences[TEST]


def test_capture_without_a_set_up_note_is_not_replayable(recorded: tuple[Path, Any], tmp_path: Path):
    (tmp_path / "sut.toml").write_bytes((recorded[0].parent / "sut.toml").read_bytes())
    driver = driver_of(tmp_path / "x.pcapng")
    with pytest.raises(NotReplayable, match="the check has no capture"):
        driver.open(TEST)
    with Recorder(VirtualEnvironment(), tmp_path / "x.pcapng").writer as writer:
        writer.note(b'{"over":true}')
    driver = driver_of(tmp_path / "x.pcapng")
    with pytest.raises(NotReplayable, match="has no set-up: the capture was recorded by an older harness, or changed"):
        driver.open(TEST)


@pytest.mark.parametrize(
    "note", [b"[" * 100_000, b"\xff", b"[]", b'{"us":-1}', b'{"us":1e400}', b'{"us":9007199254740992}']
)
def test_malformed_note_of_a_replayed_capture_gives_one_line_error(
    recorded: tuple[Path, Any], tmp_path: Path, note: bytes
):
    path = tmp_path / "made.pcapng"
    path.write_bytes(recorded[0].read_bytes() + build_note_block(note))
    (tmp_path / "sut.toml").write_bytes((recorded[0].parent / "sut.toml").read_bytes())
    driver = driver_of(path)
    with pytest.raises(NotReplayable):
        driver.open(TEST)
    assert "the note after frame 13" in driver.differences[TEST]


def test_capture_notes_that_expand_without_limit_are_refused(recorded: tuple[Path, Any], tmp_path: Path):
    path = tmp_path / "made.pcapng"
    note = build_note_block(encode_note({"answered": "x" * (MAX_NOTE_TEXT_BYTES - 100)}))
    path.write_bytes(recorded[0].read_bytes() + note * 5)
    assert path.stat().st_size < 2**20
    (tmp_path / "sut.toml").write_bytes((recorded[0].parent / "sut.toml").read_bytes())
    driver = driver_of(path)
    with pytest.raises(NotReplayable):
        driver.open(TEST)
    assert driver.differences[TEST].endswith(" its notes are longer than 67,108,864 bytes")


@budget(FEW, with_fixtures=True)
@given(place=st.floats(0, 1), how=st.binary(min_size=1, max_size=9))
def test_replay_of_any_capture_ends(recorded: tuple[Path, Any], tmp_path: Path, place: float, how: bytes):
    """For a capture with arbitrary changed bytes, the check either gets its observations, or ends early with a one-line
    error.
    """
    data = recorded[0].read_bytes()
    at = int(place * len(data))
    path = tmp_path / "made.pcapng"
    path.write_bytes(data[:at] + how + data[at + len(how) :])
    (tmp_path / "sut.toml").write_bytes((recorded[0].parent / "sut.toml").read_bytes())
    try:
        replayed(path, tmp_path, talk)
    except MqconformError as error:
        assert "\n" not in str(error)


# -- what no packet shows ---------------------------------------------------------------------------------------------


def recorded_with(tmp_path: Path, prepare: Callable[[Sut], object], script: Script) -> tuple[Path, Any]:
    """Prepare a system and record a check of it; return the capture and the observations."""
    (tmp_path / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    view = VirtualDriver(load_sut_file(tmp_path / "sut.toml")).open(TEST)
    prepare(view)
    return tmp_path / "made.pcapng", carried_out(view, tmp_path / "made.pcapng", script)


def test_replay_repeats_result_of_environment_command(tmp_path: Path):
    def prepare(sut: Sut) -> None:
        assert isinstance(sut.tape, CheckNoteWriter)
        sut.commanded_environment = EnvironmentChangedByCommands(
            ("storage",), RecordedEnvironmentCommands(carry_out, sut.tape)
        )

    def carry_out(part: str, value: int) -> None:
        done.append((part, value))
        if value:
            raise SutUnavailable("environment: give: exit code 1")

    def outage(peer: Peer, sut: Sut) -> Any:
        sut.commanded_environment.change_parts({"storage": False})
        peer.connect()
        with pytest.raises(SutUnavailable, match="exit code 1") as told:
            sut.commanded_environment.change_parts({"storage": True})
        return str(told.value), sut.commanded_environment.current_value_by_part

    done: list[tuple[str, int]] = []
    path, found = recorded_with(tmp_path, prepare, outage)
    assert found == ("environment: give: exit code 1", {"storage": None})
    assert replayed(path, tmp_path, outage) == (found, {})
    assert done == [("storage", False), ("storage", True)], "nothing is carried out when it is replayed"


@pytest.mark.parametrize("at", [1, 3])
def test_replay_reports_end_of_process_at_recorded_place(tmp_path: Path, at: int):
    """The end of the process is replayed at the query at which it was recorded; only the number of queries
    distinguishes queries without packets between them.
    """

    def prepare(sut: Sut) -> None:
        looks = iter([None] * (at - 1) + ["SIGSEGV"] * 9)
        tape = sut.tape
        assert tape is not None
        sut.process_ended = lambda within_s: tape.record_observation("ended", next(looks))

    def look(peer: Peer, sut: Sut) -> Any:
        peer.connect()
        return [sut.process_ended(0) for _ in range(4)]

    path, found = recorded_with(tmp_path, prepare, look)
    assert found == [None] * (at - 1) + ["SIGSEGV"] * (5 - at)
    assert replayed(path, tmp_path, look) == (found, {})


def test_replay_reports_process_end_after_its_check_once(recorded: tuple[Path, Any]):
    death = ProcessEnd(0, TEST, "SIGSEGV", "bye")
    driver = ReplayDriver(load_sut_file(recorded[0].parent / "sut.toml"), {TEST: recorded[0]}, RUN, [death])
    assert [driver.take_process_end(check) for check in ("another", TEST, TEST)] == [None, death, None]


def test_replay_names_random_decisions(tmp_path: Path):
    """A check that authenticates cannot be replayed, because the random keys change all bytes that are sent after the
    authentication.
    """

    def authenticate(peer: Peer, sut: Sut) -> None:
        sut.lose("keys")
        peer.connect()

    path, _ = recorded_with(tmp_path, lambda sut: None, authenticate)
    _, differences = replayed(path, tmp_path, authenticate)
    assert differences == {TEST: "after frame 0: keys: not replayable"}


# -- the tape ----------------------------------------------------------------------------------------------------------


def test_oversized_note_is_dropped_and_replay_ends_there(recorded: tuple[Path, Any], tmp_path: Path):
    def ask(peer: Peer, sut: Sut) -> None:
        assert isinstance(sut.tape, CheckNoteWriter)
        sut.tape.note(answered="x" * MAX_NOTE_TEXT_BYTES)

    (tmp_path / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    file = load_sut_file(tmp_path / "sut.toml")
    carried_out(VirtualDriver(file).open(TEST), tmp_path / "made.pcapng", ask)
    assert (tmp_path / "made.pcapng").stat().st_size < 10_000
    driver = driver_of(tmp_path / "made.pcapng")
    view = driver.open(TEST)
    with pytest.raises(NotReplayable):
        view.environment.run_until(lambda: False, 1)
    assert driver.differences[TEST].startswith("after frame 0: a note of 16")


def test_check_with_a_stalled_system_is_not_replayable(tmp_path: Path):
    """A check during which the system stalled cannot be replayed, because no capture contains the pulse that decides
    which delays a stall excuses.
    """

    def stall(peer: Peer, sut: Sut) -> None:
        peer.connect()
        sut.environment.pulse = SimpleNamespace(longest_stall_ms=300, was_gone=False)  # type: ignore[assignment]

    (tmp_path / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    view = VirtualDriver(load_sut_file(tmp_path / "sut.toml")).open(TEST)
    carried_out(view, tmp_path / "made.pcapng", stall)
    _, differences = replayed(tmp_path / "made.pcapng", tmp_path, lambda peer, sut: peer.connect())
    why = "the system stalled or was unreachable for a time"
    assert differences == {TEST: f"after frame 3: {why}: not replayable"}


def test_set_up_note_in_capture_has_no_command_and_no_password(recorded: tuple[Path, Any]):
    first = next(one for one in read_packets_and_notes(recorded[0]) if isinstance(one, CapturedNote))
    assert json.loads(first.text)["setup"]["file"].keys() == {
        *("sut", "driver", "queues", "control", "provisioned", "timeouts", "capabilities", "more_queues", "timers")
    }
