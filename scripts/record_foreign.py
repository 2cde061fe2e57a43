"""Records the captures of tests/unit/foreign/recorded with tshark and tcpdump while the harness tests `serve`.

Linux, root, tshark, tcpdump and editcap are required. Each scenario has two network namespaces: the harness runs in the
first namespace, and `mqconform serve` runs in the second. A `Wire` joins the two namespaces; packets are lost or
reordered only in the `Wire`. The harness also records the same conversations in its own captures, and the tests compare
these with the captures from tshark and tcpdump.

.venv/bin/python scripts/record_foreign.py OUT [SCENARIO...]

The scenarios `null` and `loop` rewrite the capture of `loopback` with text2pcap: the loopback headers of BSD and
OpenBSD replace the Ethernet headers. The scenario `faults` runs `serve` with each fault of faults.toml, and records
the checks that show the fault:

.venv/bin/python scripts/record_foreign.py tests/unit/foreign/recorded faults [FAULT...]
"""

from __future__ import annotations

import argparse
import fcntl
import gzip
import os
import random
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scapy.layers.inet import IP, TCP, UDP, fragment
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.utils import RawPcapNgReader

ROOT = Path(__file__).resolve().parent.parent
MQCONFORM_PROGRAM = Path(sys.executable).parent / "mqconform"
TESTER_ADDRESS, SYSTEM_ADDRESS = "10.77.0.1", "10.77.0.2"
CONTROL_PORT = 9801
FAULTS_FILE = ROOT / "tests" / "unit" / "foreign" / "recorded" / "faults" / "faults.toml"
RECORDED_CHECKS = (
    "test_data_model_has_nothing_unacknowledged_after_session_header",
    "test_traced_message_has_debug_header_at_its_end",
    "test_single_phase_prepare_commits",
    "test_outgoing_queue_is_active_until_message_acknowledged",
    "test_any_unused_bit_of_properties_header_is_accepted",
    "test_unacknowledged_final_ack_comes_again_after_restart",
    "test_forwarded_message_keeps_connector_type",
)
CHECKS_OF_LONG_CAPTURE = (
    *RECORDED_CHECKS,
    "test_transactions",
    "test_base_header",
    "test_user_header",
    "test_shown_queues",
)
_TUNSETIFF, _IFF_TUN, _IFF_TAP, _IFF_NO_PI = 0x400454CA, 1, 2, 0x1000
_RECORDER_START_TIMEOUT_S = 30.0
_ETHERNET_HEADER_BYTES = 14

FramesBuilder = Callable[[bytes], list[bytes]]


class TapDevice:
    """A tun or tap device of this process in a network namespace: the process reads the packets that are sent to the
    device.
    """

    def __init__(self, name: str, namespace: str, *, ethernet: bool = False, address: str = "") -> None:
        self.descriptor = os.open("/dev/net/tun", os.O_RDWR)
        kind = (_IFF_TAP if ethernet else _IFF_TUN) | _IFF_NO_PI
        fcntl.ioctl(self.descriptor, _TUNSETIFF, struct.pack("16sH", name.encode(), kind))
        _run_ip_command("link", "set", name, "netns", namespace)
        _run_ip_command("-n", namespace, "link", "set", name, "mtu", "1500", "up")
        if address:
            _run_ip_command("-n", namespace, "address", "add", f"{address}/24", "dev", name)

    def close(self) -> None:
        """Remove the device."""
        os.close(self.descriptor)


@dataclass
class SimulatedNetwork:
    """A simulated network between two devices. Of every thousand packets, it loses ``lost_per_thousand`` packets, and
    delivers ``late_per_thousand`` packets after the packet that follows them.

    ``copied``: the device to which a copy of each packet is written. ``frames``: the function that makes the frames
    of the copy.
    """

    ends: tuple[TapDevice, TapDevice]
    lost_per_thousand: int = 0
    late_per_thousand: int = 0
    copying_device: TapDevice | None = None
    frames: FramesBuilder | None = None
    random: random.Random = field(default_factory=lambda: random.Random(1))
    held_packets: list[tuple[int, bytes]] = field(default_factory=list)
    is_ended: bool = False

    def carry_packets(self) -> None:
        """Carry packets between the two devices until another thread ends the simulated network."""
        descriptors = [end.descriptor for end in self.ends]
        while not self.is_ended:
            for ready in select.select(descriptors, [], [], 0.02)[0] or [None]:
                if ready is None:
                    self._send_held_packets()
                    continue
                packet = os.read(ready, 65_536)
                self._carry_single_packet(1 - descriptors.index(ready), packet)

    def _carry_single_packet(self, side: int, packet: bytes) -> None:
        chance = self.random.randrange(1000) if packet[9:10] == b"\x06" else 1000
        if chance < self.lost_per_thousand:
            return
        if chance < self.lost_per_thousand + self.late_per_thousand:
            self.held_packets.append((side, packet))
            return
        self._send_packet(side, packet)
        self._send_held_packets()

    def _send_held_packets(self) -> None:
        for side, packet in self.held_packets:
            self._send_packet(side, packet)
        self.held_packets.clear()

    def _send_packet(self, side: int, packet: bytes) -> None:
        os.write(self.ends[side].descriptor, packet)
        if self.copying_device is not None and self.frames is not None and packet[0] >> 4 == 4:
            for frame in self.frames(packet):
                os.write(self.copying_device.descriptor, frame)


