"""A certificate: what keeps a run from having one, what its file holds, and that no byte of it can change unseen."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from mqconform_process import mqconform, sut
from typer import Typer
from typer.testing import CliRunner

from harness.cli.certificates import register
from harness.judging.verdicts import Verdict
from harness.proof.trials import VIRTUAL_SUT
from harness.results import bundle as bundles
from harness.results import certificate, verification
from harness.results.bundle import BadBundle, open_bundle, public_key, write_bundle
from harness.results.certificate import Terms, refusals
from harness.results.run_results import read_run

APP = Typer()
register(APP)
CHANGES = 1_000
FEW = 3
"""Checks of the run that is certified here: of it the suites have no more."""


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run three checks; the folder says that it is whole."""
    folder = tmp_path_factory.mktemp("tested")
    done = mqconform("run", "--sut", sut(folder), "--out", folder / "run", "--rule", "MQQB-2.2.1-03")
    assert done.returncode == 0, done.stdout
    change(folder / "run", selection="all")
    return folder / "run"


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with ``key.pem`` and ``public.pem``, and those of somebody else."""
    folder = tmp_path_factory.mktemp("keys")
    for prefix in ("", "other-"):
        key = Ed25519PrivateKey.generate()
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        (folder / f"{prefix}key.pem").write_bytes(pem)
        public = key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
        (folder / f"{prefix}public.pem").write_bytes(public)
    return folder


@pytest.fixture(autouse=True)
def few_are_all(monkeypatch: pytest.MonkeyPatch) -> None:
    a_whole_run_has(FEW, monkeypatch)


@pytest.fixture
def one_is_all(monkeypatch: pytest.MonkeyPatch, few_are_all: None) -> None:
    a_whole_run_has(1, monkeypatch)


def a_whole_run_has(checks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificate, "frozen_tests", lambda suites: checks)
    monkeypatch.setattr(verification, "frozen_tests", lambda suites: checks)


@pytest.fixture
def folder(tested: Path, tmp_path: Path) -> Path:
    """Return a copy of the run, to be changed."""
    shutil.copytree(tested, tmp_path / "run")
    return tmp_path / "run"


def change(folder: Path, **values: Any) -> None:
    path = folder / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def command(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(APP, [str(each) for each in arguments])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.exit_code, done.output


def certify(folder: Path, keys: Path, *options: object) -> Path:
    out = folder.parent / "contoso.mqcert"
    code, said = command("certify", folder, "--key", keys / "key.pem", "--out", out, *options)
    assert code == 0, said
    return out


def verify(path: Path, keys: Path, whose: str = "") -> tuple[int, str]:
    return command("verify", path, "--public-key", keys / f"{whose}public.pem")


def test_a_certificate_holds_and_says_what_was_found(folder: Path, keys: Path):
    path = certify(folder, keys)
    code, said = verify(path, keys)
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


@pytest.mark.usefixtures("one_is_all")
def test_a_rule_that_a_check_saw_kept_on_receipt_needs_no_packet_of_the_system(tmp_path: Path, keys: Path):
    """Packets may show MQMQ-2.2.20.8-02, but the reference sends no DebugHeader: only the check's own have one."""
    only = ("--rule", "MQMQ-2.2.20.8-02", "-k", "unused_bits_of_a_debug_header")
    mqconform("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", *only)
    change(tmp_path / "run", selection="all")
    assert read_run(tmp_path / "run").rules["MQMQ-2.2.20.8-02"].verdict is Verdict.PASS
    code, said = verify(certify(tmp_path / "run", keys, "--not-exercised", 50), keys)
    assert code == 0, said


def test_a_key_as_openssl_makes_it_signs(folder: Path, tmp_path: Path):
    for arguments in (
        ("genpkey", "-algorithm", "ed25519", "-out", tmp_path / "key.pem"),
        ("pkey", "-in", tmp_path / "key.pem", "-pubout", "-out", tmp_path / "public.pem"),
    ):
        subprocess.run(["openssl", *map(str, arguments)], check=True)
    assert verify(certify(folder, tmp_path), tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"selection": "-k x"}, "it is a part of a run: only -k x"),
        ({"aborted": "interrupted"}, "it is a part of a run: interrupted"),
        ({"finished": None}, "it is a part of a run: it has not ended"),
        ({"residue": [{"check": "a", "what": "b"}]}, "left behind or met something, 1 times"),
        ({"deaths": [{}]}, "the system's process ended, 1 times"),
        ({"schema": 1}, "it is of schema 1"),
        ({"baseline": {"stale": ["MQQB-2.2.1-01"]}}, "1 entries of the baseline fail no more: MQQB-2.2.1-01"),
    ],
)
def test_a_run_that_says_too_little_is_not_certified(folder: Path, keys: Path, changes: dict[str, Any], said: str):
    change(folder, **changes)
    code, output = command("certify", folder, "--key", keys / "key.pem", "--out", folder.parent / "x")
    assert code == 1
    assert f"not certified: {said}" in output
    assert not (folder.parent / "x").exists()


