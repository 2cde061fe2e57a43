"""All checks against the reference as one meets a foreign system: one process, no reset, no inspect, or no control.

Wanted: nothing but pass, not_observable, not_applicable and not_exercised; behind the limited channel 85 percent of the
MUST demands judged in under 30 minutes with the specification's timers, without control 55 percent.
"""

from __future__ import annotations

import argparse
import contextlib
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.judging.verdicts import read_verdicts
from harness.rules.catalogue import DEMANDS, load_catalogue
from harness.run.run import VERDICTS_FILE
from harness.sut.free_ports import free_port, free_rpc_port
from harness.sut.provisioning import write_provisions
from harness.sut.sut_file import PEER_IDENTIFIER
from harness.sut.worker_configurations import MAX_WORKERS

LIMITED = "queue_control,send,receive,transactions,pause,restart"
CAPABILITIES = (
    *("ping", "ping_initiator", "private_names", "public_names", "security", "qm2qm"),
    *("subqueues", "several_queues"),
)
PEER_ADDRESS = "127.0.0.2"
QUEUES = {
    "plain": "private$\\mqc-plain-{worker}",
    "transactional": "private$\\mqc-tx-{worker}",
    "admin": "private$\\mqc-admin-{worker}",
}
CLEAN = frozenset({"pass", "not_observable", "not_applicable", "not_exercised"})
JUDGED = frozenset({"pass", "fail", "warn"})


@dataclass(frozen=True, slots=True)
class Scenario:
    """One way to meet the system. ``facilities``: of its control channel, None for no channel."""

    name: str
    facilities: str | None
    workers: int
    runs: int = 1


SCENARIOS = (
    Scenario("limited-8", LIMITED, 8),
    Scenario("limited-1", LIMITED, 1),
    Scenario("hurried-8", f"{LIMITED},set_timers", 8, runs=2),
    Scenario("hurried-1", f"{LIMITED},set_timers", 1),
    Scenario("without-control-24", None, 24),
)
"""One check after the other, with the specification's timers, takes hours: ``measure`` leaves that out."""
MEASURED = ("limited-8", "hurried-8", "hurried-1", "without-control-24")


def measure() -> Iterator[str]:
    """Make each scenario, one after the other."""
    for scenario in SCENARIOS:
        if scenario.name in MEASURED:
            with tempfile.TemporaryDirectory() as folder:
                yield from meet(scenario, Path(folder))


def meet(scenario: Scenario, folder: Path, options: Sequence[str] = ()) -> Iterator[str]:
    """Start the system, run against it as often as the scenario says, and return what each run found."""
    with serving(scenario, folder) as sut:
        for number in range(1, scenario.runs + 1):
            out = folder / f"run-{number}"
            command = [sys.executable, "-m", "harness", "run", "--sut", str(sut), "--out", str(out)]
            command += ["--workers", str(scenario.workers), *options]
            began = time.monotonic()
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            (out / "said").write_text(done.stdout + done.stderr)
            yield f"{scenario.name}, run {number}: {time.monotonic() - began:.0f} s, {account(out)}"


def account(run: Path) -> str:
    """Return how many MUST demands a run judged, and whatever is not clean, by verdict."""
    found: dict[str, set[str]] = defaultdict(set)
    for line in read_verdicts(run / VERDICTS_FILE):
        found[line["rule"]].add(line["verdict"])
    demands = [row.id for row in load_catalogue().values() if row.level.startswith("MUST") and row.kind in DEMANDS]
    judged = sum(bool(found[rule] & JUDGED) for rule in demands)
    unclean = Counter(verdict for verdicts in found.values() for verdict in verdicts - CLEAN)
    said = ", ".join(f"{count} rules {verdict}" for verdict, count in unclean.most_common()) or "clean"
    return f"{judged} of {len(demands)} MUST demands judged ({judged / len(demands):.0%}), {said}"


@contextlib.contextmanager
def serving(scenario: Scenario, folder: Path) -> Iterator[Path]:
    """Start the reference as the scenario has it; yield the SUT file that names it."""
    folder.mkdir(parents=True, exist_ok=True)
    ports = {
        "tcp": free_port(PEER_ADDRESS, socket.SOCK_STREAM),
        "ping": free_port(PEER_ADDRESS, socket.SOCK_DGRAM),
        "rpc": free_rpc_port(PEER_ADDRESS),
    }
    provisions = write_provisions(folder / "keys", PEER_IDENTIFIER, "private$\\mqc-restricted", PEER_ADDRESS)
    remote = "".join(f"{name}_port = {port}\n" for name, port in ports.items())
    queues = "".join(
        f"[[queues]]\nname = '{name.format(worker=number)}'\ntransactional = {str(kind == 'transactional').lower()}\n"
        for number in range(MAX_WORKERS)
        for kind, name in QUEUES.items()
    )
    config = folder / "qm.toml"
    config.write_text(
        f'[queue_manager]\nhost_name = "127.0.22.1"\nsend_ping = true\n[remote]\n{remote}'
        f"{'' if scenario.facilities else queues}{provisions}"
    )
    options = ["--config", str(config), "--address", "127.0.22.1", "--tcp-port", "0", "--ping-port", "0"]
    options += ["--rpc-port", "0", "--control", "127.0.0.1:0"]
    options += ["--facilities", scenario.facilities] if scenario.facilities else []
    command = [sys.executable, "-m", "reference_qm", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process, contextlib.ExitStack() as stack:
        stack.callback(process.terminate)
        assert process.stdout is not None
        bound = dict(part.split("=", 1) for part in process.stdout.readline().split()[1:])
        port = {name: where.rpartition(":")[2] for name, where in bound.items()}
        control = f'[control]\nkind = "jsonl"\naddress = "{bound["control"]}"\n' if scenario.facilities else ""
        named = "[queues]\n" + "".join(f"{kind} = '{name}'\n" for kind, name in QUEUES.items())
        sut = folder / "sut.toml"
        sut.write_text(
            f'[sut]\nname = "{scenario.name}"\n[driver]\nkind = "external"\naddress = "127.0.22.1"\n'
            + "".join(f"{name}_port = {port[name]}\npeer_{name}_port = {ports[name]}\n" for name in ports)
            + control
            + ("" if scenario.facilities else named)
            + "[capabilities]\n"
            + "".join(f"{name} = true\n" for name in CAPABILITIES)
        )
        yield sut


def main() -> None:
    """Make the scenarios that are named, in folders that stay; what follows ``--`` goes to ``mqconform run``."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("scenario", nargs="+", choices=[each.name for each in SCENARIOS])
    parser.add_argument("--out", type=Path, required=True)
    asked, options = parser.parse_known_args()
    for scenario in SCENARIOS:
        if scenario.name in asked.scenario:
            for line in meet(scenario, asked.out / scenario.name, [each for each in options if each != "--"]):
                print(line, flush=True)


if __name__ == "__main__":
    main()
