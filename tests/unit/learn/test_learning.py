"""Learning the session machine: the machine of the reference keeps all demands, and each fault of a session gives a
transition that the documents do not permit.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
import typer

from harness.capture.recorder import Recorder
from harness.cli.main import app
from harness.errors import UsageError
from harness.learn.alphabet import CONNECTION_LOSS_INPUT, INPUT_ALPHABET
from harness.learn.demanded import find_broken_demands, read_demanded_state_table
from harness.learn.learner import learn_machine
from harness.learn.machine import CLOSED_OUTPUT, StateMachine, find_differences, read_machine
from harness.peer.peer import Peer
from harness.sut.drivers import create_driver, start_all_suts
from harness.sut.sut_file import load_sut_file

pytest.importorskip("aalpy", reason="AALpy is not installed: pip install 'mqconform[learn]'")

SUT = """
[sut]
name = "reference"
vendor = "mqconform"
version = "test"
[driver]
kind = "virtual"
[capabilities]
ping = true
"""
FAULTS = {
    "queue-manager-unexpected-establish-connection-ignored": "MQQB-3.1.5.3-01",
    "acceptor-second-establish-connection-ignored": "MQQB-3.1.5.3-01",
    "queue-manager-unexpected-connection-parameters-ignored": "MQQB-3.1.5.4-01",
    "receiver-session-kept-open-after-packet-with-unknown-pt": "MQQB-2.2.1-03",
    "receiver-ignores-user-message-before-session-is-open": "MQQB-3.1.5.8-01",
    "queue-manager-session-ack-before-open-session-ignored": "MQQB-3.1.5.5-01",
    "acceptor-session-ack-before-parameters-ignored": "MQQB-3.1.5.5-01",
    "receiver-session-header-count-too-low-accepted": "MQQB-3.1.5.5.5-01",
    "receiver-session-header-recoverable-count-not-validated": "MQQB-3.1.5.5.5-01",
    "acceptor-establish-connection-cs-always-clear": "MQQB-3.1.5.3.1-07",
}


def sut_file(folder: Path, *faults: str) -> Path:
    """Write the SUT file of a reference in virtual time with the given faults."""
    file = folder / "sut.toml"
    reference = f"[reference]\nfaults = {json.dumps(faults)}\n" if faults else ""
    file.write_text(SUT + reference, encoding="utf-8")
    return file


def learn(folder: Path, *faults: str, seed: str = "1") -> StateMachine:
    """Learn the machine of a reference with the given faults."""
    driver = create_driver(load_sut_file(sut_file(folder, *faults)), folder)
    start_all_suts([driver])
    try:
        system = driver.open("learn", "learn", 0)
        with (
            closing(system.environment),
            closing(system),
            closing(Peer(system.environment, system, Recorder(system.environment, None), seed)) as peer,
        ):
            return learn_machine(peer, seed).machine
    finally:
        driver.stop()


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> StateMachine:
    return learn(tmp_path_factory.mktemp("clean"))


def test_learned_reference_meets_each_demand_in_four_states(clean: StateMachine) -> None:
    assert list(find_broken_demands(clean, read_demanded_state_table())) == []
    assert len(clean.states) == 4
    word = ("EstablishConnection", "ConnectionParameters", "recoverable message", "SessionAck", CONNECTION_LOSS_INPUT)
    assert clean.run(word) == ["EstablishConnection", "ConnectionParameters", "SessionAck", "nothing", CLOSED_OUTPUT]


def test_learning_with_another_seed_gives_an_equivalent_state_machine(clean: StateMachine, tmp_path: Path) -> None:
    assert find_differences(clean, learn(tmp_path, seed="2")) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_session_fault_breaks_a_learned_transition_of_its_rule(fault: str, clean: StateMachine, tmp_path: Path) -> None:
    faulty = learn(tmp_path, fault)
    broken = list(find_broken_demands(faulty, read_demanded_state_table()))
    assert FAULTS[fault] in {rule for one in broken for rule in one.rules}
    assert find_differences(clean, faulty)


def test_inputs_of_learning_are_the_events_of_the_state_table() -> None:
    assert set(read_demanded_state_table().events) == set(INPUT_ALPHABET) - {CONNECTION_LOSS_INPUT}


def test_difference_of_state_machines_is_shown_by_its_shortest_input_sequence() -> None:
    first = StateMachine("a", {"a": {"x": ("1", "b"), "y": ("1", "a")}, "b": {"x": ("1", "a"), "y": ("2", "b")}})
    second = StateMachine("a", {"a": {"x": ("1", "b"), "y": ("1", "a")}, "b": {"x": ("1", "a"), "y": ("3", "b")}})
    (found,) = find_differences(first, second)
    assert (found.input_sequence, found.output_of_first_machine, found.output_of_second_machine) == (
        ("x", "y"),
        "2",
        "3",
    )


def test_learn_command_writes_a_state_machine_and_compares_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    assert app(["learn", "--sut", str(sut_file(tmp_path)), "--out", str(one)], standalone_mode=False) in (None, 0)
    assert "the specifications permit every transition of the state machine" in capsys.readouterr().out
    assert one.with_name("one.json.dot").read_text(encoding="utf-8").startswith("digraph session {")
    fault = "receiver-session-kept-open-after-packet-with-unknown-pt"
    assert app(["learn", "--sut", str(sut_file(tmp_path, fault)), "--out", str(other)], standalone_mode=False) == 1
    assert "fail MQQB-2.2.1-03" in capsys.readouterr().out
    assert app(["learn", "--diff", str(one), str(other)], standalone_mode=False) == 1
    assert "transitions differ" in capsys.readouterr().out
    assert app(["learn", "--diff", str(one), str(one)], standalone_mode=False) in (None, 0)


@pytest.mark.parametrize("text", ["", "[]", '{"schema": 1}', '{"schema": 1, "initial": "a", "states": {}}'])
def test_learn_refuses_a_file_without_a_state_machine(text: str, tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=r"x\.json is not a state machine"):
        read_machine(file)


def test_learn_without_a_given_system_is_refused() -> None:
    with pytest.raises((UsageError, typer.Exit), match="--sut FILE"):
        app(["learn"], standalone_mode=False)
