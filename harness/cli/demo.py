"""The command ``mqconform demo``: run the suites against three systems, print the matrix, and write the site."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from harness.cli.outputs import convert_write_errors_to_usage_errors
from harness.errors import HarnessError, UsageError
from harness.exit_codes import EXIT_NOT_CONFORMANT, EXIT_OK
from harness.faults.registry import load_faults
from harness.interrupts import unwind_on_signals
from harness.judging.verdicts import Verdict, read_verdicts
from harness.results.run_results import read_run_json
from harness.rules.catalogue import load_catalogue
from harness.rules.naming import select_rules
from harness.run_folder import VERDICTS_FILE
from harness.sut.guard import ProgramGuard
from harness.sut.provisioning import write_provisions
from harness.sut.sut_file import PEER_IDENTIFIER, load_sut_file
from harness.sut.worker_configurations import build_worker_configurations

FAULTS_OF_CONTOSO_DEMO_SYSTEM = (
    "acceptor-establish-connection-timestamp-one-more",
    "receiver-base-header-x0-refused",
    "receiver-session-ack-time-to-reach-queue-1-hour",
    "receiver-session-kept-open-after-packet-with-unknown-pt",
    "initiator-connection-history-established-with-error",
    "acceptor-connection-parameters-ack-timeout-one-more",
    "initiator-history-reports-ping-failure-as-dns-failure",
)
"""The seven faults of the faulty system, which the demo calls "Contoso 1.0". Each fault breaks only a few rules."""

WORKER_COUNT_BY_DRIVER_KIND = {"process": 3, "virtual": 1}
"""For each driver, the number of checks of a system that run in parallel. Checks over loopback mostly wait; checks
in virtual time only compute.
"""

REPORT_TEXT_FILE_NAME, REPORT_PROGRESS_FILE_NAME = "report.txt", "report.log"
"""The names of the files that receive the output of `mqconform rollup` and its progress messages."""
PROGRESS_POLL_INTERVAL_S = 0.3
"""The interval, in seconds, at which the progress of the runs is determined."""
REPORT_WAIT_LIMIT_S = 3_600
"""int s: the maximum time that the report waits for the end of the runs. The runs normally end much earlier."""
SELECTED_SECTIONS = ("MQQB-2", "MQQB-3.1.5.2", "MQQB-3.1.5.3", "MQQB-3.1.5.4")
"""The sections whose checks the demo runs. These sections are about packets and session set-up; their checks take
little time.
"""
CHECK_SELECTION_EXPRESSION = "not acceptor_waits_multiple_of_the_requested_ack_timeout"
"""The expression that excludes one check, which takes longer than all others together."""

_SUT_FILE_TEXT = """\
[sut]
name = "{name}"
vendor = "{vendor}"
version = "{version}"
[driver]
kind = "{kind}"
address = "{address}"
tcp_port = {tcp_port}
ping_port = {ping_port}
rpc_port = {rpc_port}
peer_address = "{peer}"
peer_tcp_port = 18010
peer_ping_port = 35270
command = ["{python}", "-m", "mqconform", "serve", "--config", "{config}", "--address", "{{address}}", \
"--tcp-port", "{{tcp_port}}", "--ping-port", "{{ping_port}}", "--rpc-port", "{{rpc_port}}", \
"--control", "127.0.0.1:{{control_port}}"{faults}]
[control]
kind = "jsonl"
time_scale = 20
[capabilities]
ping = true
ping_initiator = true
private_names = true
public_names = true
security = true
qm2qm = true
subqueues = true
several_queues = true
two_addresses = {virtual}
directory = {virtual}
topology = {virtual}
"""

_REFERENCE_CONFIG_TEXT = """\
[queue_manager]
host_name = "{address}"
send_ping = true
[remote]
tcp_port = 18010
ping_port = 35270
"""


@dataclass(frozen=True, slots=True)
class DemoSystem:
    """One of the three systems of the demo."""

    run_folder_name: str
    name: str
    vendor: str
    version: str
    kind: str
    address: str
    peer_address: str
    faults: tuple[str, ...] = ()
    selected_sections: tuple[str, ...] = SELECTED_SECTIONS

    @property
    def worker_count(self) -> int:
        """The number of checks of this system that run in parallel."""
        return WORKER_COUNT_BY_DRIVER_KIND[self.kind]


_FAULTLESS_REFERENCE_SYSTEM = DemoSystem("", "reference", "mqconform", "0.1.0", "process", "127.0.0.1", "127.0.0.2")
DEMO_SYSTEMS = (
    replace(_FAULTLESS_REFERENCE_SYSTEM, run_folder_name="reference-loopback", name="reference (loopback)"),
    DemoSystem(
        "contoso", "Contoso", "Contoso", "1.0", "process", "127.0.0.3", "127.0.0.4", FAULTS_OF_CONTOSO_DEMO_SYSTEM
    ),
    replace(
        _FAULTLESS_REFERENCE_SYSTEM,
        run_folder_name="reference-virtual",
        name="reference (virtual time)",
        kind="virtual",
    ),
)


def register(app: typer.Typer) -> None:
    """Add the command to ``mqconform``."""

    @app.command()
    def demo(
        out: Annotated[
            Path, typer.Option(help="The folder of the demo. An earlier demo in this folder is replaced.")
        ] = Path("out/demo"),
        whole: Annotated[
            bool, typer.Option(help="Run the checks of all documents, which takes some minutes longer.")
        ] = False,
    ) -> None:
        """Run the suites against the reference and a faulty system, and show the interop matrix."""
        raise typer.Exit(run_demo(out, whole=whole))


def run_demo(out: Path, *, whole: bool) -> int:
    """Run the demo; return its exit code, which is 0 when every system ended as expected."""
    for entry in entry_points(group="mqconform.needs"):
        if (missing := entry.load()()) is not None:
            raise UsageError(f"demo: {missing}")
    with convert_write_errors_to_usage_errors(out):
        _remove_old_demo(out)
    console = Console()
    began = time.monotonic()
    systems = [replace(system, selected_sections=()) if whole else system for system in DEMO_SYSTEMS]
    with unwind_on_signals(), closing(ProgramGuard()) as guard:  # Ctrl-C and kill -9 also end the started processes
        return _start_runs_and_show_progress(systems, guard, out, console, began)


def _start_runs_and_show_progress(
    systems: list[DemoSystem], guard: ProgramGuard, out: Path, console: Console, began: float
) -> int:
    """Start the runs and the report, show the progress of the runs, and compare the results with the expected
    results. Return the exit code.
    """
    runs = {system: _start_run(system, guard, out) for system in systems}
    tallies = {system: _VerdictCounter(out / system.run_folder_name / VERDICTS_FILE) for system in systems}
    report: subprocess.Popen[bytes] | None = None
    with Live(console=console, refresh_per_second=4) as live:
        while report is None or _list_running_runs([*runs.values(), report]):
            live.update(_build_progress_table(runs, tallies, _read_last_line(out / REPORT_PROGRESS_FILE_NAME)))
            going = _list_running_runs(runs.values())
            if report is None and len(going) < len(runs):
                report = _start_report(systems, guard, out, console)  # Java starts while the other systems mostly wait
            if report and not going and not all(_has_run_finished(out / system.run_folder_name) for system in systems):
                report.terminate()  # the report waits for runs that will not finish
            time.sleep(PROGRESS_POLL_INTERVAL_S)
        live.update(_build_progress_table(runs, tallies))
    wrong = [
        text
        for system, process in runs.items()
        if (text := _describe_unexpected_outcome(system, process.returncode, out))
    ]
    for text in wrong:
        console.print(f"[bold red]demo:[/] {text}")
    console.file.write(f"\n{(out / REPORT_TEXT_FILE_NAME).read_text(encoding='utf-8')}")
    if report.returncode:
        console.print((out / REPORT_PROGRESS_FILE_NAME).read_text(encoding="utf-8"), markup=False)
        console.print(f"[bold red]demo:[/] the report is missing; the runs are in {out.resolve()}")
        return EXIT_NOT_CONFORMANT
    took = time.monotonic() - began
    console.print(f"\nthe demo took {took:.0f} s; open [bold]{(out / 'report/site/index.html').resolve()}[/]")
    return EXIT_NOT_CONFORMANT if wrong else EXIT_OK


def _remove_old_demo(out: Path) -> None:
    if out.exists():
        if not out.is_dir() or (any(out.iterdir()) and not (out / "demo.txt").is_file()):
            raise UsageError(f"{out} is not empty, and is not the folder of an earlier demo; give another --out")
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / "demo.txt").write_text("written by `mqconform demo`; the next demo replaces this folder\n", encoding="utf-8")


def _start_run(system: DemoSystem, guard: ProgramGuard, out: Path) -> subprocess.Popen[bytes]:
    unknown = [name for name in system.faults if name not in load_faults()]
    if unknown:
        raise HarnessError(f"the demo's fault {unknown[0]} does not exist")
    sut = out / f"{system.run_folder_name}.toml"
    port = 0 if system.kind == "process" else 1801
    text = _SUT_FILE_TEXT.format(
        name=system.name,
        vendor=system.vendor,
        version=system.version,
        kind=system.kind,
        address=system.address,
        peer=system.peer_address,
        tcp_port=port,
        ping_port=port and 3527,
        rpc_port=port and 2103,
        python=sys.executable,
        config=_write_config(system, out, "{worker}").resolve(),
        # A system on loopback would need more configuration for these capabilities.
        virtual=str(system.kind == "virtual").lower(),
        faults="".join(f', "--fault", "{name}"' for name in system.faults),
    )
    sut.write_text(text, encoding="utf-8")
    for number, configuration in enumerate(build_worker_configurations(load_sut_file(sut), system.worker_count)):
        driver = configuration.driver
        provisions = write_provisions(
            out / f"{system.run_folder_name}.keys",
            PEER_IDENTIFIER,
            configuration.queues.restricted,
            driver.peer_address,
        )
        config = _REFERENCE_CONFIG_TEXT.format(address=driver.address) + provisions
        _write_config(system, out, number).write_text(config, encoding="utf-8")
    command = [sys.executable, "-m", "mqconform", "run", "--sut", str(sut), "--out", str(out / system.run_folder_name)]
    command += ["--workers", str(system.worker_count)]
    if system.selected_sections:
        command += [
            "-k",
            CHECK_SELECTION_EXPRESSION,
            *(word for place in system.selected_sections for word in ("--select", place)),
        ]
    log = (out / f"{system.run_folder_name}.log").open("wb")
    with log:
        return subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=guard.environment()
        )


def _write_config(system: DemoSystem, out: Path, worker: int | str) -> Path:
    return out / f"{system.run_folder_name}.{worker}.qm.toml"


def _start_report(
    systems: Iterable[DemoSystem], guard: ProgramGuard, out: Path, console: Console
) -> subprocess.Popen[bytes]:
    folders = [str(out / system.run_folder_name) for system in systems]
    command = [sys.executable, "-m", "mqconform", "rollup", *folders, "--out", str(out / "report")]
    command += ["--wait", str(REPORT_WAIT_LIMIT_S)]
    terminal = {"COLUMNS": str(console.width), "FORCE_COLOR": "1"} if console.is_terminal else {}
    environment = guard.environment() | terminal
    with (out / REPORT_TEXT_FILE_NAME).open("wb") as report, (out / REPORT_PROGRESS_FILE_NAME).open("wb") as progress:
        return subprocess.Popen(  # noqa: S603 - our own command
            command, stdin=subprocess.DEVNULL, stdout=report, stderr=progress, env=environment
        )


def _list_running_runs(processes: Iterable[subprocess.Popen[bytes]]) -> list[subprocess.Popen[bytes]]:
    return [process for process in processes if process.poll() is None]


def _read_last_line(log: Path) -> str:
    return log.read_text(encoding="utf-8").rstrip().rpartition("\n")[2] if log.is_file() else ""


def _has_run_finished(run: Path) -> bool:
    try:
        return bool(read_run_json(run).get("finished"))
    except UsageError:
        return False


class _VerdictCounter:
    """A counter of the verdicts of a run in progress. It reads each line of the growing verdict file only once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.read = 0
        self.counts: Counter[str] = Counter()

    def count_new_verdicts(self) -> Counter[str]:
        """Count the verdicts in the new lines; return the counts of all lines so far."""
        if self.path.is_file():
            with self.path.open("rb") as file:
                file.seek(self.read)
                new = file.read()
            lines = new[: new.rfind(b"\n") + 1]
            self.read += len(lines)
            self.counts.update({verdict: lines.count(b'"verdict":"%s"' % verdict.encode()) for verdict in Verdict})
        return self.counts


