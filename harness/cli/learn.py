"""The command ``mqconform learn``: learn the state machine of a system's sessions over the wire."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.errors import UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT
from harness.interrupts import unwind_on_signals

if TYPE_CHECKING:
    from collections.abc import Iterator

    from harness.learn.learner import LearnedMachine
    from harness.learn.machine import StateMachine


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""
    app.command()(learn)


def learn(
    sut: Annotated[Path | None, typer.Option(help="The TOML file that describes the system under test.")] = None,
    out: Annotated[
        Path, typer.Option(help="The JSON file for the learned state machine. The diagram is written to FILE.dot.")
    ] = Path("session-machine.json"),
    diff: Annotated[
        tuple[Path, Path] | None,
        typer.Option(help="Compare the state machines in two files that --out wrote."),
    ] = None,
    seed: Annotated[
        str,
        typer.Option(
            help="The seed of the random input sequences: any text. A different text gives different sequences."
        ),
    ] = "1",
) -> None:
    """Learn the state machine of the sessions that a system accepts, and print the transitions that break a rule.

    Exit with 1 when a transition breaks a rule, or when the two state machines of --diff differ.
    """
    from harness.learn.machine import read_machine

    if diff is not None:
        _print_differences(*map(read_machine, diff))
        return
    if sut is None:
        raise UsageError("give --sut FILE to learn a state machine, or --diff MACHINE MACHINE to compare two of them")
    learned = _learn_and_save(sut, out, seed)
    machine = learned.machine
    typer.echo(
        f"{out} contains {len(machine.states)} states from {learned.input_sequence_count:,} "
        f"sequences of {learned.sent_input_count:,} inputs"
    )
    broken = list(_describe_broken_demands(machine))
    for line in broken:
        typer.echo(line)
    if broken:
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    typer.echo("the specifications permit every transition of the state machine")


def _learn_and_save(sut: Path, out: Path, seed: str) -> LearnedMachine:
    import json
    from contextlib import closing

    from harness.capture.recorder import Recorder
    from harness.cli.outputs import convert_write_errors_to_usage_errors, require_writable_file
    from harness.learn.learner import learn_machine
    from harness.peer.peer import Peer
    from harness.sut.drivers import create_driver, start_all_suts
    from harness.sut.sut_file import load_sut_file

    require_writable_file(out)
    driver = create_driver(load_sut_file(sut), out.parent)
    with unwind_on_signals():
        start_all_suts([driver])
        try:
            system = driver.open("learn", "learn", 0)
            with (
                closing(system.environment),
                closing(system),
                closing(Peer(system.environment, system, Recorder(system.environment, None), seed)) as peer,
            ):
                learned = learn_machine(peer, seed)
        finally:
            driver.stop()
    with convert_write_errors_to_usage_errors(out):
        out.write_text(json.dumps(learned.machine.to_json(), indent=1) + "\n", encoding="utf-8")
        out.with_name(f"{out.name}.dot").write_text(learned.machine.to_dot(), encoding="utf-8")
    return learned


def _describe_broken_demands(machine: StateMachine) -> Iterator[str]:
    from harness.learn.demanded import find_broken_demands, read_demanded_state_table

    for one in find_broken_demands(machine, read_demanded_state_table()):
        expected = " or ".join(one.expected)
        yield f"fail {', '.join(one.rules)}: in {one.state} after {' > '.join(one.input_sequence)}"
        yield f"  expected: {expected}; observed: {one.observed}"


def _print_differences(first: StateMachine, second: StateMachine) -> None:
    from harness.learn.machine import find_differences

    differences = find_differences(first, second)
    for one in differences:
        typer.echo(
            f"{' > '.join(one.input_sequence)}: {one.output_of_first_machine} in the first state machine, "
            f"{one.output_of_second_machine} in the second"
        )
    if differences:
        typer.echo(f"{len(differences)} transitions differ")
        raise typer.Exit(EXIT_NOT_CONFORMANT)
    typer.echo("the state machines are equivalent")
