"""A certificate: what keeps a run from having one, what its file holds, and that no byte of it can change unseen."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import zipfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jinja2 import UndefinedError
from mqconform_process import mqconform, sut
from typer import Typer
from typer.testing import CliRunner

from harness.cli.certificates import register
from harness.errors import MqconformError
from harness.judging.verdicts import Verdict
from harness.proof.trials import VIRTUAL_SUT
from harness.results import bundle as bundles
from harness.results import certificate, installed, verification
from harness.results.agreement import lines_of
from harness.results.bundle import BadBundle, open_bundle, public_key, write_bundle
from harness.results.certificate import BADGE_FILE, CERTIFICATE_FILE, PAGE_FILE, Terms, refusals
from harness.results.certificate_page import badge, page
from harness.results.installed import installed_suites
from harness.results.run_results import read_run
from harness.results.schemas import check_run_folder

APP = Typer()
register(APP)
CHANGES = 1_000
MADE = (CERTIFICATE_FILE, PAGE_FILE, BADGE_FILE)
FEW = 3
"""Checks of the run that is certified here: of it the suites have no more."""


@pytest.fixture(scope="module")
def tested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run three checks; the folder says that it is whole."""
    folder = tmp_path_factory.mktemp("tested")
    done = mqconform("run", "--sut", sut(folder), "--out", folder / "run", "--rule", "MQQB-2.2.1-03")
    assert done.returncode == 0, done.stdout
    change(folder / "run", selection="all")
    leave_out_advice(folder / "run")
    return folder / "run"


def leave_out_advice(folder: Path) -> None:
    """Remove the lines about rules of which nothing but advice was seen: their own checks did not run."""
    path = folder / "verdicts.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    path.write_text("".join(line for line in lines if '"advice":' not in line), encoding="utf-8")


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
def few_are_all(monkeypatch: pytest.MonkeyPatch, tested: Path) -> None:
    the_suites_have_only_what_ran(tested, monkeypatch)