def judge_otherwise(folder: Path, verdict: str) -> str:
    """Let the last verdict be another; return its rule."""
    path = folder / "verdicts.jsonl"
    *lines, last = path.read_text(encoding="utf-8").splitlines()
    line = json.loads(last) | {"verdict": verdict, "seq": 9_999}
    path.write_text("\n".join([*lines, json.dumps(line)]) + "\n", encoding="utf-8")
    return str(line["rule"])


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("fail", "1 rules fail and are in no baseline"),
        ("harness_error", "1 rules: what was found is a mistake of the harness"),
        ("inconclusive", "1 rules: what was found is inconclusive"),
    ],
)
def test_a_run_with_an_open_end_is_not_certified(folder: Path, verdict: str, said: str):
    rule = judge_otherwise(folder, verdict)
    assert list(refusals(read_run(folder), Terms(50, FEW))) == [f"{said}: {rule}"]


def test_a_known_deviation_stands_on_the_certificate(folder: Path, keys: Path):
    rule = judge_otherwise(folder, "fail")
    change(folder, baseline={"expected": {rule: {"reason": "<b>since 1998</b>", "link": None}}, "stale": []})
    path = certify(folder, keys)
    assert verify(path, keys)[0] == 0
    with zipfile.ZipFile(path) as packed:
        page = packed.read("certificate.html").decode()
    assert "1 known deviation<" in page
    assert "&lt;b&gt;since 1998&lt;/b&gt;" in page


def test_too_few_checks_or_too_much_that_never_came_up_is_not_certified(folder: Path):
    found = read_run(folder)
    (said,) = refusals(found, Terms(50, FEW + 1))
    assert said == f"{FEW} checks ran; a whole run has {FEW + 1}"
    path = folder / "verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pass"', '"not_exercised"'), encoding="utf-8")
    (said,) = refusals(read_run(folder), Terms(0, FEW))
    assert said == "100.0 % of its rules were never exercised; at most 0 % may be"


def test_no_byte_changes_unseen(folder: Path, keys: Path):
    """A thousand places, chosen by chance that is always the same, and each byte of the line that is signed."""
    path = certify(folder, keys)
    whole, key = path.read_bytes(), public_key(keys / "public.pem")
    chance = random.Random(14)
    places = [chance.randrange(len(whole)) for _ in range(CHANGES)] + list(range(230))
    other = folder.parent / "changed"
    for number, place in enumerate(places):
        changed = bytearray(whole)
        changed[place] ^= chance.randrange(1, 256)
        other.write_bytes(changed)
        with pytest.raises(BadBundle):
            open_bundle(other, key, folder.parent / f"unpacked-{number}")
        assert not (folder.parent / f"unpacked-{number}").exists()


def test_the_case_of_a_letter_is_a_change_too(folder: Path, keys: Path):
    path = certify(folder, keys)
    line, rest = path.read_bytes().split(b"\n", 1)
    magic, key, signature = line.rsplit(b" ", 2)
    for changed in (b" ".join((magic, key.upper(), signature)), b" ".join((magic, key, signature.upper()))):
        path.write_bytes(changed + b"\n" + rest)
        assert verify(path, keys)[0] == 1


@pytest.mark.parametrize("cut", [0, 10, 231, -1])
def test_a_cut_file_does_not_hold(folder: Path, keys: Path, cut: int):
    path = certify(folder, keys)
    path.write_bytes(path.read_bytes()[:cut])
    assert verify(path, keys)[0] == 1


def test_the_key_of_somebody_else_does_not_fit(folder: Path, keys: Path):
    code, said = verify(certify(folder, keys), keys, "other-")
    assert code == 1
    assert "is signed with another key" in said


# -- a signer who is wrong, or lies ------------------------------------------------------------------------------------

Spoil = Callable[[Path], None]


