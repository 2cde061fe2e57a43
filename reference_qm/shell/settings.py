"""Reads the TOML file of ``mqconform serve``, and the flags that override its values."""

from __future__ import annotations

import ipaddress
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar
from uuid import UUID

from reference_qm.config import QueueManagerConfig, QueueSettings, TimerSettings
from reference_qm.directory import MemoryDirectory
from reference_qm.directory.enums import OperatingSystemType
from reference_qm.releases.names import KNOWN_RELEASES, NO_RELEASE
from reference_qm.releases.table import adapt_security_to_release, get_config_presets
from reference_qm.shell import toml_values as toml
from reference_qm.shell.directory_settings import load_directory
from reference_qm.shell.host import HostLimits
from reference_qm.shell.rpc_settings import RPC_TABLE_CONVERTERS, RpcSettings, load_rpc_settings
from reference_qm.shell.security_settings import QUEUE_SECURITY_CONVERTERS, load_security_settings, take_queue_security
from reference_qm.shell.toml_values import ConverterByKey, SettingsError
from reference_qm.surface.entropy import Entropy, generate_guid
from reference_qm.surface.inputs import Endpoint

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class ListenSettings:
    """The table [listen], which contains the addresses and ports of the queue manager. Port 0 selects a free port."""

    address: str = "127.0.0.1"
    tcp_port: int = 1801
    ping_port: int = 3527
    ping: bool = True


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The settings of ``mqconform serve``."""

    config: QueueManagerConfig
    listen: ListenSettings
    control: Endpoint | None
    limits: HostLimits
    rpc: RpcSettings = field(default_factory=RpcSettings)
    store: Path | None = None
    """The file that keeps messages when the process ends, or None if messages are lost when the process ends."""
    has_identifier: bool = False
    """Whether the settings contain the identifier of the queue manager. If not, the identifier is generated or read
    from the store.
    """
    directory: MemoryDirectory | None = None
    """The directory of the enterprise, or None for workgroup mode."""
    release: str = NO_RELEASE
    """The release of Windows whose behavior the queue manager has."""


def load_settings(path: Path | None, flags: Mapping[str, str | None], entropy: Entropy) -> ServeSettings:
    """Read the TOML file, if one is given, and override its values with the command-line flags that are not None.
    Convert a flag value that consists only of digits to a number.
    """
    tree = _read_file(path) if path is not None else {}
    where = str(path or "defaults")
    toml.check_keys(
        tree, [*_CONVERTERS_BY_TABLE, "queues", "routes", "public_queues", "directory", "security"], where, "table"
    )
    rpc_users = tree["rpc"].pop("users", []) if isinstance(tree.get("rpc"), dict) else []
    values = {
        name: toml.convert_table(tree.get(name, {}), known, f"{where}: [{name}]")
        for name, known in _CONVERTERS_BY_TABLE.items()
    }
    for flag, value in flags.items():
        if value is not None:
            table, key = TABLE_AND_KEY_BY_FLAG[flag]
            meant = int(value) if value.isascii() and value.isdigit() else value
            values[table][key] = toml.convert_value(meant, _CONVERTERS_BY_TABLE[table][key], flag)
    listen = ListenSettings(**values["listen"])
    rpc = load_rpc_settings(values["rpc"], rpc_users, where, path.parent if path else Path())
    release = values["queue_manager"].pop("release", NO_RELEASE)
    presets = get_config_presets(release)
    if "ping" in values["listen"]:  # enabled explicitly
        presets.pop("answer_pings", None)
    identifier = values["queue_manager"].get("identifier")
    directory = load_directory(tree.get("directory"), where, identifier, entropy)
    for name in ("routes", "public_queues"):
        if directory is not None and name in tree:
            raise SettingsError(f"{where}: [{name}] is only for a workgroup: remove it, or remove [directory]")
    security = load_security_settings(tree.get("security", {}), where, path.parent if path else Path(), entropy)
    config = QueueManagerConfig(
        **{"identifier": generate_guid(entropy), **presets, **values["queue_manager"]},
        addresses=(listen.address,),
        timers=TimerSettings(**values["timers"]),
        queues=_read_queues(tree.get("queues", []), where),
        directory_integrated=directory is not None,
        routes=_read_table_by_guid(tree, "routes", "address", _convert_ip_address, where),
        public_queues=_read_table_by_guid(tree, "public_queues", "GUID of its queue manager", toml.convert_guid, where),
        security=adapt_security_to_release(release, security),
        rpc_server=rpc.server,
        rpc_client=rpc.client,
        **{f"remote_{key}": port for key, port in values["remote"].items()},
    )
    for queue in config.queues:
        if directory is None and not queue.is_private:
            raise SettingsError(
                f"{where}: [[queues]] name = {queue.name!r}: a public queue needs the table [directory]"
            )
    limits = HostLimits(**values["limits"])
    if limits.connections <= config.max_sessions:
        raise SettingsError(
            f"{where}: [limits] connections = {limits.connections} must be above [queue_manager] max_sessions = "
            f"{config.max_sessions}: refusing a session needs a further connection"
        )
    identified = identifier is not None
    control, store = values["control"].get("address"), values["store"].get("path")
    return ServeSettings(config, listen, control, limits, rpc, store, identified, directory, release)


def format_endpoint(endpoint: Endpoint) -> str:
    """Return ``host:port`` or ``[host]:port``."""
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.port}"


# -- converters: each takes a value of the file, and returns the setting or raises ValueError -------------------


def _convert_operating_system(value: object) -> OperatingSystemType:
    try:
        return OperatingSystemType(value)
    except ValueError:
        raise ValueError(f"must be one of {', '.join(kind.value for kind in OperatingSystemType)}") from None


def _convert_release(value: object) -> str:
    name = toml.require_string(value)
    if name not in KNOWN_RELEASES:
        raise ValueError(f"must be one of {', '.join(KNOWN_RELEASES)}")
    return name


def _convert_ip_address(value: object) -> str:
    try:
        address = ipaddress.ip_address(toml.require_string(value))
    except ValueError:
        raise ValueError("must be an IPv4 or IPv6 address like 127.0.0.1") from None
    return str(address)


def _convert_own_address(value: object) -> str:
    address = _convert_ip_address(value)
    if ipaddress.ip_address(address).is_unspecified:
        raise ValueError(
            "must be a single address of this machine, because direct format names of the queue manager contain it"
        )
    return address


def _convert_endpoint(value: object) -> Endpoint:
    host, colon, port = toml.require_string(value).rpartition(":")
    if not colon or not (port.isascii() and port.isdigit()):
        raise ValueError("must be ADDRESS:PORT like 127.0.0.1:0")
    if int(port) > 0xFFFF:
        raise ValueError(f"the port is {port}; it must be 0 to 65535")
    return Endpoint(_convert_ip_address(host.removeprefix("[").removesuffix("]")), int(port))


def _convert_path(value: object) -> Path:
    return Path(toml.require_string(value))


def _convert_queue_name(value: object) -> str:
    name = toml.require_string(value)
    folder, separator, queue = name.rpartition("\\")
    if folder.lower() not in ("", "private$") or bool(folder) is not bool(separator) or not queue:
        raise ValueError("must be a path name such as 'private$\\orders', or 'orders' for a public queue")
    return name


_PORT_CONVERTER = toml.make_integer_converter(1, 0xFFFF)
_LISTEN_PORT_CONVERTER = toml.make_integer_converter(0, 0xFFFF)

_CONVERTERS_BY_TABLE: Mapping[str, ConverterByKey] = MappingProxyType(
    {
        "queue_manager": {
            "identifier": toml.convert_guid,
            "host_name": toml.require_string,
            "validate_host_names": toml.require_boolean,
            "operating_system": _convert_operating_system,
            "release": _convert_release,
            "send_ping": toml.require_boolean,
            "send_insecure_nacks": toml.require_boolean,
            "window_size": toml.make_integer_converter(1, 0xFFFF),
            "max_sessions": toml.make_integer_converter(0, 1_000_000),
        },
        "listen": {
            "address": _convert_own_address,
            "tcp_port": _LISTEN_PORT_CONVERTER,
            "ping_port": _LISTEN_PORT_CONVERTER,
            "ping": toml.require_boolean,
        },
        "rpc": RPC_TABLE_CONVERTERS,
        "remote": {"tcp_port": _PORT_CONVERTER, "ping_port": _PORT_CONVERTER, "rpc_port": _PORT_CONVERTER},
        "timers": {timer.name: toml.make_integer_converter(1, 0x7FFFFFFF) for timer in fields(TimerSettings)},
        "control": {"address": _convert_endpoint},
        "store": {"path": _convert_path},
        "limits": {
            "connections": toml.make_integer_converter(1, 1_000_000),
            "unsent_bytes": toml.make_integer_converter(1, 1 << 40),
            "max_unsent_bytes_of_all_connections": toml.make_integer_converter(1, 1 << 40),
        },
    }
)
_QUOTA_KB_CONVERTER = toml.make_integer_converter(0, 0xFFFFFFFF)
_QUEUE_TABLE_CONVERTERS: ConverterByKey = MappingProxyType(
    {
        "name": _convert_queue_name,
        "transactional": toml.require_boolean,
        "quota_kb": _QUOTA_KB_CONVERTER,
        "journaling": toml.require_boolean,
        "journal_quota_kb": _QUOTA_KB_CONVERTER,
        **QUEUE_SECURITY_CONVERTERS,
    }
)

TABLE_AND_KEY_BY_FLAG: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "--release": ("queue_manager", "release"),
        "--address": ("listen", "address"),
        "--tcp-port": ("listen", "tcp_port"),
        "--ping-port": ("listen", "ping_port"),
        "--rpc-port": ("rpc", "port"),
        "--control": ("control", "address"),
        "--store": ("store", "path"),
    }
)
"""For each flag, the table and the key of the TOML file whose value the flag overrides."""


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise SettingsError(f"{path} is not a TOML file: {error}") from error


def _read_queues(tree: object, where: str) -> tuple[QueueSettings, ...]:
    if not isinstance(tree, list):
        raise SettingsError(f"{where}: queues must be a list of tables: write [[queues]]")
    queues: dict[str, QueueSettings] = {}
    for number, entry in enumerate(tree, 1):
        place = f"{where}: [[queues]] {number}"
        descriptor = take_queue_security(entry, place)
        values = toml.convert_table(entry, _QUEUE_TABLE_CONVERTERS, place)
        if "name" not in values:
            raise SettingsError(f"{place}: name is missing")
        queue = QueueSettings(**values, **descriptor)
        if queues.setdefault(queue.name.lower(), queue) is not queue:
            raise SettingsError(f"{place}: name = {queue.name!r}: two queues have this name; remove one of the entries")
    return tuple(queues.values())


def _read_table_by_guid(
    tree: Mapping[str, Any], table: str, meaning: str, convert: Callable[[object], Value], where: str
) -> dict[UUID, Value]:
    found = tree.get(table, {})
    if not isinstance(found, dict):
        raise SettingsError(f"{where}: [{table}] must be a table of GUID = {meaning}")
    return {
        toml.convert_value(name, toml.convert_guid, f"{where}: [{table}] key"): toml.convert_value(
            value, convert, f"{where}: [{table}] {name}"
        )
        for name, value in found.items()
    }