def _build_progress_table(
    runs: dict[DemoSystem, subprocess.Popen[bytes]], tallies: dict[DemoSystem, _VerdictCounter], said: str = ""
) -> Table:
    table = Table("system", "reached", "pass", "fail", "warn", "other", "state", caption=Text(said))
    for system, process in runs.items():
        counts = tallies[system].count_new_verdicts()
        shown = [str(counts[verdict]) for verdict in (Verdict.PASS, Verdict.FAIL, Verdict.WARN)]
        other = counts.total() - sum(map(int, shown))
        state = "running" if process.poll() is None else f"ended with exit code {process.returncode}"
        table.add_row(f"{system.name} {system.version}", system.kind, *shown, str(other), state)
    return table


def _describe_unexpected_outcome(system: DemoSystem, code: int, out: Path) -> str | None:
    """Compare the failed rules of a system's run with the rules that the system's faults break. Return a
    description of the difference, or None if there is none.
    """
    path = out / system.run_folder_name / VERDICTS_FILE
    if not path.is_file() or code not in (EXIT_OK, EXIT_NOT_CONFORMANT):
        return f"the run of {system.name} ended with exit code {code}; see {out / system.run_folder_name}.log"
    lines = list(read_verdicts(path))
    failed = {line["rule"] for line in lines if line["verdict"] == "fail"}
    broken = {rule for name in system.faults for rule in load_faults()[name].breaks}
    meant = broken & select_rules(load_catalogue(), system.selected_sections)
    extra, missing = sorted(failed - broken), sorted(meant - failed)
    if extra or missing:
        return (
            f"{system.name}: unexpected failures: {', '.join(extra) or 'none'}; "
            f"missing failures: {', '.join(missing) or 'none'}"
        )
    if code != (EXIT_NOT_CONFORMANT if meant else EXIT_OK):
        return f"the run of {system.name} ended with exit code {code}; see {out / system.run_folder_name}.log"
    return None
