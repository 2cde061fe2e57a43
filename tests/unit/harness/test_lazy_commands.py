"""The command line imports only the modules that the called command needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_group

from harness.cli.main import MODULES_OF_COMMANDS, app
from harness.proof.trials import VIRTUAL_SUT_FILE_TEXT
from harness.rules.places import list_suite_files_containing

RULE = "MQQB-3.1.5.5.5-01"
IMPORTED = "import sys; sys.argv = ['mqconform', *{arguments!r}]\nfrom harness.cli.main import main\n" + (
    "try:\n    main()\nexcept SystemExit:\n    pass\nprint('\\nIMPORTED', *sys.modules)"
)


def imported_by(*arguments: str) -> set[str]:
    """Return the modules that a command has imported."""
    code = IMPORTED.format(arguments=list(arguments))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("IMPORTED ")[2].split())


@pytest.mark.parametrize(
    ("arguments", "unneeded"),
    [
        (["--version"], {"scapy", "pytest", "rich", "reference_qm", "reports", "suites", "harness.rules"}),
        (["serve", "--help"], {"scapy", "pytest", "reports", "suites", "harness.rules", "harness.run"}),
        (["explain", RULE], {"scapy", "pytest", "reports", "suites", "harness.run", "reference_qm.core"}),
    ],
)
def test_command_imports_only_the_modules_that_it_needs(arguments: list[str], unneeded: set[str]) -> None:
    imported_by(*arguments)  # what it reads of the suites is kept then
    assert imported_by(*arguments) & unneeded == set()


def test_a_run_of_one_rule_imports_its_files_only(tmp_path: Path) -> None:
    (tmp_path / "sut.toml").write_text(VIRTUAL_SUT_FILE_TEXT, encoding="utf-8")
    run = ("run", "--sut", str(tmp_path / "sut.toml"), "--rule", RULE)
    for folder in ("first", "second"):  # the first has to import what nobody has kept yet
        imported = imported_by(*run, "--out", str(tmp_path / folder))
    checks = {name for name in imported if name.startswith("suites.") and ".test_" in name}
    assert {path.stem for path in list_suite_files_containing(["*/*/test_*.py"], [RULE])} == {
        name.split(".")[-1] for name in checks
    }
    unneeded = {"allure_commons", "scapy.layers.dcerpc", "scapy.layers.kerberos", "hypothesis", "reports"}
    assert imported & unneeded == set()


def test_every_command_can_be_loaded_by_its_name() -> None:
    group = get_group(app)
    names = group.list_commands(None)  # type: ignore[arg-type]
    assert set(MODULES_OF_COMMANDS) | {"demo", "lake", "read", "rollup", "serve", "windows"} == set(names)
    assert [group.get_command(None, name).name for name in names] == names  # type: ignore[arg-type, union-attr]


def test_a_run_with_a_fault_imports_no_other_files_of_faults(tmp_path: Path) -> None:
    fault, file = (
        "receiver-ack-reach-queue-packet-refused-as-malformed",
        "s3_1_5_11_receiving_administration_acknowledgments",
    )
    (tmp_path / "sut.toml").write_text(f'{VIRTUAL_SUT_FILE_TEXT}[reference]\nfaults = ["{fault}"]\n', encoding="utf-8")
    imported = imported_by("run", "--sut", str(tmp_path / "sut.toml"), "--rule", RULE, "--out", str(tmp_path / "run"))
    files = {name for name in imported if name.startswith("suites.") and ".faults" in name}
    assert files == {f"suites.mqqb.{file}.faults"}


def test_proof_of_one_rule_imports_only_its_checks() -> None:
    section = "suites.mqqb.s3_1_5_11_receiving_administration_acknowledgments"
    imported = imported_by("prove", "--jobs", "1", "--rule", "MQQB-3.1.5.11-01")
    checks = {name for name in imported if name.startswith("suites.") and ".test_" in name}
    assert checks == {f"{section}.test_receiving_administration_acknowledgments"}
