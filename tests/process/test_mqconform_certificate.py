"""Certificates: the obstacles to a certificate, the content of its file, and that `verify` detects a change of any
byte.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from certified import certify, change, command, judge_otherwise, the_suites_have_only_what_ran, verify
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mqconform_process import mqconform, sut

from harness.errors import MqconformError
from harness.judging.verdicts import Verdict
from harness.results import bundle as bundles
from harness.results import installed
from harness.results.agreement import read_verdict_lines
from harness.results.bundle import InvalidCertificateFile, open_bundle, read_public_key, write_bundle
from harness.results.certificate import CertificateTerms, list_reasons_to_refuse_certificate
from harness.results.run_results import read_run
from harness.results.schemas import check_run_folder

pytestmark = pytest.mark.usefixtures("few_are_all")
CHANGES = 1_000
FEW = 3
"""The checks of the certified run; in these tests the suites have no other checks."""


@pytest.fixture
def folder(certifiable: Path, tmp_path: Path) -> Path:
    """Return a copy of the run folder, which the test changes."""
    return Path(shutil.copytree(certifiable, tmp_path / "run"))


def test_certificate_verifies_and_states_verdicts(folder: Path, signer: Path):
    path = certify(folder, signer)
    code, said = verify(path, signer)
    assert code == 0, said
    found = read_run(folder)
    passes = sum(one.verdict is Verdict.PASS for one in found.rules.values())
    assert f"rules: {passes} pass" in said
    assert "judged again: 3 captures" in said
    with zipfile.ZipFile(path) as packed:
        page, badge = (packed.read(name).decode() for name in ("certificate.html", "badge.svg"))
    assert f'<p class="result">{passes} rules kept</p>' in page
    assert "default-src 'none'" in page
    assert f"{passes} rules kept" in badge


def test_rule_about_receipt_passes_without_packet_of_system(
    tmp_path: Path, signer: Path, monkeypatch: pytest.MonkeyPatch
):
    """Packets could show MQMQ-2.2.20.8-02, but the reference sends no DebugHeader; only packets of the check itself
    have one.
    """
    only = ("--rule", "MQMQ-2.2.20.8-02", "-k", "any_unused_bit_of_debug_header")
    mqconform("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", *only)
    change(tmp_path / "run", selection="all")
    the_suites_have_only_what_ran(tmp_path / "run", monkeypatch)
    assert read_run(tmp_path / "run").rules["MQMQ-2.2.20.8-02"].verdict is Verdict.PASS
    path = certify(tmp_path / "run", signer, "--not-exercised", 50)
    code, said = verify(path, signer)
    assert code == 1
    assert (
        "the terms of the certificate allow 50 % of rules that were never exercised; `--not-exercised` here is 5"
        in said
    )
    code, said = verify(path, signer, options=("--not-exercised", 50))
    assert code == 0, said


def test_key_generated_by_openssl_can_sign(folder: Path, tmp_path: Path):
    for arguments in (
        ("genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key.pem"),
        ("pkey", "-in", tmp_path / "key.pem", "-pubout", "-out", tmp_path / "public.pem"),
    ):
        subprocess.run(["openssl", *map(str, arguments)], check=True)
    assert verify(certify(folder, tmp_path), tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"selection": "-k x"}, "the run is partial: only -k x"),
        ({"aborted": "interrupted"}, "the run is partial: interrupted"),
        ({"finished": None}, "the run is partial: the run has not finished"),
        (
            {"residue": [{"check": "a.py::t[x]", "what": "a queue"}]},
            "residue that checks left or found in the system (1): a queue (t[x]); remove the residue, then",
        ),
        ({"deaths": [{"check": "a.py::t", "how": "SIGABRT"}]}, "the system's process ended 1 times: SIGABRT in t; "),
        ({"schema": 1}, "the run has schema 1"),
        ({"baseline": {"stale": ["MQQB-2.2.1-01"]}}, "1 rules in the baseline no longer fail: MQQB-2.2.1-01"),
    ],
)
def test_run_with_too_few_verdicts_is_not_certified(folder: Path, signer: Path, changes: dict[str, Any], said: str):
    change(folder, **changes)
    code, output = command("certify", folder, "--key", signer / "key.pem", "--out", folder.parent / "x")
    assert code == 1
    assert f"not certified: {said}" in output
    assert not (folder.parent / "x").exists()


def test_partial_run_is_refused_before_key_is_read(folder: Path) -> None:
    change(folder, selection="-k x")
    code, output = command("certify", folder, "--key", folder / "none.pem", "--out", folder.parent / "x")
    assert (code, output.count("\n")) == (1, 1), output
    assert "not certified: the run is partial: only -k x" in output


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("fail", "1 rules fail, and are not in the baseline"),
        ("harness_error", "rules whose verdict is a bug in the harness (1)"),
        ("inconclusive", "rules whose verdict is inconclusive (1)"),
    ],
)
def test_unfinished_run_is_not_certified(folder: Path, verdict: str, said: str):
    rule = judge_otherwise(folder, verdict)
    assert list(
        list_reasons_to_refuse_certificate(
            read_run(folder), CertificateTerms(50, FEW), installed.get_installed_suites()
        )
    ) == [f"{said}: {rule}"]


def test_certificate_lists_known_deviation(folder: Path, signer: Path):
    rule = judge_otherwise(folder, "fail")
    change(folder, baseline={"expected": {rule: {"reason": "<b>since 1998</b>", "link": None}}, "stale": []})
    path = certify(folder, signer)
    assert verify(path, signer)[0] == 0
    with zipfile.ZipFile(path) as packed:
        page = packed.read("certificate.html").decode()
    assert "1 known deviation<" in page
    assert "&lt;b&gt;since 1998&lt;/b&gt;" in page


def test_too_few_checks_or_too_many_unexercised_rules_are_not_certified(folder: Path):
    found = read_run(folder)
    (said,) = list_reasons_to_refuse_certificate(found, CertificateTerms(50, FEW + 1), installed.get_installed_suites())
    assert said == f"{FEW} checks ran; a complete run has {FEW + 1}"
    path = folder / "verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pass"', '"not_exercised"'), encoding="utf-8")
    (said,) = list_reasons_to_refuse_certificate(
        read_run(folder), CertificateTerms(0, FEW), installed.get_installed_suites()
    )
    assert said == "100.0 % of the rules were never exercised; the limit is 0 %"


def test_change_of_any_certificate_byte_is_detected(folder: Path, signer: Path):
    """`verify` detects a change of any byte of the signed line, and of a thousand other bytes at fixed
    random places.
    """
    path = certify(folder, signer)
    whole, key = path.read_bytes(), read_public_key(signer / "public.pem")
    chance = random.Random(14)
    places = [chance.randrange(len(whole)) for _ in range(CHANGES)] + list(range(230))
    other = folder.parent / "changed"
    for number, place in enumerate(places):
        changed = bytearray(whole)
        changed[place] ^= chance.randrange(1, 256)
        other.write_bytes(changed)
        with pytest.raises(InvalidCertificateFile):
            open_bundle(other, key, folder.parent / f"unpacked-{number}")
        assert not (folder.parent / f"unpacked-{number}").exists()


def test_changed_letter_case_in_certificate_is_detected(folder: Path, signer: Path):
    path = certify(folder, signer)
    line, rest = path.read_bytes().split(b"\n", 1)
    magic, key, signature = line.rsplit(b" ", 2)
    for changed in (b" ".join((magic, key.upper(), signature)), b" ".join((magic, key, signature.upper()))):
        path.write_bytes(changed + b"\n" + rest)
        assert verify(path, signer)[0] == 1


@pytest.mark.parametrize("cut", [0, 10, 231, -1])
def test_truncated_certificate_fails_verification(folder: Path, signer: Path, cut: int):
    path = certify(folder, signer)
    path.write_bytes(path.read_bytes()[:cut])
    assert verify(path, signer)[0] == 1


def test_certificate_fails_verification_with_another_key(folder: Path, signer: Path):
    code, said = verify(certify(folder, signer), signer, "other-")
    assert code == 1
    assert "not with the given key" in said


@given(
    place=st.floats(0, 1), file=st.sampled_from(["run.json", "rules.json", "verdicts.jsonl"]), how=st.binary(max_size=9)
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_malformed_certificate_gives_one_line_error(certifiable: Path, place: float, file: str, how: bytes):
    """`verify` reads or refuses a certificate with arbitrary bytes anywhere in its file, and raises no exception."""
    with TemporaryDirectory() as name:
        inside = Path(name)
        for each in ("run.json", "rules.json", "verdicts.jsonl"):
            shutil.copy(certifiable / each, inside / each)
        data = (inside / file).read_bytes()
        at = int(place * len(data))
        (inside / file).write_bytes(data[:at] + how + data[at + len(how) :])
        try:
            check_run_folder(inside)
            found = read_run(inside)
            lines = list(read_verdict_lines(inside))
        except MqconformError as error:
            assert "\n" not in str(error)
            return
        assert len({line.rule for line in lines}) == len(found.rules)


def zipped(path: Path, signer: Path, names: dict[str, bytes]) -> str:
    """Sign a zip file with the given member names; return the output of `verify`."""
    content = path.parent / "content"
    files = []
    for number, (name, data) in enumerate(names.items()):
        source = content.with_name(f"content-{number}")
        source.write_bytes(data)
        files.append((name, source))
    write_bundle(path, files, bundles.read_private_key(signer / "key.pem", None))
    code, said = verify(path, signer)
    assert code == 1
    return said


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "a/../../evil", "..\\evil", "captures/../x", "a/b/c", ".hidden"]
)
def test_certificate_with_paths_outside_its_folder_is_refused(tmp_path: Path, signer: Path, name: str):
    assert "is not allowed, because it could lead out of the folder" in zipped(tmp_path / "x", signer, {name: b"x"})
    assert not (tmp_path.parent / "evil").exists()


def test_zip_bomb_is_refused_as_certificate(tmp_path: Path, signer: Path):
    said = zipped(tmp_path / "x", signer, {"verdicts.jsonl": bytes(50 * 2**20)})
    assert "is too large: its unpacked files have 52,428,800 bytes" in said


def test_file_that_is_no_zip_is_refused_as_certificate(tmp_path: Path, signer: Path):
    path = tmp_path / "x"
    write_bundle(path, [], bundles.read_private_key(signer / "key.pem", None))
    assert "certificate.json is missing" in verify(path, signer)[1]


def test_invalid_signing_key_gives_one_line_error_with_remedy(folder: Path, tmp_path: Path):
    (tmp_path / "text").write_bytes(b"not a key")
    said_of = {"nowhere": "cannot read the key: No such file", "text": "not a readable private key"}
    asked = [mqconform("certify", folder, "--key", tmp_path / name, "--out", tmp_path / "x") for name in said_of]
    for done, said in zip(asked, said_of.values(), strict=True):
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert said in line
