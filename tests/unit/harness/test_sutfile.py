"""SUT files: the permitted content, and the one-line message for each mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.sut.sut_file import CAPABILITIES, load_sut_file, parse_sut_file

GOOD = {"sut": {"name": "contoso-qm"}, "driver": {"kind": "external"}}


def test_omitted_keys_of_the_sut_file_have_documented_defaults() -> None:
    file = parse_sut_file(GOOD)
    assert (file.driver.address, file.driver.tcp_port, file.driver.ping_port, file.driver.rpc_port) == (
        "127.0.0.1",
        1801,
        3527,
        2103,
    )
    assert file.driver.peer_address == "127.0.0.2"
    assert file.queues.plain == "private$\\mqc-plain"
    assert file.control.kind == "none"
    assert dict(file.capabilities) == {}


def test_full_sut_file_is_accepted(tmp_path: Path) -> None:
    path = tmp_path / "sut.toml"
    path.write_text(
        r"""
[sut]
name = "contoso-qm"
vendor = "Contoso"
version = "0.1"
profile = "none"
[driver]
kind = "external"
address = "127.0.0.1"
tcp_port = 1801
ping_port = 3527
rpc_port = 2103
peer_address = "127.0.0.2"
peer_tcp_port = 1801
command = []
[queues]
plain = "private$\\mqc-plain"
transactional = "private$\\mqc-tx"
admin = "private$\\mqc-admin"
[control]
kind = "none"
address = "127.0.0.1:0"
[capabilities]
ping = true
""",
        encoding="utf-8",
    )
    file = load_sut_file(path)
    assert file.sut.vendor == "Contoso"
    assert file.capabilities["ping"] is True


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sutt": {}}, ["[sutt]", "known: "]),
        ({"driver": {"kind": "external", "tcp_prot": 1}}, ["driver.tcp_prot", "tcp_port"]),
        ({"driver": {"kind": "carrier pigeon"}}, ["driver.kind", "carrier pigeon", "virtual, process, external"]),
        ({"driver": {"kind": "external", "tcp_port": "1801"}}, ["driver.tcp_port", "int"]),
        ({"driver": {"kind": "external", "tcp_port": True}}, ["driver.tcp_port", "int"]),
        ({"driver": {"kind": "external", "tcp_port": 70_000}}, ["driver.tcp_port", "65535"]),
        ({"driver": {"kind": "external", "address": "192.0.2.1"}}, ["192.0.2.1", "allow_remote = true"]),
        ({"driver": {"kind": "external", "peer_identifier": "x"}}, ["peer_identifier", "GUID"]),
        ({"driver": {"kind": "process"}}, ["driver.command"]),
        ({"driver": {"kind": "process", "command": "qm"}}, ["driver.command", "list"]),
        ({"sut": {}}, ["sut.name", "missing"]),
        ({"capabilities": {"teleport": True}}, ["teleport", *CAPABILITIES]),
        ({"capabilities": {"ping": "yes"}}, ["capabilities.ping", "true or false"]),
    ],
)
def test_invalid_key_of_the_sut_file_gives_one_line_error_with_remedy(
    change: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(UsageError) as caught:
        parse_sut_file(GOOD | change)
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_missing_or_broken_sut_file_gives_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_sut_file(tmp_path / "none.toml")
    (tmp_path / "broken.toml").write_text("[sut", encoding="utf-8")
    with pytest.raises(UsageError, match="not a TOML file"):
        load_sut_file(tmp_path / "broken.toml")


def test_remote_address_is_accepted_with_explicit_permission() -> None:
    driver = {"kind": "external", "address": "192.0.2.1", "allow_remote": True}
    assert parse_sut_file(GOOD | {"driver": driver}).driver.address == "192.0.2.1"


def test_old_table_name_in_sut_file_is_accepted_only_without_the_new_name() -> None:
    former = {"sut": GOOD["sut"], "reach": {"kind": "external", "tcp_port": 1802}}
    assert parse_sut_file(former).driver.tcp_port == 1802
    with pytest.raises(UsageError, match=r"\[reach\] is the former name of \[driver\], and both are present"):
        parse_sut_file(GOOD | former)
