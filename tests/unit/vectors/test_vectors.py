"""The test vectors: three readers agree on each vector, the files follow the schema, and a runner in JavaScript reads
them.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from itertools import combinations
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest

from harness.capture.recorder import Frame
from harness.cli.main import app
from harness.judging.passive import Context, load_predicates
from harness.paths import SUITES
from harness.rules.catalogue import load_catalogue
from harness.vectors.covering import PARAMETERS, list_property_combinations
from harness.vectors.packet_rows import VECTOR_LISTER_BY_PACKET_KIND
from harness.vectors.rpc_rows import OPERATIONS_WITH_VECTORS, STUB_ARGUMENTS_BY_METHOD, list_stubs
from harness.vectors.write import VECTOR_SCHEMA_FILE, make_vector_files
from harness.wire import WireError, dissect, dissect_ping, kind
from harness.wire.rpc_qm2qm import QM2QM_OPERATIONS
from reference_qm.codec import FormatError
from reference_qm.rpc import QM2QM, QMCOMM
from reference_qm.rpc.ndr import StubEncoding
from reference_qm.rpc.rpc_errors import PduError
from suites.mqmq.steps.layout import Layout

SILENCE_S = 120
SYNTAX = ("MQMQ-2.", "MQQB-2.")
"""The beginnings of ids of rules about the syntax of a packet. Rules of section 3 are omitted, because they also relate
values to a conversation.
"""
ROWS = [(kind_of, row) for kind_of, rows in VECTOR_LISTER_BY_PACKET_KIND.items() for row in rows()]
FILES = dict(make_vector_files())


@pytest.mark.parametrize("name", FILES)
def test_vector_file_is_valid_by_its_schema(name: str) -> None:
    jsonschema_rs.validator_for(json.loads(VECTOR_SCHEMA_FILE.read_text(encoding="utf-8"))).validate(FILES[name])
    names = [one["name"] for one in FILES[name]["vectors"]]
    assert len(names) == len(set(names))


def test_scapy_layers_refuse_vectors_that_the_codec_refuses() -> None:
    """The scapy layers refuse every vector that the codec refuses. `make_vector_files` has already compared the
    vectors with the strict codec.
    """
    for kind_of, row in ROWS:
        if row.result == "invalid":
            with pytest.raises(WireError):
                dissect_ping(row.data) if kind_of == "ping" else dissect(row.data)


def test_third_parser_reads_the_fields_of_each_message_vector() -> None:
    compared = 0
    for vector in FILES["user_message.json"]["vectors"]:
        if vector["result"] == "invalid":
            continue
        data = bytes.fromhex(vector["bytes"])
        layout = Layout(Frame(1, 0, "sut->peer", "tcp", data, "UserMessage"))
        assert layout.fields["bytes after the last header"] == 0, vector["name"]
        for field in vector["fields"]:
            name, value = field["name"], field["value"]
            if name in layout.fields and isinstance(value, int):
                compared += 1
                assert layout.fields[name] == value, (vector["name"], name)
    assert compared > 2_000


def test_valid_packets_break_no_passive_rule_and_the_others_break_those_that_they_name() -> None:
    predicates = {
        rule: one
        for rule, one in load_predicates().items()
        if rule.startswith(SYNTAX) and not one.binds_only_complete_system
    }
    for kind_of, row in ROWS:
        if kind_of == "ping" or row.name.startswith("golden"):
            continue
        broken = set(broken_rules(predicates, row.data))
        if row.result == "valid":
            assert broken == set(), row.name
        named = {rule for rule in row.rules if rule in predicates}
        if row.result == "invalid":
            assert named <= broken, (row.name, broken)


def broken_rules(predicates: Any, data: bytes) -> list[str]:
    """Return the passive rules that one packet breaks without other packets."""
    try:
        name = kind(data)
    except WireError:
        name = "malformed"
    frame = Frame(1, 0, "sut->peer", "tcp", data, name)
    try:
        record = frame.record
    except FormatError as error:
        record = error
        frame.error = error
    findings = {
        rule: one.predicate(record, Context(frame, None)) for rule, one in predicates.items() if name in one.kinds
    }
    return [rule for rule, finding in findings.items() if isinstance(finding, tuple) and not finding[0]]


@pytest.mark.parametrize("operation", STUB_ARGUMENTS_BY_METHOD)
def test_reference_reads_the_rpc_stub_vectors_as_stated(operation: str) -> None:
    known = OPERATIONS_WITH_VECTORS[operation]
    methods = (QM2QM if operation in QM2QM_OPERATIONS else QMCOMM).methods
    method = methods[known.opnum]
    for row in list_stubs(operation):
        encoding = StubEncoding("ndr64" in row.name, "<")
        vector = next(one for one in FILES[f"rpc_{operation}.json"]["vectors"] if one["name"] == row.name)
        request = row.name.startswith("request")
        if row.result == "invalid":
            with pytest.raises((FormatError, PduError)):
                method.read_in_parameters(row.data, encoding) if request else method.read_out_parameters(
                    row.data, encoding, {}
                )
            continue
        read = (
            method.read_in_parameters(row.data, encoding)
            if request
            else method.read_out_parameters(row.data, encoding, {})
        )
        numbers = {one["name"]: one["value"] for one in vector["fields"] if isinstance(one["value"], int)}
        flat = dict(flatten(read, ""))
        assert {name: flat[name] for name in numbers if name in flat} == {
            name: value for name, value in numbers.items() if name in flat
        }
        assert {name for name in flat if isinstance(flat[name], int)} <= {*numbers, *UNION_PARTS}


UNION_PARTS = ("pQueueFormat.union.Uniquifier",)
"""Numbers that the scapy layers keep as the bytes of a union's arm."""


def flatten(value: Any, prefix: str) -> Any:
    """Yield the values of nested parameters, each with its dotted name."""
    for name, one in value.items():
        if isinstance(one, dict):
            yield from flatten(one, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", one


def test_each_rule_and_erratum_named_by_a_vector_exists() -> None:
    catalogue = load_catalogue()
    for _, row in ROWS:
        assert set(row.rules) <= set(catalogue), row.name
        assert set(row.errata) <= set(catalogue.errata), row.name


def test_vectors_cover_each_possible_pair_of_values() -> None:
    rows = list(list_property_combinations())
    for first, second in combinations(PARAMETERS, 2):
        wanted = {(one, other) for one in PARAMETERS[first] for other in PARAMETERS[second]}
        covered = {(row[first], row[second]) for row in rows}
        assert wanted == covered, (first, second)
    assert len(rows) < 60


def test_vectors_command_writes_the_vector_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    app(["vectors", "--out", str(tmp_path / "out")], standalone_mode=False)
    assert {one.name for one in (tmp_path / "out").iterdir()} == {*FILES, VECTOR_SCHEMA_FILE.name}
    total = sum(len(one["vectors"]) for one in FILES.values())
    assert f"{total:,} vectors in {len(FILES)} files" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_example_vector_runner_reads_all_packets(tmp_path: Path) -> None:
    app(["vectors", "--out", str(tmp_path / "out")], standalone_mode=False)
    runner = SUITES.parent / "examples" / "vectors" / "run.mjs"
    done = subprocess.run(
        ["node", str(runner), str(tmp_path / "out")], capture_output=True, text=True, timeout=SILENCE_S, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip().endswith("0 differ")
