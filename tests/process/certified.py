"""Makes and verifies certificates in this process. They certify a run of three checks that the helpers present as a
whole run.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from jinja2 import UndefinedError
from typer import Typer
from typer.testing import CliRunner

from harness.cli.certificates import register
from harness.errors import MqconformError
from harness.results import bundle as bundles
from harness.results import certificate, installed, verification
from harness.results.bundle import write_bundle
from harness.results.certificate import (
    CERTIFICATE_BADGE_FILE,
    CERTIFICATE_FILE,
    CERTIFICATE_PAGE_FILE,
    CertificateTerms,
)
from harness.results.certificate_page import build_certificate_badge, build_certificate_page
from harness.results.installed import get_installed_suites
from harness.results.run_results import read_run

APP = Typer()
register(APP)
MADE = (CERTIFICATE_FILE, CERTIFICATE_PAGE_FILE, CERTIFICATE_BADGE_FILE)
Spoil = Callable[[Path], None]
"""A function that changes the members of a certificate."""


def leave_out_advice(folder: Path) -> None:
    """Remove the lines that judge only the SHOULD of a rule, because the checks that judge the MUST did not run."""
    path = folder / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"advice":' not in line), encoding="utf-8")


def the_suites_have_only_what_ran(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the installed suites appear to have exactly the checks of a run."""
    tests = read_run(folder).checks
    checks = {test.partition("[")[0] for test in tests}
    whole = get_installed_suites()
    driving = {rule: found for rule, those in whole.checks_naming_rule.items() if (found := those & checks)}
    few = replace(whole, checks=len(tests), checks_naming_rule=driving)
    for module in (installed, verification):
        monkeypatch.setattr(module, "get_installed_suites", lambda: few)


def change(folder: Path, **values: Any) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def command(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(APP, [str(each) for each in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def certify(folder: Path, signer: Path, *options: object) -> Path:
    out = folder.parent / "contoso.mqcert"
    code, said = command("certify", folder, "--key", signer / "key.pem", "--out", out, *options)
    assert code == 0, said
    return out


def verify(path: Path, signer: Path, whose: str = "", options: Sequence[object] = ()) -> tuple[int, str]:
    return command("verify", path, "--public-key", signer / f"{whose}public.pem", *options)


def judge_otherwise(folder: Path, verdict: str) -> str:
    """Replace the last verdict of the run by a different verdict; return the rule of this verdict."""
    path = folder / "verdicts.jsonl"
    *lines, last = path.read_text(encoding="utf-8").splitlines()
    line = json.loads(last) | {"verdict": verdict, "seq": 9_999}
    path.write_text("\n".join([*lines, json.dumps(line)]) + "\n", encoding="utf-8")
    return str(line["rule"])


def forged(folder: Path, signer: Path, spoil: Spoil, expected: int = 1) -> str:
    """Change the content of a certificate, sign it again, and return the output of `verify`."""
    path = certify(folder, signer)
    inside = folder.parent / "inside"
    with zipfile.ZipFile(path) as packed:
        packed.extractall(inside)
    spoil(inside)
    files = [(str(one.relative_to(inside)), one) for one in sorted(inside.rglob("*")) if one.is_file()]
    write_bundle(path, files, bundles.read_private_key(signer / "key.pem", None))
    code, said = verify(path, signer)
    assert code == expected
    return said


def with_statement(inside: Path, alter: Callable[[dict[str, Any]], None]) -> None:
    path = inside / "certificate.json"
    tree = json.loads(path.read_text(encoding="utf-8"))
    alter(tree)
    path.write_text(certificate.build_certificate(tree), encoding="utf-8")


def sign_as_a_certifier(inside: Path, signer: Path, old: dict[str, Any], path: Path) -> None:
    """Sign a changed run folder as `certify` would: write a statement that agrees with all readable parts of the
    folder.
    """
    try:
        found = read_run(inside)
        said = certificate.build_certificate_statement(found, CertificateTerms(**old["terms"]), {})
    except (MqconformError, ValueError, TypeError, AttributeError, RecursionError):
        said = old | {"files": {}}
    names = [name for name in ("run.json", "rules.json", "verdicts.jsonl") if (inside / name).is_file()]
    names += [f"captures/{each.name}" for each in sorted((inside / "captures").iterdir())]
    said["files"] = {name: bundles.measure_size_and_sha256_of_file(inside / name)._asdict() for name in names}
    key = bundles.read_private_key(signer / "key.pem", None)
    (inside / "certificate.json").write_text(certificate.build_certificate(said), encoding="utf-8")
    for name, show in (
        ("certificate.html", lambda: build_certificate_page(said, key.public_key().public_bytes_raw().hex())),
        ("badge.svg", lambda: build_certificate_badge(said)),
    ):
        with suppress(UndefinedError, TypeError):
            (inside / name).write_text(show(), encoding="utf-8")
    write_bundle(path, [(one, inside / one) for one in (*MADE, *names)], key)
