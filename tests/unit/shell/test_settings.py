"""The TOML file of ``mqconform serve``, and the options that override it."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from reference_qm.config import QueueManagerConfig, QueueSettings, TimerSettings
from reference_qm.directory.enums import OperatingSystemType
from reference_qm.shell.host import HostLimits
from reference_qm.shell.rpc_settings import RpcSettings
from reference_qm.shell.settings import ListenSettings, ServeSettings, SettingsError, format_endpoint, load_settings
from reference_qm.surface.entropy import SeededEntropy
from reference_qm.surface.inputs import Endpoint

ENTROPY = SeededEntropy("settings")
GUID = "6d71636f-6e66-4f72-8d00-000000000001"


def load(folder: Path, text: str, **flags: str | None) -> ServeSettings:
    path = folder / "qm.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {f"--{name.replace('_', '-')}": value for name, value in flags.items()}, ENTROPY)


def test_every_setting_of_serve_has_a_default():
    settings = load_settings(None, {"--address": None}, ENTROPY)
    assert settings.listen == ListenSettings("127.0.0.1", 1801, 3527, True)
    assert settings.control is None
    assert settings.limits == HostLimits()
    expected = QueueManagerConfig(identifier=settings.config.identifier, addresses=("127.0.0.1",))
    assert settings.config == expected
    assert settings.config.identifier.version == 4


def test_every_key_of_the_serve_settings_file_is_read(tmp_path: Path):
    settings = load(
        tmp_path,
        f"""
        queues = [{{ name = 'private$\\orders' }}, {{ name = 'PRIVATE$\\Tx', transactional = true }}]
        [queue_manager]
        identifier = "{GUID}"
        host_name = "contoso"
        operating_system = "WinClient"
        send_ping = true
        window_size = 8
        max_sessions = 3
        [listen]
        address = "127.0.0.2"
        tcp_port = 0
        ping_port = 4000
        ping = false
        [remote]
        tcp_port = 11801
        ping_port = 13527
        [rpc]
        port = 12103
        mapper = true
        [timers]
        scale = 20
        session_cleanup_ms = 1000
        [control]
        address = "[::1]:9000"
        [limits]
        connections = 10
        unsent_bytes = 1000
        [routes]
        "{GUID}" = "127.0.0.3"
        [public_queues]
        "{GUID}" = "{GUID}"
        """,
    )
    assert settings.listen == ListenSettings("127.0.0.2", 0, 4000, False)
    assert settings.control == Endpoint("::1", 9000)
    assert settings.limits == HostLimits(10, 1000)
    assert settings.rpc == RpcSettings(port=12103, mapper=True)
    config = settings.config
    assert config.identifier == UUID(GUID)
    assert (config.host_name, config.operating_system) == ("contoso", OperatingSystemType.WIN_CLIENT)
    assert (config.send_ping, config.window_size, config.max_sessions) == (True, 8, 3)
    assert config.addresses == ("127.0.0.2",)
    assert (config.remote_tcp_port, config.remote_ping_port) == (11801, 13527)
    assert config.timers == TimerSettings(scale=20, session_cleanup_ms=1000)
    assert config.queues == (QueueSettings("private$\\orders"), QueueSettings("PRIVATE$\\Tx", True))
    assert config.routes == {UUID(GUID): "127.0.0.3"}
    assert config.public_queues == {UUID(GUID): UUID(GUID)}


@pytest.mark.parametrize(
    ("text", "ports"),
    [
        ("", (2103, 2105)),
        ("[rpc]\nport = 3000", (3000, 3002)),
        ("[rpc]\nport = 0", (0, 0)),
        ("[rpc]\nread_port = 9", (2103, 9)),
    ],
)
def test_default_ports_of_remote_reading_are_two_apart(tmp_path: Path, text: str, ports: tuple):
    assert load(tmp_path, text).rpc.ports == ports


def test_flags_of_serve_override_its_settings_file(tmp_path: Path):
    settings = load(
        tmp_path,
        "[listen]\naddress = '127.0.0.2'\ntcp_port = 5\nping_port = 6",
        address="127.0.0.3",
        tcp_port="0",
        ping_port=None,
        control="127.0.0.1:7",
    )
    assert settings.listen == ListenSettings("127.0.0.3", 0, 6, True)
    assert settings.config.addresses == ("127.0.0.3",)
    assert settings.control == Endpoint("127.0.0.1", 7)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[listne]", "unknown table 'listne'; known: queue_manager, listen, rpc, remote, timers, control,"),
        ("[listen]\nprot = 1", "[listen]: unknown key 'prot'; known: address, tcp_port, ping_port, ping"),
        ("[listen]\ntcp_port = 65536", "[listen] tcp_port = 65536: must be an integer from 0 to 65535"),
        ("[listen]\ntcp_port = true", "[listen] tcp_port = True: must be an integer"),
        ("[listen]\ntcp_port = '1'", "[listen] tcp_port = '1': must be an integer"),
        ("[listen]\nping = 1", "[listen] ping = 1: must be true or false"),
        ("[listen]\naddress = 'localhost'", "[listen] address = 'localhost': must be an IPv4 or IPv6 address"),
        ("[listen]\naddress = '0.0.0.0'", "[listen] address = '0.0.0.0': must be a single address of this machine"),
        ("[remote]\ntcp_port = 0", "[remote] tcp_port = 0: must be an integer from 1 to 65535"),
        ("[control]\naddress = '127.0.0.1'", "[control] address = '127.0.0.1': must be ADDRESS:PORT"),
        ("[control]\naddress = 'host:80'", "[control] address = 'host:80': must be an IPv4 or IPv6 address"),
        ("[timers]\nscale = 0", "[timers] scale = 0: must be an integer from 1"),
        ("[queue_manager]\nidentifier = 'x'", "[queue_manager] identifier = 'x': must be a GUID"),
        (
            "[queue_manager]\noperating_system = 'OS2'",
            "must be one of Foreign, Win95, WinClient, WinServer, WinEnt, Other",
        ),
        ("queue_manager = 1", "[queue_manager] must be a table"),
        ("[[queues]]\ntransactional = true", "[[queues]] 1: name is missing"),
        ("[[queues]]\nname = 'a\\b'", "must be a path name such as 'private$\\orders', or 'orders' for a public queue"),
        ("[[queues]]\nname = 'private$\\'", "must be a path name such as 'private$\\orders'"),
        ("[[queues]]\nname = 'orders'", "[[queues]] name = 'orders': a public queue needs the table [directory]"),
        ("[[queues]]\nname = 'private$\\a'\n[[queues]]\nname = 'Private$\\A'", "[[queues]] 2: name = 'Private$\\\\A'"),
        ("[queues]\nname = 'private$\\a'", "queues must be a list of tables: write [[queues]]"),
        ("[routes]\nhere = '127.0.0.1'", "[routes] key = 'here': must be a GUID"),
        (f"[public_queues]\n{GUID} = 'there'", f"[public_queues] {GUID} = 'there': must be a GUID"),
        ("public_queues = 1", "[public_queues] must be a table of GUID = GUID of its queue manager"),
        (f"[routes]\n{GUID} = 'there'", f"[routes] {GUID} = 'there': must be an IPv4 or IPv6 address"),
        ("[limits]\nconnections = 4096", "[limits] connections = 4096 must be above [queue_manager] max_sessions"),
        ("[listen", "is not a TOML file: "),
    ],
)
def test_unusable_setting_of_serve_gives_one_line_error_with_remedy(tmp_path: Path, text: str, complaint: str):
    with pytest.raises(SettingsError) as error:
        load(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'qm.toml'}")
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(("port", "shown"), [("70000", "70000"), ("x", "'x'"), ("-1", "'-1'"), ("", "''")])
def test_error_of_invalid_serve_flag_names_the_flag(tmp_path: Path, port: str, shown: str):
    with pytest.raises(SettingsError, match=rf"^--tcp-port = {shown}: must be an integer from 0 to 65535$"):
        load(tmp_path, "", tcp_port=port)


def test_missing_settings_file_of_serve_is_named(tmp_path: Path):
    with pytest.raises(SettingsError, match=r"none\.toml cannot be read: No such file or directory"):
        load_settings(tmp_path / "none.toml", {}, ENTROPY)


def test_settings_file_of_serve_that_is_not_text_is_named(tmp_path: Path):
    (tmp_path / "qm.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(SettingsError, match=r"qm\.toml is not a TOML file"):
        load_settings(tmp_path / "qm.toml", {}, ENTROPY)


def test_printed_endpoints_equal_their_settings():
    assert format_endpoint(Endpoint("127.0.0.1", 1)) == "127.0.0.1:1"
    assert format_endpoint(Endpoint("::1", 1)) == "[::1]:1"
