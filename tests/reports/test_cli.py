"""The command line of the reports: the arguments that it refuses, and the modules that it does not import."""

import subprocess
import sys

import make_runs
import pytest
import typer
from typer.testing import CliRunner

import reports.cli
from reports.java import parse_java_version
from reports.java_errors import describe_java_error, find_reason_in_java_output

APP = typer.Typer()
APP.callback()(lambda: None)
reports.cli.register(APP)


def rollup(*arguments):
    return CliRunner().invoke(APP, ["rollup", *map(str, arguments)])


@pytest.fixture
def run_folder(tmp_path):
    rules = dict(list(make_runs.catalogue().items())[:3])
    return make_runs.make_run(tmp_path / "run", "Contoso", "1.0", rules=rules, verdicts=3).folder


def refused(result, words):
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert words in result.stderr
    assert result.stdout == ""


def test_importing_the_command_does_not_import_spark():
    code = "import sys, reports.cli; sys.exit('pyspark' in sys.modules or 'py4j' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_foreign_output_folder_is_not_replaced(tmp_path, run_folder):
    (tmp_path / "out" / "site").mkdir(parents=True)
    (tmp_path / "out" / "site" / "mine.html").write_text("mine")
    refused(rollup(run_folder, "--out", tmp_path / "out"), "was not written by rollup")
    assert (tmp_path / "out" / "site" / "mine.html").read_text() == "mine"


def test_output_path_of_existing_file_gives_one_line_error(tmp_path, run_folder):
    (tmp_path / "out").write_text("")
    refused(rollup(run_folder, "--out", tmp_path / "out"), "cannot write to")


def test_a_missing_java_gives_one_line_error(tmp_path, run_folder, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(rollup(run_folder, "--out", tmp_path / "out"), "no java is on the PATH")


def test_a_wrong_java_home_gives_one_line_error(tmp_path, run_folder, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    refused(rollup(run_folder, "--out", tmp_path / "out"), f"JAVA_HOME={tmp_path} has no bin/java")


@pytest.mark.parametrize(
    ("answer", "found"), [('openjdk version "11.0.2"', "Java 11"), ("hello", "of an unknown version")]
)
def test_an_old_java_gives_one_line_error(tmp_path, run_folder, monkeypatch, answer, found):
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(f"#!/bin/sh\necho '{answer}' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    refused(rollup(run_folder, "--out", tmp_path / "out"), found)


@pytest.mark.parametrize(
    ("answer", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15', 17),
        ('java version "1.8.0_372"', 8),
        ('openjdk version "25" 2025', 25),
        ("", None),
    ],
)
def test_feature_release_of_java_is_read_from_its_version(answer, version):
    assert parse_java_version(answer) == version


@pytest.mark.parametrize(
    ("log", "words"),
    [
        (
            'WARN a\nException in thread "main" o.SparkException: Master must be\n\tat x\n',
            "o.SparkException: Master must be",
        ),
        ("Invalid maximum heap size: -Xmxlots\nError: Could not\n", "Invalid maximum heap size: -Xmxlots"),
        ("Caused by: a: b\n\tat x\nCaused by: c: refused\n\t... 4 more\n", "c: refused"),
        ("WARN something\n", ""),
    ],
)
def test_reason_of_failed_java_start_is_read_from_its_output(log, words):
    assert find_reason_in_java_output(log) == words


def test_death_of_java_process_is_reported():
    class Failed(Exception):
        @property
        def java_exception(self):
            raise ConnectionRefusedError

    for error in (ConnectionResetError(104, "reset"), Failed()):
        assert describe_java_error(error) == "its Java process has ended: it was killed, or had no memory left"


@pytest.mark.parametrize(("columns", "width"), [(None, reports.cli.PIPED_WIDTH_CHARACTERS), ("70", 70)])
def test_matrix_row_is_one_line_in_pipe_without_given_width(monkeypatch, columns, width):
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    assert reports.cli.make_matrix_console().width == width
