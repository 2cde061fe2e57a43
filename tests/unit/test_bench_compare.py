"""`make bench-compare` names each command whose cost exceeds its kept figure by more than a fifth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import commands
from benchmarks.kept import BadKeptFile, Figure, compare, read_kept, write_kept


def figure(ratio: float) -> Figure:
    return Figure(ratio, 0.3 * ratio, 1.0, "2026-11-27, some machine")


@pytest.mark.parametrize(
    ("ratio", "worse", "growth"),
    [(1.21, True, "+21%"), (1.2, False, "+20%"), (1.0, False, "+0%"), (0.5, False, "-50%")],
)
def test_benchmark_is_worse_when_its_ratio_grew_by_more_than_a_fifth(ratio: float, worse: bool, growth: str):
    (change,) = compare({"explain": figure(1.0)}, [("explain", figure(ratio))])
    assert change.is_worse == worse
    assert growth in str(change)
    assert ("WORSE" in str(change)) == worse


def test_benchmark_on_a_slower_machine_is_not_worse():
    slower = Figure(1.0, 3.0, 1.0, "2026-11-27, a slower machine")
    (change,) = compare({"explain": figure(1.0)}, [("explain", slower)])
    assert not change.is_worse


def test_new_benchmark_is_not_worse_and_its_line_names_the_remedy():
    (change,) = compare({}, [("explain", figure(1.0))])
    assert not change.is_worse
    assert str(change).endswith("no kept figure: `make bench-keep` keeps it")


def test_recorded_but_unmeasured_benchmark_is_listed_last_and_not_worse():
    changes = list(compare({"prove": figure(900), "explain": figure(1.0)}, [("explain", figure(1.0))]))
    assert [change.name for change in changes] == ["explain", "prove"]
    assert not changes[1].is_worse
    assert str(changes[1]).endswith("not measured now")


def test_recorded_benchmark_figures_are_read_as_they_were_written(tmp_path: Path):
    figures = {"mqconform --version": figure(0.25), "mqconform prove": figure(900)}
    write_kept(figures, tmp_path / "kept.toml")
    assert read_kept(tmp_path / "kept.toml") == figures


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (None, "No such file or directory"),
        ("[explain", "Expected ']'"),
        ("explain = 3", '"explain" is not a table of ratio, cpu_s, wanted_cpu_s, measured'),
        ("[explain]\nratio = 1.0", '"explain" is not a table of ratio, cpu_s, wanted_cpu_s, measured'),
        ('[explain]\nratio = []\ncpu_s = 1\nwanted_cpu_s = 1\nmeasured = ""', 'ratio of "explain" is [], not a number'),
        ('[explain]\nratio = 0\ncpu_s = 1\nwanted_cpu_s = 1\nmeasured = ""', 'ratio of "explain" is 0, not a number'),
        ("[explain]\nratio = 1\ncpu_s = 1\nwanted_cpu_s = 1\nmeasured = 2", 'measured of "explain" is 2, not a text'),
    ],
)
def test_broken_benchmark_record_gives_one_line_error_with_remedy(tmp_path: Path, text: str | None, reason: str):
    path = tmp_path / "kept.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(BadKeptFile) as raised:
        read_kept(path)
    assert len(str(raised.value).splitlines()) == 1
    assert str(raised.value).startswith(f"{path}: ")
    assert reason in str(raised.value)
    assert "`make bench-keep`" in str(raised.value)


def test_each_benchmark_has_a_recorded_figure_and_target():
    wanted = {name: command.wanted_cpu_s for name, command in commands.COMMANDS.items()}
    kept = {name: figure.wanted_cpu_s for name, figure in read_kept().items()}
    assert wanted.items() <= kept.items()


def test_bench_comparison_exits_with_1_and_names_slower_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(commands, "read_kept", lambda: {"explain": figure(1.0), "serve": figure(1.0)})
    monkeypatch.setattr(commands, "measure_commands", lambda short: [("explain", figure(1.3)), ("serve", figure(1.1))])
    with pytest.raises(SystemExit, match=r"worse by more than a fifth: explain$"):
        commands.main([])
    assert [line.partition(":")[0] for line in capsys.readouterr().out.splitlines()] == ["explain", "serve"]


def test_recording_some_benchmark_figures_leaves_the_others_unchanged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    path = tmp_path / "kept.toml"
    write_kept({"explain": figure(1.0), "prove": figure(900)}, path)
    monkeypatch.setattr(commands, "KEPT_FILE", path)
    monkeypatch.setattr(commands, "measure_commands", lambda short: [("explain", figure(2.0))])
    commands.main(["--keep", "--short"])
    assert read_kept(path) == {"explain": figure(2.0), "prove": figure(900)}


def test_cost_of_make_test_is_recorded_only_with_all_tracks(tmp_path: Path):
    (tmp_path / "lint.json").write_text(json.dumps({"(lint)": 20.0}), encoding="utf-8")
    (tmp_path / "test-core.json").write_text(json.dumps({"one": 2.0, "two": 3.0}), encoding="utf-8")
    assert commands.read_last_test_cpu_s(tmp_path, ["lint", "test-core"]) == 25.0
    assert commands.read_last_test_cpu_s(tmp_path, ["lint", "test-core", "test-lake"]) is None
    assert commands.read_last_test_cpu_s(tmp_path, []) is None
