"""``mqconform pair`` between two processes: outcomes, captures, rules that a system breaks, and missing facilities."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mqconform_process import mqconform
from qm_process import Served, serve

from harness.foreign.check import check_capture
from harness.rules.catalogue import load_catalogue

SUT = """
[sut]
name = "{name}"
[driver]
kind = "external"
address = "{address}"
peer_address = "{peer}"
[control]
kind = "jsonl"
address = "{control}"
[capabilities]
ping = true
qm2qm = {qm2qm}
"""
A_AT, A_FINDS_B_AT, B_AT, B_FINDS_A_AT = "127.0.41.1", "127.0.41.2", "127.0.41.3", "127.0.41.4"


@contextmanager
def system(folder: Path, name: str, address: str, peer: str, *flags: str, qm2qm: bool = False) -> Iterator[Path]:
    """Run a queue manager; yield a SUT file for it."""
    own = folder / name
    own.mkdir()
    with serve(own, "--address", address, "--control", f"{address}:0", *flags) as served:
        yield write_sut(folder, name, address, peer, served, qm2qm)


def write_sut(folder: Path, name: str, address: str, peer: str, served: Served, qm2qm: bool) -> Path:
    host, port = served.endpoint("control")
    file = folder / f"{name}.toml"
    declared = str(qm2qm).lower()
    text = SUT.format(name=name, address=address, peer=peer, control=f"{host}:{port}", qm2qm=declared)
    file.write_text(text, encoding="utf-8")
    return file


def run(
    folder: Path, *options: str, a: tuple[str, ...] = (), b: tuple[str, ...] = (), qm2qm: bool = False
) -> tuple[int, str, list[Any]]:
    """Run ``pair``; return the exit code, the output, and the cells. ``qm2qm``: whether both systems declare it."""
    with (
        system(folder, "a", A_AT, A_FINDS_B_AT, *a, qm2qm=qm2qm) as a_file,
        system(folder, "b", B_AT, B_FINDS_A_AT, *b, qm2qm=qm2qm) as b_file,
    ):
        done = mqconform("pair", "--a", str(a_file), "--b", str(b_file), "--out", "out", *options, cwd=folder)
    cells = json.loads((folder / "out" / "pair.json").read_text(encoding="utf-8"))["cells"]
    return done.returncode, done.stdout + done.stderr, cells


def scenarios(*names: str) -> list[str]:
    return [word for name in names for word in ("--scenario", name)]


def test_two_conforming_systems_pass_in_both_directions(tmp_path: Path) -> None:
    chosen = ("express", "transactional", "acknowledgments", "lost connection")
    code, said, cells = run(tmp_path, *scenarios(*chosen))
    assert code == 0, said
    assert [(one["scenario"], one["origin"], one["target"]) for one in cells] == [
        (name, *direction) for name in chosen for direction in ("AB", "BA")
    ]
    assert {one["outcome"]["result"] for one in cells} == {"pass"}
    assert all(one["broken"] == {} for one in cells)
    checked = check_capture(tmp_path / "out" / cells[0]["capture"], load_catalogue())
    assert checked.damage_descriptions == []


def test_rule_that_one_system_breaks_is_named_for_it_alone(tmp_path: Path) -> None:
    code, said, cells = run(
        tmp_path, *scenarios("express"), b=("--fault", "acceptor-establish-connection-timestamp-one-more")
    )
    assert code == 1, said
    assert {role for one in cells for role in one["broken"]} == {"B"}
    assert all("MQQB-3.1.5.3.1-10" in rules for one in cells for rules in one["broken"].values())


def test_scenarios_are_independent_if_only_one_system_can_be_reset(tmp_path: Path) -> None:
    chosen = scenarios("express", "acknowledgments")
    _, said, cells = run(tmp_path, *chosen, b=("--facilities", "queue_control,send,receive"))
    assert [(one["origin"], one["outcome"]["result"]) for one in cells] == [("A", "pass"), ("B", "pass")] * 2, said


def test_missing_facility_is_unsupported_and_named(tmp_path: Path) -> None:
    code, said, cells = run(tmp_path, *scenarios("express"), a=("--facilities", "queue_control,receive"))
    results = {one["origin"]: (one["outcome"]["result"], one["outcome"]["why"]) for one in cells}
    assert results == {"A": ("unsupported", "A lacks send"), "B": ("pass", "")}
    assert code == 0, said


def test_queues_are_read_remotely_in_both_directions(tmp_path: Path) -> None:
    named = {role: tmp_path / f"{role}-named.toml" for role in "ab"}
    for role, address in (("a", B_FINDS_A_AT), ("b", A_FINDS_B_AT)):
        named[role].write_text(f'[queue_manager]\nhost_name = "{address}"\n', encoding="utf-8")
    options = {role: ("--config", str(path)) for role, path in named.items()}
    code, said, cells = run(tmp_path, *scenarios("remote reading"), **options, qm2qm=True)
    assert [(one["origin"], one["outcome"]["result"], one["outcome"]["why"]) for one in cells] == [
        ("A", "pass", ""),
        ("B", "pass", ""),
    ]
    assert code == 0, said
    traffic = check_capture(tmp_path / "out" / cells[0]["capture"], load_catalogue()).traffic
    assert traffic.totals.conversation_count_by_kind["DCE/RPC"] >= 2
    done = mqconform("pair", "--grid", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[1:3]] == [
        ["a", "-", "pass", "M"],
        ["b", "pass", "M", "-"],
    ]