def the_suites_have_only_what_ran(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the installed suites have the checks of a run and no others."""
    tests = read_run(folder).checks
    checks = {test.partition("[")[0] for test in tests}
    whole = installed_suites()
    driving = {rule: found for rule, those in whole.driving.items() if (found := those & checks)}
    few = replace(whole, checks=len(tests), driving=driving)
    for module in (installed, verification):
        monkeypatch.setattr(module, "installed_suites", lambda: few)


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


def verify(path: Path, keys: Path, whose: str = "", options: Sequence[object] = ()) -> tuple[int, str]:
    return command("verify", path, "--public-key", keys / f"{whose}public.pem", *options)


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


def test_a_rule_that_a_check_saw_kept_on_receipt_needs_no_packet_of_the_system(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
):
    """Packets may show MQMQ-2.2.20.8-02, but the reference sends no DebugHeader: only the check's own have one."""
    only = ("--rule", "MQMQ-2.2.20.8-02", "-k", "unused_bits_of_a_debug_header")
    mqconform("run", "--sut", sut(tmp_path), "--out", tmp_path / "run", *only)
    change(tmp_path / "run", selection="all")
    the_suites_have_only_what_ran(tmp_path / "run", monkeypatch)
    assert read_run(tmp_path / "run").rules["MQMQ-2.2.20.8-02"].verdict is Verdict.PASS
    path = certify(tmp_path / "run", keys, "--not-exercised", 50)
    code, said = verify(path, keys)
    assert code == 1
    assert "on terms of up to 50 % of rules that were never exercised; `--not-exercised` here is 5" in said
    code, said = verify(path, keys, options=("--not-exercised", 50))
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
        (
            {"residue": [{"check": "a.py::t[x]", "what": "a queue"}]},
            "1 times a check left something behind or met it: a queue (t[x]); take it away where it still is, then",
        ),
        ({"deaths": [{"check": "a.py::t", "how": "SIGABRT"}]}, "the system's process ended 1 times: SIGABRT in t; "),
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


def test_a_part_of_a_run_is_refused_before_the_key_is_looked_for(folder: Path) -> None:
    change(folder, selection="-k x")
    code, output = command("certify", folder, "--key", folder / "none.pem", "--out", folder.parent / "x")
    assert (code, output.count("\n")) == (1, 1), output
    assert "not certified: it is a part of a run: only -k x" in output


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
    assert list(refusals(read_run(folder), Terms(50, FEW), installed.installed_suites())) == [f"{said}: {rule}"]


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
    (said,) = refusals(found, Terms(50, FEW + 1), installed.installed_suites())
    assert said == f"{FEW} checks ran; a whole run has {FEW + 1}"
    path = folder / "verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"pass"', '"not_exercised"'), encoding="utf-8")
    (said,) = refusals(read_run(folder), Terms(0, FEW), installed.installed_suites())
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


def forged(folder: Path, keys: Path, spoil: Spoil, expected: int = 1) -> str:
    """Sign what was in a certificate, changed; return what verify says."""
    path = certify(folder, keys)
    inside = folder.parent / "inside"
    with zipfile.ZipFile(path) as packed:
        packed.extractall(inside)
    spoil(inside)
    files = [(str(one.relative_to(inside)), one) for one in sorted(inside.rglob("*")) if one.is_file()]
    write_bundle(path, files, bundles.private_key(keys / "key.pem", None))
    code, said = verify(path, keys)
    assert code == expected
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
        (lambda inside: (inside / "certificate.json").write_text("[" * 999_999), "certificate.json: is broken"),
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


def test_a_failure_that_was_made_a_pass_is_found_in_the_capture(
    tmp_path: Path, keys: Path, monkeypatch: pytest.MonkeyPatch
):
    faulty = VIRTUAL_SUT + '[reference]\nfaults = ["establish-response-timestamp"]\n'
    mqconform("run", "--sut", sut(tmp_path, faulty), "--out", tmp_path / "run", "--rule", "MQQB-2.2.2-01")
    change(tmp_path / "run", selection="all")
    leave_out_advice(tmp_path / "run")
    the_suites_have_only_what_ran(tmp_path / "run", monkeypatch)
    assert "MQQB-3.1.5.3.1-10" in read_run(tmp_path / "run").failing
    path = tmp_path / "run/verdicts.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace('"fail"', '"pass"'), encoding="utf-8")
    code, said = verify(certify(tmp_path / "run", keys), keys)
    assert code == 1
    assert "breaks MQQB-3.1.5.3.1-10, which no verdict says: observed TimeStamp" in said


def in_run(**values: Any) -> Callable[[Path], None]:
    return lambda inside: change(inside, **values)


def in_system(**values: Any) -> Callable[[Path], None]:
    def alter(inside: Path) -> None:
        change(inside, sut=json.loads((inside / "run.json").read_text(encoding="utf-8"))["sut"] | values)

    return alter


def in_lines(alter: Callable[[list[dict[str, Any]]], Iterable[dict[str, Any]]]) -> Callable[[Path], None]:
    def write(inside: Path) -> None:
        path = inside / "verdicts.jsonl"
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(line) + "\n" for line in alter(lines)), encoding="utf-8")

    return write


def of_rule(rule: str, **values: Any) -> Callable[[Path], None]:
    return in_lines(lambda lines: [line | values if line["rule"] == rule else line for line in lines])


def another(**values: Any) -> Callable[[Path], None]:
    return in_lines(lambda lines: [*lines, lines[-1] | {"seq": lines[-1]["seq"] + 1} | values])


def without(*keys: str) -> Callable[[Path], None]:
    return in_lines(lambda lines: [*lines[:-1], {key: lines[-1][key] for key in lines[-1].keys() - set(keys)}])


def remove_captures(inside: Path) -> None:
    for path in sorted((inside / "captures").iterdir())[1:]:
        path.unlink()


def swap_captures(inside: Path) -> None:
    """Have the packets of one check be said to be those of another."""
    first, second, *_ = sorted((inside / "captures").iterdir())
    second.write_bytes(first.read_bytes())


def let_must_be_may(inside: Path) -> None:
    path = inside / "rules.json"
    path.write_text(path.read_text(encoding="utf-8").replace('"MUST"', '"MAY"'), encoding="utf-8")


