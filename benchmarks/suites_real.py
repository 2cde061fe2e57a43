"""All checks of MS-MQQB and MS-MQMQ against the reference in real time, and the proof of all checks.

Wanted: over loopback with set_timers under 4 minutes, without a control channel under 15 minutes, prove under 5.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.suites_virtual import DOCUMENTS, verdict_counts
from harness.sut.provisioning import write_provisions
from harness.sut.sut_file import PEER_IDENTIFIER, load_sut_file
from harness.sut.worker_configurations import worker_configurations

PEER_PORTS = {"tcp": 18_040, "ping": 35_300}
LOOPBACK_WORKERS, WAITING_WORKERS = 4, 24
CAPABILITIES = """
[capabilities]
ping = true
ping_initiator = true
private_names = true
public_names = true
security = true
qm2qm = true
subqueues = true
several_queues = true
"""
QUEUES = {
    "plain": "private$\\mqc-plain-{worker}",
    "transactional": "private$\\mqc-tx-{worker}",
    "admin": "private$\\mqc-admin-{worker}",
}


def measure() -> Iterator[str]:
    """Run them one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield _loopback(folder)
        yield _without_control(folder)
    began = time.monotonic()
    done = subprocess.run([sys.executable, "-m", "harness", "prove", "--jobs", "2"], check=False, capture_output=True)
    said = done.stdout.decode().strip().splitlines()[-1:]
    yield f"prove: {time.monotonic() - began:.0f} s, {said[0] if said else done.returncode} (wanted: under 300 s)"


def _loopback(folder: Path) -> str:
    """Return a process for each worker, each with a control channel."""
    command = f'"{sys.executable}", "-m", "reference_qm", "--config", "{folder}/{{worker}}.toml"'
    ports = ", ".join(f'"--{name}-port", "{{{name}_port}}"' for name in ("tcp", "ping", "rpc"))
    sut = folder / "loopback.toml"
    sut.write_text(
        f'[sut]\nname = "loopback"\n[driver]\nkind = "process"\naddress = "127.0.23.1"\npeer_address = "127.0.23.2"\n'
        f"tcp_port = 0\nping_port = 0\nrpc_port = 0\n"
        f"peer_tcp_port = {PEER_PORTS['tcp']}\npeer_ping_port = {PEER_PORTS['ping']}\n"
        f'command = [{command}, "--address", "{{address}}", {ports}, "--control", "127.0.0.1:{{control_port}}"]\n'
        f'[control]\nkind = "jsonl"\n{CAPABILITIES}',
        encoding="utf-8",
    )
    for number, configuration in enumerate(worker_configurations(load_sut_file(sut), LOOPBACK_WORKERS)):
        _configure(folder, str(number), configuration.driver.address, configuration.driver.peer_address)
    return f"loopback, set_timers, {_run(folder, sut, LOOPBACK_WORKERS)} (wanted: under 240 s)"


def _without_control(folder: Path) -> str:
    """Start one process, with the specification's own timers, and return what names it."""
    queues = "".join(
        f"[[queues]]\nname = '{name.format(worker=number)}'\ntransactional = {str(kind == 'transactional').lower()}\n"
        for number in range(WAITING_WORKERS)
        for kind, name in QUEUES.items()
    )
    named = "[queues]\n" + "".join(f"{kind} = '{name}'\n" for kind, name in QUEUES.items())
    config = _configure(folder, "alone", "127.0.22.1", "127.0.0.2", queues)
    options = ["--config", str(config), "--address", "127.0.22.1", "--tcp-port", "0", "--ping-port", "0"]
    process = subprocess.Popen([sys.executable, "-m", "reference_qm", *options], stdout=subprocess.PIPE, text=True)
    with process, contextlib.ExitStack() as stack:
        stack.callback(process.terminate)
        assert process.stdout is not None
        bound = dict(part.split("=", 1) for part in process.stdout.readline().split()[1:])
        port = {name: where.rpartition(":")[2] for name, where in bound.items()}
        sut = folder / "alone.sut.toml"
        sut.write_text(
            f'[sut]\nname = "alone"\n[driver]\nkind = "external"\naddress = "127.0.22.1"\ntcp_port = {port["tcp"]}\n'
            f"ping_port = {port['ping']}\nrpc_port = {port['rpc']}\n"
            f"peer_tcp_port = {PEER_PORTS['tcp']}\npeer_ping_port = {PEER_PORTS['ping']}\n{named}{CAPABILITIES}",
            encoding="utf-8",
        )
        return f"no control, {_run(folder, sut, WAITING_WORKERS)} (wanted: under 900 s)"


def _configure(folder: Path, name: str, address: str, peer: str, queues: str = "") -> Path:
    provisions = write_provisions(folder / f"{name}.keys", PEER_IDENTIFIER, "private$\\mqc-restricted", peer)
    path = folder / f"{name}.toml"
    remote = f"[remote]\ntcp_port = {PEER_PORTS['tcp']}\nping_port = {PEER_PORTS['ping']}\n"
    path.write_text(f'[queue_manager]\nhost_name = "{address}"\nsend_ping = true\n{remote}{queues}{provisions}')
    return path


def _run(folder: Path, sut: Path, workers: int) -> str:
    out = folder / f"{sut.stem}-run"
    command = ["run", "--sut", str(sut), "--out", str(out), "--workers", str(workers), "-k", DOCUMENTS]
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "harness", *command], check=False, stdout=subprocess.DEVNULL)
    return f"{workers} workers: {time.monotonic() - began:.0f} s, {verdict_counts(out)}"


if __name__ == "__main__":
    for line in measure():
        print(line, flush=True)