def build_tagged_frames(packet: bytes) -> list[bytes]:
    """Put a packet into an Ethernet frame with two VLAN tags."""
    ethernet = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
    return [bytes(ethernet / Dot1Q(vlan=7) / Dot1Q(vlan=42) / IP(packet))]


def build_ipv6_packets(packet: bytes) -> list[bytes]:
    """Translate a packet to IPv6, with addresses that end like the IPv4 addresses."""
    old = IP(packet)
    if not isinstance(old.payload, (TCP, UDP)):
        return []
    payload = old.payload.copy()
    del payload.chksum
    new = IPv6(src=f"fd77::{old.src}", dst=f"fd77::{old.dst}")
    return [bytes(new / payload)]


def build_call_fragments(packet: bytes) -> list[bytes]:
    """Return the fragments of a packet, which have at most 576 bytes each. If a packet has three fragments, the
    second fragment comes last.
    """
    old = IP(packet)
    old.flags = 0
    parts = [bytes(part) for part in fragment(old, fragsize=552)]
    return parts if len(parts) < 3 else [parts[0], *parts[2:], parts[1]]


@dataclass(frozen=True)
class Scenario:
    """A capture to record. ``recorder``: the command that captures, either on the device ``t0`` of the harness's
    namespace, or on ``m0``, the device that receives the copies.
    """

    name: str
    recorder: tuple[str, ...] = ("tshark", "-q", "-i", "t0", "-w")
    build_copies: FramesBuilder | None = None
    copies_ethernet: bool = False
    lost_per_thousand: int = 0
    late_per_thousand: int = 0
    checks: tuple[str, ...] = RECORDED_CHECKS
    editcap_arguments: tuple[str, ...] = ()
    """The options of the editcap command that changes the recorded capture. In the command, they stand between the name
    of the input file and the name of the output file.
    """
    uses_loopback: bool = False
    fault: str = ""
    suffix: str = ".pcapng"


TSHARK_COMMAND = ("tshark", "-q", "-i")
TCPDUMP_COMMAND = ("tcpdump", "-U", "-i")
SCENARIOS = (
    Scenario("raw"),
    Scenario("loopback", (*TSHARK_COMMAND, "lo", "-w"), uses_loopback=True),
    Scenario("loopback_pcap", (*TCPDUMP_COMMAND, "lo", "-w"), uses_loopback=True, suffix=".pcap"),
    Scenario(
        "nanoseconds", (*TCPDUMP_COMMAND, "lo", "--time-stamp-precision=nano", "-w"), uses_loopback=True, suffix=".pcap"
    ),
    Scenario("cooked_v1", (*TCPDUMP_COMMAND, "any", "-y", "LINUX_SLL", "-w"), uses_loopback=True, suffix=".pcap"),
    Scenario("cooked_v2", (*TCPDUMP_COMMAND, "any", "-y", "LINUX_SLL2", "-w"), suffix=".pcap"),
    Scenario("two_link_types", (*TSHARK_COMMAND, "t0", "-i", "m0", "-w"), build_tagged_frames, copies_ethernet=True),
    Scenario("vlan", (*TSHARK_COMMAND, "m0", "-w"), build_tagged_frames, copies_ethernet=True),
    Scenario("ipv6", (*TSHARK_COMMAND, "m0", "-w"), build_ipv6_packets),
    Scenario("fragments", (*TSHARK_COMMAND, "m0", "-w"), build_call_fragments),
    Scenario("loss", lost_per_thousand=40),
    Scenario("reordering", late_per_thousand=120),
    Scenario("snaplen", (*TSHARK_COMMAND, "t0", "-s", "96", "-w")),
    Scenario("lost_frames", editcap_arguments=("200-203", "400", "650-652")),
    Scenario("middle", editcap_arguments=("1-330",)),
    Scenario("many", checks=CHECKS_OF_LONG_CAPTURE),
)