REFUSED: dict[str, tuple[Callable[[Path], None], str]] = {
    "unknown profile": (in_system(profile="windows-3.11"), "its profile 'windows-3.11' is none that is known"),
    "profile of another type": (in_system(profile=["a"]), 'profile: ["a"] is not of type "string"'),
    "no profile": (in_system(profile=None), 'profile: null is not of type "string"'),
    "capabilities null": (in_run(capabilities=None), 'capabilities: null is not of type "object"'),
    "end before the start": (in_run(finished="2019-01-01T00:00:00Z"), "which cannot be"),
    "the future": (in_run(started="2131-01-01T00:00:00Z", finished="2131-01-01T00:00:00Z"), "which cannot be"),
    "times of another run": (
        in_run(reach="process", queue_managers=["0" * 8 + "-0000" * 3 + "-" + "0" * 12]),
        "which is not within the run",
    ),
    "nobody's captures": (
        in_run(reach="virtual", sut={**dict.fromkeys(("name", "vendor", "version"), "x")}),
        "profile",
    ),
    "captures removed": (remove_captures, "which is missing"),
    "captures of another check": (swap_captures, "which is not of this run"),
    "a rule left out": (
        in_lines(lambda lines: [line for line in lines if line["rule"] != "MQQB-2.2.1-03"]),
        "1 rules have checks and no verdict: MQQB-2.2.1-03",
    ),
    "a check left out": (
        in_lines(lambda lines: [line for line in lines if line.get("test") != lines[0]["test"]]),
        "checks ran; a whole run has 3",
    ),
    "a rule invented": (another(rule="MQQB-9.9.9-99"), "MQQB-9.9.9-99 has a verdict and is no rule"),
    "a verdict by no check": (without("test", "evidence"), "pass by no check"),
    "a verdict by another check": (
        another(rule="MQQB-3.1.5.8.1-01"),
        "which does not judge it",
    ),
    "a line put in": (another(seq=1), "seq is 1 after"),
    "a frame that is not there": (another(evidence=[[99_999]]), "verdicts name frame 99999 of"),
    "a pass without a packet": (of_rule("MQQB-2.2.1-03", evidence=[]), "without a packet"),
    "the capture of another check": (another(capture="captures/x.pcapng"), "captures/x.pcapng is no capture of"),
    "another rule set in run.json": (in_run(suites="0" * 64), "cannot be judged here: its suites is"),
    "another harness": (in_run(harness="9.9"), "cannot be judged here: its harness is"),
    "levels": (let_must_be_may, "rules.json is not the rule set that certificate.json names"),
    "verdicts of nothing": (
        in_lines(lambda lines: [line | {"verdict": "not_exercised"} for line in lines]),
        "100.0 % of its rules were never exercised",
    ),
    "a residue that is a number": (in_run(residue=3), 'run.json: residue: 3 is not of type "array"'),
    "a baseline that is a number": (in_run(baseline={"stale": 3}), "run.json: baseline"),
    "a deviation that is text": (in_run(baseline={"expected": {"MQQB-2.2.1-03": "x"}}), '"x" is not of type "object"'),
    "a deviation without link": (
        in_run(baseline={"expected": {"MQQB-2.2.1-03": {"reason": "x"}}}),
        '"link" is a required property',
    ),
    "another verdict": (of_rule("MQQB-2.2.1-03", verdict="maybe"), "verdict cannot be 'maybe'"),
    "a check that is a number": (of_rule("MQQB-2.2.1-03", test=5), "test cannot be '5'"),
    "a number without end": (
        lambda inside: (inside / "verdicts.jsonl").write_text('{"schema": 2, "seq": 1e400}\n', encoding="utf-8"),
        "1e400 is too large a number",
    ),
    "lists in lists": (
        lambda inside: (inside / "verdicts.jsonl").write_text("[" * 100_000 + "\n", encoding="utf-8"),
        "verdicts.jsonl:1: maximum recursion depth",
    ),
    "no text": (lambda inside: (inside / "verdicts.jsonl").write_bytes(b"\xff\n"), "verdicts.jsonl:1: 'utf-8'"),
}
"""What a signer may change in a run folder, with what `verify` says of it."""