def forged(folder: Path, keys: Path, spoil: Spoil) -> str:
    """Sign what was in a certificate, changed; return what verify says."""
    path = certify(folder, keys)
    inside = folder.parent / "inside"
    with zipfile.ZipFile(path) as packed:
        packed.extractall(inside)
    spoil(inside)
    files = [(str(one.relative_to(inside)), one) for one in sorted(inside.rglob("*")) if one.is_file()]
    write_bundle(path, files, bundles.private_key(keys / "key.pem", None))
    code, said = verify(path, keys)
    assert code == 1
    return said


def with_statement(inside: Path, alter: Callable[[dict[str, Any]], None]) -> None:
    path = inside / "certificate.json"
    tree = json.loads(path.read_text(encoding="utf-8"))
    alter(tree)
    path.write_text(certificate.written(tree), encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda inside: (inside / "certificate.json").unlink(), "certificate.json is missing"),
        (lambda inside: (inside / "certificate.json").write_text("[" * 99_999), "certificate.json: is broken"),
        (
            lambda inside: (inside / "verdicts.jsonl").write_text(""),
            "are not those that the certificate names: verdicts",
        ),
        (lambda inside: (inside / "evil.sh").write_text("x"), "are not those that the certificate names: evil.sh"),
        (
            lambda inside: (inside / "badge.svg").write_text("<svg/>"),
            "badge.svg does not show what the certificate says",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["rules"].update({"pass": 2_875})),
            "does not say what its run says: rules",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["terms"].update({"checks": 1})),
            "on terms of 1 checks; a whole run has 3",
        ),
        (
            lambda inside: with_statement(inside, lambda tree: tree["system"].update({"name": "Fabrikam"})),
            "does not say what its run says: system",
        ),
    ],
)
def test_who_signs_something_else_is_found_out(folder: Path, keys: Path, spoil: Spoil, said: str):
    assert said in forged(folder, keys, spoil)


@pytest.mark.usefixtures("one_is_all")
def test_a_failure_that_was_made_a_pass_is_found_in_the_capture(tmp_path: Path, keys: Path):
    faulty = VIRTUAL_SUT + '[reference]\nfaults = ["establish-response-timestamp"]\n'
    mqconform("run", "--sut", sut(tmp_path, faulty), "--out", tmp_path / "run", "--rule", "MQQB-2.2.2-01")
    change(tmp_path / "run", selection="all")
    assert "MQQB-3.1.5.3.1-10" in read_run(tmp_path / "run").failing
    path = tmp_path / "run/verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    code, said = verify(certify(tmp_path / "run", keys), keys)
    assert code == 1
    assert "breaks MQQB-3.1.5.3.1-10, which no verdict says: observed TimeStamp" in said


def zipped(path: Path, keys: Path, names: dict[str, bytes]) -> str:
    """Sign a zip file of these names; return what verify says."""
    content = path.parent / "content"
    files = []
    for number, (name, data) in enumerate(names.items()):
        source = content.with_name(f"content-{number}")
        source.write_bytes(data)
        files.append((name, source))
    write_bundle(path, files, bundles.private_key(keys / "key.pem", None))
    code, said = verify(path, keys)
    assert code == 1
    return said


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "a/../../evil", "..\\evil", "captures/../x", "a/b/c", ".hidden"]
)
def test_names_lead_nowhere_else(tmp_path: Path, keys: Path, name: str):
    assert "which may lead elsewhere" in zipped(tmp_path / "x", keys, {name: b"x"})
    assert not (tmp_path.parent / "evil").exists()


def test_a_bomb_is_not_unpacked(tmp_path: Path, keys: Path):
    said = zipped(tmp_path / "x", keys, {"verdicts.jsonl": bytes(50 * 2**20)})
    assert "unpacks to 52,428,800 bytes, more than is believed" in said


def test_what_is_no_zip_is_no_certificate(tmp_path: Path, keys: Path):
    path = tmp_path / "x"
    write_bundle(path, [], bundles.private_key(keys / "key.pem", None))
    assert "certificate.json is missing" in verify(path, keys)[1]


def test_a_bad_key_is_one_line_with_the_way_out(folder: Path, tmp_path: Path):
    (tmp_path / "text").write_bytes(b"not a key")
    said_of = {"nowhere": "cannot read the key: No such file", "text": "no private key that can be read"}
    asked = [mqconform("certify", folder, "--key", tmp_path / name, "--out", tmp_path / "x") for name in said_of]
    for done, said in zip(asked, said_of.values(), strict=True):
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert said in line