@dataclass(frozen=True)
class RewrittenCapture:
    """A capture that text2pcap writes. ``header`` precedes each IP packet, and the link type is not Ethernet."""

    name: str
    link_type: int
    header: bytes
    form: str
    suffix: str
    source: str = "loopback"


REWRITTEN_CAPTURES = (
    RewrittenCapture("null", 0, struct.pack("<I", 2), "pcap", ".pcap"),
    RewrittenCapture("loop", 108, struct.pack(">I", 2), "pcapng", ".pcapng"),
)


def main() -> None:
    """Record the scenarios that the command line names, or all scenarios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("scenario", nargs="*")
    given = parser.parse_args()
    names = given.scenario
    if names[:1] == ["faults"]:
        (given.out / "faults").mkdir(parents=True, exist_ok=True)
        for scenario in read_fault_scenarios():
            if not names[1:] or scenario.name in names[1:]:
                _print_result(scenario, record_scenario(scenario, given.out / "faults" / scenario.name, own=None))
        return
    for scenario in SCENARIOS:
        if not names or scenario.name in names:
            out = given.out / scenario.name
            shutil.rmtree(out, ignore_errors=True)
            (out / "own").mkdir(parents=True)
            _print_result(scenario, record_scenario(scenario, out / "capture", out / "own"))
    for rewriting in REWRITTEN_CAPTURES:
        if not names or rewriting.name in names:
            _print_result(rewriting, rewrite_capture(rewriting, given.out))


def _print_result(scenario: Scenario | RewrittenCapture, recorded: str) -> None:
    sys.stdout.write(f"{scenario.name}: {recorded}\n")
    sys.stdout.flush()


def read_fault_scenarios() -> list[Scenario]:
    """Return a scenario on loopback for each fault of faults.toml."""
    faults = tomllib.loads(FAULTS_FILE.read_text(encoding="utf-8"))["faults"]
    return [
        Scenario(name, (*TSHARK_COMMAND, "lo", "-w"), uses_loopback=True, checks=(fault["check"],), fault=name)
        for name, fault in faults.items()
    ]


def record_scenario(scenario: Scenario, out: Path, own: Path | None) -> str:
    """Record one scenario to the file ``out`` (given without its suffix), and write the captures that the harness
    itself makes of this scenario to the folder ``own``. Return a description of the recorded files.
    """
    with tempfile.TemporaryDirectory(prefix="mq-foreign-") as made, ExitStack() as stack:
        folder = Path(made)
        folder.chmod(0o777)  # tshark leaves root's rights
        tester, system = _create_namespaces(scenario, stack)
        _start_serve(folder, system, scenario, stack)
        capture = folder / f"capture{scenario.suffix}"
        recorder = _start_recorder(scenario, tester, capture, stack)
        run = _run_checks(folder, tester, scenario)
        time.sleep(1.0)
        recorder.send_signal(signal.SIGINT)
        recorder.wait()
        if scenario.editcap_arguments:
            changed = capture.with_name(f"changed{scenario.suffix}")
            subprocess.run(["editcap", capture, changed, *scenario.editcap_arguments], check=True)
            capture = changed
        packed = [_compress_file(capture, out.with_name(f"{out.name}{scenario.suffix}.gz"))]
        if own is not None:
            for number, path in enumerate(sorted((folder / "run" / "captures").glob("*.pcapng"))):
                packed.append(_compress_file(path, own / f"{number:02}.pcapng.gz"))
    return f"{run}; {len(packed) - 1} captures of the harness; {sum(packed):,} bytes"


def rewrite_capture(rewriting: RewrittenCapture, out: Path) -> str:
    """Write the IP packets of a recorded Ethernet capture with text2pcap. Return the number and the size of the
    packets as text.
    """
    source = out / rewriting.source / "capture.pcapng.gz"
    target = out / rewriting.name / f"capture{rewriting.suffix}.gz"
    target.parent.mkdir(exist_ok=True)
    with RawPcapNgReader(str(source)) as reader:
        rows = [_describe_frame(data, meta, rewriting.header) for data, meta in reader]
    with tempfile.TemporaryDirectory(prefix="mq-foreign-") as made:
        text, written = Path(made) / "frames.txt", Path(made) / "written"
        text.write_text("".join(rows), encoding="ascii")
        form = ["-F", rewriting.form, "-l", str(rewriting.link_type)]
        pattern = r"^(?<time>\S+) (?<data>[0-9a-f]+)$"
        subprocess.run(["text2pcap", "-q", *form, "-t", "ISO", "-r", pattern, text, written], check=True)
        return f"{len(rows)} frames, {_compress_file(written, target):,} bytes"


def _describe_frame(data: bytes, meta: Any, header: bytes) -> str:
    """Return a line for text2pcap. The line contains the time of a frame, and the frame with a different header
    instead of the Ethernet header.
    """
    seconds, rest = divmod((meta.tshigh << 32) + meta.tslow, meta.tsresol)
    time_ = f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest * 10**9 // meta.tsresol:09}Z"
    return f"{time_} {(header + data[_ETHERNET_HEADER_BYTES:]).hex()}\n"


def _create_namespaces(scenario: Scenario, stack: ExitStack) -> tuple[str, str]:
    tester = f"mq-tester-{os.getpid()}"
    names = (tester, tester if scenario.uses_loopback else f"mq-system-{os.getpid()}")
    for name in dict.fromkeys(names):
        stack.enter_context(_create_namespace(name))
    if scenario.uses_loopback:
        for address in (TESTER_ADDRESS, SYSTEM_ADDRESS):
            _run_ip_command("-n", names[0], "address", "add", f"{address}/32", "dev", "lo")
        return names
    ends = TapDevice("t0", names[0], address=TESTER_ADDRESS), TapDevice("t1", names[1], address=SYSTEM_ADDRESS)
    copying_device = (
        TapDevice("m0", names[0], ethernet=scenario.copies_ethernet) if scenario.build_copies is not None else None
    )
    wire = SimulatedNetwork(
        ends, scenario.lost_per_thousand, scenario.late_per_thousand, copying_device, scenario.build_copies
    )
    thread = threading.Thread(target=wire.carry_packets, daemon=True)
    thread.start()

    def end_wire() -> None:
        wire.is_ended = True
        thread.join()
        for device in (*ends, copying_device):
            if device is not None:
                device.close()

    stack.callback(end_wire)
    return names


@contextmanager
def _create_namespace(name: str) -> Iterator[None]:
    _run_ip_command("netns", "add", name)
    try:
        _run_ip_command("-n", name, "link", "set", "lo", "up")
        subprocess.run(["ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1"], check=False)
        yield
    finally:
        _run_ip_command("netns", "del", name)


def _start_serve(folder: Path, namespace: str, scenario: Scenario, stack: ExitStack) -> None:
    command = ["ip", "netns", "exec", namespace, MQCONFORM_PROGRAM, "serve", "--address", SYSTEM_ADDRESS]
    command += [
        "--control",
        f"{SYSTEM_ADDRESS}:{CONTROL_PORT}",
        *(["--fault", scenario.fault] if scenario.fault else []),
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
    stack.callback(process.wait)
    stack.callback(process.terminate)
    assert process.stdout is not None
    if not process.stdout.readline().startswith("ready"):
        raise SystemExit("mqconform serve did not start")


def _start_recorder(scenario: Scenario, namespace: str, capture: Path, stack: ExitStack) -> subprocess.Popen[str]:
    command = ["ip", "netns", "exec", namespace, *scenario.recorder, str(capture)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, text=True)
    stack.callback(process.kill)
    began = time.monotonic()
    while not capture.exists() or capture.stat().st_size == 0:
        if time.monotonic() - began > _RECORDER_START_TIMEOUT_S or process.poll() is not None:
            raise SystemExit(f"{scenario.name}: {' '.join(command)} did not begin a capture")
        time.sleep(0.05)
    time.sleep(1.0)
    return process


def _run_checks(folder: Path, namespace: str, scenario: Scenario) -> str:
    sut = folder / "sut.toml"
    sut.write_text(
        f'[sut]\nname = "served"\nversion = "0"\n[driver]\nkind = "external"\naddress = "{SYSTEM_ADDRESS}"\n'
        f'peer_address = "{TESTER_ADDRESS}"\nallow_remote = true\n[control]\nkind = "jsonl"\n'
        f'address = "{SYSTEM_ADDRESS}:{CONTROL_PORT}"\n[capabilities]\nping = true\nqm2qm = true\n',
        encoding="utf-8",
    )
    command = [
        "ip",
        "netns",
        "exec",
        namespace,
        str(MQCONFORM_PROGRAM),
        "run",
        "--sut",
        str(sut),
        "--out",
        str(folder / "run"),
    ]
    done = subprocess.run([*command, "-k", " or ".join(scenario.checks)], capture_output=True, text=True, cwd=ROOT)
    return done.stdout.strip().rpartition("\n")[2].partition(" (partial")[0]


def _compress_file(source: Path, target: Path) -> int:
    """Compress a file, and return the compressed size in bytes."""
    with gzip.GzipFile(target, "wb", mtime=0) as file:
        file.write(source.read_bytes())
    return target.stat().st_size


def _run_ip_command(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    main()