@pytest.mark.parametrize("name", REFUSED)
def test_a_lie_of_the_signer_is_refused(folder: Path, keys: Path, name: str):
    alter, said = REFUSED[name]
    path = certify(folder, keys)
    inside = folder.parent / "inside"
    with zipfile.ZipFile(path) as packed:
        packed.extractall(inside)
    old = json.loads((inside / "certificate.json").read_text(encoding="utf-8"))
    alter(inside)
    sign_as_a_certifier(inside, keys, old, path)
    code, output = verify(path, keys)
    assert said in output
    assert code == (3 if said.startswith("cannot be judged here") else 1)


def sign_as_a_certifier(inside: Path, keys: Path, old: dict[str, Any], path: Path) -> None:
    """Say of a changed run folder what `certify` would, as far as it can be read, so that all of it agrees; sign it."""
    try:
        found = read_run(inside)
        said = certificate.statement(found, Terms(**old["terms"]), {})
    except (MqconformError, ValueError, TypeError, AttributeError, RecursionError):
        said = old | {"files": {}}
    names = [name for name in ("run.json", "rules.json", "verdicts.jsonl") if (inside / name).is_file()]
    names += [f"captures/{each.name}" for each in sorted((inside / "captures").iterdir())]
    said["files"] = {name: bundles.member_of(inside / name)._asdict() for name in names}
    key = bundles.private_key(keys / "key.pem", None)
    (inside / "certificate.json").write_text(certificate.written(said), encoding="utf-8")
    for name, show in (
        ("certificate.html", lambda: page(said, key.public_key().public_bytes_raw().hex())),
        ("badge.svg", lambda: badge(said)),
    ):
        with suppress(UndefinedError, TypeError):
            (inside / name).write_text(show(), encoding="utf-8")
    write_bundle(path, [(one, inside / one) for one in (*MADE, *names)], key)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        ("NaN", "NaN is no number"),
        ("1e400", "1e400 is too large"),
        ("100", "`--not-exercised` here is 5"),
        ("-1", "-1"),
    ],
)
def test_a_threshold_is_a_number_that_the_verifier_accepts(folder: Path, keys: Path, number: str, said: str):
    def spoil(inside: Path) -> None:
        path = inside / "certificate.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace('"not_exercised_percent": 5.0', f'"not_exercised_percent": {number}'), "utf-8")

    assert said in forged(folder, keys, spoil)


def test_what_stays_the_word_of_the_signer_is_printed(folder: Path, keys: Path):
    """The name of a system, what it was declared not to have, and the driven rules that no packet of it shows."""
    rule = judge_otherwise(folder, "fail")
    change(folder, baseline={"expected": {rule: {"reason": "since 1998", "link": None}}, "stale": []})
    in_system(name="Windows Server 2025 MSMQ", profile="windows-server-2022")(folder)
    code, said = verify(certify(folder, keys), keys)
    assert code == 0, said
    lines = said.splitlines()
    assert lines[0] == "declared: reach virtual: no system was reached; the reference ran in the tester's process"
    assert "declared: not_applicable: 0 rules" in lines
    assert "declared: terms: 3 checks; 0 % not exercised of at most 5 %" in lines
    assert f"  {rule}: 'since 1998'" in lines
    assert any(line.startswith("the signer's word: name, vendor and version") for line in lines)
    assert any("the signer's word:" in line and " rules" in line for line in lines)


@given(
    place=st.floats(0, 1), file=st.sampled_from(["run.json", "rules.json", "verdicts.jsonl"]), how=st.binary(max_size=9)
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_malformed_file_is_a_line_and_no_traceback(tested: Path, place: float, file: str, how: bytes):
    """Whatever bytes stand anywhere in a file of the bundle, `verify` reads it or refuses it."""
    with TemporaryDirectory() as name:
        inside = Path(name)
        for each in ("run.json", "rules.json", "verdicts.jsonl"):
            shutil.copy(tested / each, inside / each)
        data = (inside / file).read_bytes()
        at = int(place * len(data))
        (inside / file).write_bytes(data[:at] + how + data[at + len(how) :])
        try:
            check_run_folder(inside)
            found = read_run(inside)
            lines = list(lines_of(inside))
        except MqconformError as error:
            assert "\n" not in str(error)
            return
        assert len({line.rule for line in lines}) == len(found.rules)


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
