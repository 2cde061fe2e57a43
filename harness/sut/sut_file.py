"""Read the TOML file that describes a system under test."""

from __future__ import annotations

import base64
import dataclasses
import ipaddress
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from harness.errors import UsageError
from harness.rules.releases import RELEASES
from harness.sut.more_queues import UNLIMITED_QUOTA_KB, QueueEntry
from harness.sut.rpc_access import RpcCredentials, RpcTable, read_rpc_access
from harness.sut.surroundings import EnvironmentTable
from harness.sut.timeouts import TimeoutsTable
from harness.type_names import get_type_name_with_article
from reference_qm.control import VERBS_BY_FACILITY
from reference_qm.releases.names import KNOWN_RELEASES, NO_RELEASE

PEER_IDENTIFIER = UUID("6d71636f-6e66-4f72-8d00-000000000001")
"""The default of the peer's QueueManager.Identifier. The value is fixed, so that a SUT can be configured with a
route to the peer.
"""
PEER_PUBLIC_QUEUE = UUID("6d71636f-6e66-4f72-8d00-0000000000b1")
"""The Identifier of a public queue of the peer."""
GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE = UUID("6d71636f-6e66-4f72-8d00-000000000004")
GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE = UUID("6d71636f-6e66-4f72-8d00-0000000000b2")
"""A queue manager in another site of the directory, and a public queue on this queue manager. The SUT sends
messages for this queue to the peer.
"""
BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE = 7
"""The BasePriority of the public queue in the other site. The BasePriority of the peer's public queue is 0."""
UNUSED_ADDRESS = "127.0.0.254"
"""An address at which no program listens."""

CAPABILITIES = MappingProxyType(
    {
        "ping": "answers Ping Requests (MS-MQQB 2.1.2, note <10>)",
        "ping_initiator": "sends a Ping Request before it opens a session (MS-MQQB 3.1.5.2.2, note <56>)",
        "two_addresses": "resolves mqc-peer.example to two addresses: first an address at which no program listens, "
        "then peer_address",
        "private_names": "resolves PRIVATE= format names of peer_identifier to peer_address (a directory or a route)",
        "public_names": f"resolves PUBLIC={PEER_PUBLIC_QUEUE} to peer_identifier, and has a route to it",
        "qm2qm": "serves qmcomm and qm2qm at rpc_port (MS-MQQP 2.1)",
        "subqueues": "has subqueues, which queue control creates and qmcomm opens (MS-MQMQ 2.2.7)",
        "several_queues": "sends messages to several queues, with multiple-element format names (MS-MQMQ 2.1.7)",
        "directory": (
            "is integrated with a directory (MS-MQDMPR 3.1.1.1) where its object and the peer's object are in one "
            f"site, {GUID_OF_QUEUE_MANAGER_IN_OTHER_SITE} with the public queue "
            f"{GUID_OF_PUBLIC_QUEUE_IN_OTHER_SITE} (BasePriority {BASE_PRIORITY_OF_QUEUE_IN_OTHER_SITE}) is in a "
            "different site, and the peer is the gate between both sites"
        ),
        "topology": "consists of sender, router and receiver (mqconform run --topology), or is virtual",
        "security": "knows the users, keys and routes of `mqconform provision`, and has the queue queues.restricted",
    }
)
"""The capabilities that a SUT can declare. A capability that is not declared counts as missing."""


MIN_TIMEOUT_FACTOR, MAX_TIMEOUT_FACTOR = 0.1, 100.0
MAX_TIMEOUT_MS = 600_000

KNOWN_PEER_CAPABILITIES = frozenset({"private_names", "public_names", "security", "two_addresses", "directory"})
"""The capabilities that concern the peer in the SUT file. The SUT knows no other peer."""


@dataclass(frozen=True, slots=True)
class SutTable:
    """The table [sut]: the name, the vendor and the version of the system under test."""

    name: str
    vendor: str = "unknown"
    version: str = "unknown"
    profile: str = "none"


@dataclass(frozen=True, slots=True)
class DriverTable:
    """The table [driver]: how the tester reaches the SUT, and where the SUT finds the peer. ``more_peer_addresses``
    contains the addresses of the workers' peers. ``second_peer_address`` is the address of a second peer. ``own_ports``
    states whether the started program itself listens at its ports. ``max_restarts`` limits how often a program that has
    ended is restarted.
    """

    kind: Literal["virtual", "process", "external"]
    address: str = "127.0.0.1"
    tcp_port: int = 1801
    ping_port: int = 3527
    rpc_port: int = 2103
    rpc_read_port: int = 0
    peer_address: str = "127.0.0.2"
    peer_tcp_port: int = 1801
    peer_ping_port: int = 3527
    peer_rpc_port: int = 2103
    peer_identifier: UUID = PEER_IDENTIFIER
    more_peer_addresses: tuple[str, ...] = ()
    second_peer_address: str = ""
    command: tuple[str, ...] = ()
    allow_remote: bool = False
    own_ports: bool = True
    start_timeout_s: int = 20
    max_restarts: int = 5


LONGEST_TIMER_MS = 1_800_000
"""The longest timer duration for which a check waits. It is half an hour, the lifetime of an entry in the history
of messages.
"""
GREATEST_QUOTA_TO_FILL_KB = 65_536
"""The greatest QueueManagerQuota that a check fills with messages: 64 MB."""
MAX_NAME_CHARACTERS = 300
"""The maximum number of characters in a name in [sut] or [queues]. The name of a queue has at most 124 characters
after the name of its computer.
"""
PORT_KEYS = ("tcp_port", "ping_port", "rpc_port", "rpc_read_port", "peer_tcp_port", "peer_ping_port", "peer_rpc_port")
"""The keys in the table [driver] whose values are ports."""
_DISCOVERED_PORT_KEYS_BY_DRIVER_KIND = {"external": ("rpc_port", "rpc_read_port"), "virtual": ("rpc_read_port",)}
"""For each kind of driver, the keys whose ports may be 0. Port 0 means that the tester obtains the port from the
system.
"""


@dataclass(frozen=True, slots=True)
class QueuesTable:
    """The table [queues]: path names of existing queues. These queues are used if the facility queue_control is
    missing.
    """

    plain: str = "private$\\mqc-plain"
    transactional: str = "private$\\mqc-tx"
    admin: str = "private$\\mqc-admin"
    restricted: str = "private$\\mqc-restricted"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the queues in [queues]. A queue with one of these names may also be listed in
        [[more_queues]] to give its private_number.
        """
        return self.plain, self.transactional, self.admin, self.restricted


@dataclass(frozen=True, slots=True)
class ControlTable:
    """The table [control]: the control channel of the SUT, if it has one.

    ``jsonl`` is a channel over TCP at ``address``; ``stdio`` is a channel over the standard streams of ``command``.
    ``time_scale`` is the factor by which the SUT's protocol timers run faster than specified, with the facility
    set_timers.
    """

    kind: Literal["none", "jsonl", "stdio"] = "none"
    address: str = "127.0.0.1:0"
    command: tuple[str, ...] = ()
    time_scale: int = 20


@dataclass(frozen=True, slots=True)
class ProvisionedTable:
    """The table [provisioned]: the values and keys with which the SUT was provisioned, in addition to the objects
    of the capability ``directory`` (MS-MQSO 6.6.1).

    ``send_insecure_nacks``: true if SendInsecureNacks is TRUE (MS-MQQB 3.1.1.3), false if unknown. ``quota_kb``:
    the QueueManagerQuota (MS-MQDMPR 3.1.1.1), or 0 if unknown. ``reject_...``: true if
    RejectEnhancedRC2Using40BitKeys is TRUE (MS-MQQB 3.1.1.3), false if unknown. ``operating_system_type``: the
    OperatingSystemType (MS-MQDMPR 3.1.1.1), such as WinServer, or empty if unknown. ``public_..._base64``: the keys
    that the SUT publishes (MS-MQDMPR 2.2.1, MQDSPUBLICKEYS), in the form in which the verb ``identity`` returns
    them.
    """

    clustered: bool = False
    srmp_http_support: bool = False
    srmp_pgm_support: bool = False
    directory_server: bool = False
    routing_server: bool = False
    send_insecure_nacks: bool = False
    quota_kb: int = 0
    reject_enhanced_rc2_using_40_bit_keys: bool = False
    operating_system_type: str = ""
    public_encryption_keys_base64: str = ""


@dataclass(frozen=True, slots=True)
class TimersTable:
    """The table [timers]: the durations of timers of the SUT, for checks that wait for timers without setting them.
    The duration 0 means that the duration is unknown.
    """

    session_initialization_ms: int = 0
    session_cleanup_ms: int = 0
    session_retry_connect_ms: int = 0
    ack_wait_timeout_ms: int = 0
    message_id_history_cleanup_ms: int = 0

    @property
    def any(self) -> bool:
        """Whether the duration of at least one timer is known."""
        return any(getattr(self, key.name) for key in dataclasses.fields(self))


@dataclass(frozen=True, slots=True)
class ReferenceTable:
    """The table [reference]: the configuration of the reference when it is the SUT in virtual time.

    ``release`` is the release of Windows whose behavior the reference has. ``send_ping`` states whether it sends
    pings, if the release does not determine this. ``facilities`` contains the facilities of its control channel. If
    there are none, checks read its queues over qm2qm.
    """

    faults: tuple[str, ...] = ()
    send_ping: bool = True
    release: str = NO_RELEASE
    facilities: tuple[str, ...] = tuple(VERBS_BY_FACILITY)


@dataclass(frozen=True, slots=True)
class SutFile:
    """The content of a SUT file."""

    sut: SutTable
    driver: DriverTable
    queues: QueuesTable = field(default_factory=QueuesTable)
    more_queues: tuple[QueueEntry, ...] = ()
    commands: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The table [commands]: for each verb of the control protocol that the SUT supports, a command."""
    control: ControlTable = field(default_factory=ControlTable)
    capabilities: MappingProxyType[str, bool] = field(default_factory=lambda: MappingProxyType({}))
    provisioned: ProvisionedTable = field(default_factory=ProvisionedTable)
    timers: TimersTable = field(default_factory=TimersTable)
    reference: ReferenceTable = field(default_factory=ReferenceTable)
    timeouts: TimeoutsTable = field(default_factory=TimeoutsTable)
    environment: EnvironmentTable = field(default_factory=EnvironmentTable)
    rpc: RpcCredentials = field(default_factory=RpcCredentials)
    path: Path | None = None
    systems: Mapping[str, SutTable] = field(default_factory=lambda: MappingProxyType({}))
    """The systems of a topology, by role. A topology is described by a separate file, so no table of the SUT file
    contains them.
    """

    @property
    def label(self) -> str:
        """The name of the SUT file for error messages."""
        return self.path.name if self.path is not None else "the SUT file"


_CLASS_BY_TABLE_NAME = {
    "sut": SutTable,
    "driver": DriverTable,
    "queues": QueuesTable,
    "control": ControlTable,
    "provisioned": ProvisionedTable,
    "timers": TimersTable,
    "reference": ReferenceTable,
    "timeouts": TimeoutsTable,
    "environment": EnvironmentTable,
    "rpc": RpcTable,
}
_FORMER_TABLE_NAMES = {"reach": "driver"}
"""For each former name of a table in SUT files, its current name."""


def load_sut_file(path: Path) -> SutFile:
    """Read a SUT file and check its values. For an invalid file, raise UsageError with a message that names the
    file, the key and the remedy.
    """
    return parse_sut_file(read_toml_file(path, "SUT file"), path)


def read_toml_file(path: Path, what: str) -> dict[str, Any]:
    """Read a TOML file. Raise UsageError if the file cannot be read. ``what`` is the kind of file, which the
    message names.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"the {what} {path} cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a TOML file: {error}") from error


def parse_sut_file(tree: dict[str, Any], path: Path | None = None) -> SutFile:
    """Return the SUT file that parsed TOML describes. Raise UsageError for an invalid value."""
    where = str(path or "SUT file")
    for former, name in _FORMER_TABLE_NAMES.items():
        if former in tree and name in tree:
            raise UsageError(
                f"{where}: [{former}] is the former name of [{name}], and both are present; remove [{former}]"
            )
    tree = {_FORMER_TABLE_NAMES.get(name, name): table for name, table in tree.items()}
    for name in tree:
        if name not in (known := (*_CLASS_BY_TABLE_NAME, "capabilities", "more_queues", "commands")):
            raise UsageError(f"{where}: unknown table [{name}]; known: {', '.join(known)}")
    for name in ("sut", "driver"):
        if name not in tree:
            raise UsageError(f"{where}: table [{name}] is missing")
    tables = {name: _read_table(kind, tree.get(name, {}), where, name) for name, kind in _CLASS_BY_TABLE_NAME.items()}
    tables["rpc"] = read_rpc_access(tables["rpc"], where, path.parent if path else Path())
    more_queues = _read_queue_entries(tree.get("more_queues", []), where)
    capabilities = _read_capabilities(tree.get("capabilities", {}), where)
    commands = _read_commands(tree.get("commands", {}), where)
    file = SutFile(**tables, capabilities=capabilities, more_queues=more_queues, commands=commands, path=path)
    _check_names(file, where)
    _check_driver(file.driver, where)
    _check_control(file, where)
    if file.capabilities.get("topology", False) and file.driver.kind != "virtual":
        raise UsageError(f"{where}: capabilities.topology needs three systems; use --topology FILE")
    _check_timeouts(file.timeouts, where)
    if (complaint := file.environment.describe_error()) is not None:
        raise UsageError(f"{where}: {complaint}")
    if file.environment.parts and file.driver.kind == "virtual":
        raise UsageError(f'{where}: [environment] cannot be used with driver.kind = "virtual"')
    if file.sut.profile not in RELEASES:
        raise UsageError(f"{where}: unknown profile {file.sut.profile!r}; known: {', '.join(RELEASES)}")
    _check_reference(file.reference, where)
    _check_keys(file.provisioned, where)
    _check_timers(file.timers, where)
    if not 0 <= (quota := file.provisioned.quota_kb) <= UNLIMITED_QUOTA_KB:
        raise UsageError(f"{where}: provisioned.quota_kb is {quota}; it must be 0 to {UNLIMITED_QUOTA_KB}")
    return file


def _read_table(kind: type[Any], values: Any, where: str, table: str) -> Any:
    if not isinstance(values, dict):
        raise UsageError(f"{where}: [{table}] must be a table")
    hints = get_type_hints(kind)
    for key in values:
        if key not in hints:
            raise UsageError(f"{where}: unknown key {table}.{key}; known: {', '.join(hints)}")
    for known in dataclasses.fields(kind):
        if known.name not in values and known.default is dataclasses.MISSING:
            raise UsageError(f"{where}: {table}.{known.name} is missing")
    return kind(**{key: _read_value(hints[key], value, f"{where}: {table}.{key}") for key, value in values.items()})


def _read_queue_entries(values: Any, where: str) -> tuple[QueueEntry, ...]:
    if not isinstance(values, list):
        raise UsageError(f"{where}: more_queues must be a list of tables: write [[more_queues]]")
    entries = tuple(_read_table(QueueEntry, one, where, "more_queues") for one in values)
    for entry in entries:
        _check_name(entry.name, f"{where}: more_queues.name")
        if entries.count(entry) > 1 or sum(one.name.lower() == entry.name.lower() for one in entries) > 1:
            raise UsageError(f"{where}: more_queues contains {entry.name} twice; remove one of the entries")
        for key in ("quota_kb", "journal_quota_kb", "private_number"):
            if not 0 <= getattr(entry, key) <= UNLIMITED_QUOTA_KB:
                raise UsageError(
                    f"{where}: more_queues.{key} is {getattr(entry, key)}; it must be 0 to {UNLIMITED_QUOTA_KB}"
                )
    return entries


def _read_commands(values: Any, where: str) -> Mapping[str, tuple[str, ...]]:
    if not isinstance(values, dict):
        raise UsageError(f"{where}: [commands] must be a table")
    known = frozenset[str]().union(*VERBS_BY_FACILITY.values())
    for verb, command in values.items():
        if verb not in known:
            raise UsageError(f"{where}: unknown verb {verb} in [commands]; docs/control-protocol.md lists the verbs")
        if not command:
            raise UsageError(f"{where}: commands.{verb} is empty; omit this key")
    return MappingProxyType(
        {verb: _read_value(tuple[str, ...], command, f"{where}: commands.{verb}") for verb, command in values.items()}
    )


def _read_value(hint: Any, value: Any, where: str) -> Any:
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise UsageError(f"{where} is {value!r}; it must be one of {', '.join(get_args(hint))}")
        return value
    if get_origin(hint) is tuple:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise UsageError(f"{where} must be a list of strings")
        return tuple(value)
    if hint is UUID:
        try:
            return UUID(value)
        except (ValueError, AttributeError, TypeError) as error:
            raise UsageError(f"{where} is {value!r}; it must be a GUID") from error
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:
        raise UsageError(f"{where} is {value!r}; it must be {get_type_name_with_article(hint)}")
    return value


def _read_capabilities(values: Any, where: str) -> MappingProxyType[str, bool]:
    for key, value in values.items():
        if key not in CAPABILITIES:
            raise UsageError(f"{where}: unknown capability {key}; known: {', '.join(CAPABILITIES)}")
        if not isinstance(value, bool):
            raise UsageError(f"{where}: capabilities.{key} is {value!r}; it must be true or false")
    return MappingProxyType(dict(values))


def is_loopback(address: str) -> bool:
    """Return whether an address is a loopback address. A host name counts as remote unless it is localhost."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _check_names(file: SutFile, where: str) -> None:
    """Raise UsageError for names that are too long or contain characters that are not printable."""
    for table in ("sut", "queues"):
        for key in dataclasses.fields(getattr(file, table)):
            _check_name(getattr(getattr(file, table), key.name), f"{where}: {table}.{key.name}")


def _check_name(name: str, key: str) -> None:
    if not name.isprintable():
        hidden = next(char for char in name if not char.isprintable())
        raise UsageError(f"{key} contains the invisible character U+{ord(hidden):04X}; remove it")
    if len(name) > MAX_NAME_CHARACTERS:
        raise UsageError(f"{key} is longer than {MAX_NAME_CHARACTERS} characters")


def _check_driver(driver: DriverTable, where: str) -> None:
    for key in PORT_KEYS:
        port = getattr(driver, key)
        if not 0 <= port <= 65_535:
            raise UsageError(f"{where}: driver.{key} is {port}; it must be 0 to 65535")
        if port == 0 and driver.kind != "process" and key not in _DISCOVERED_PORT_KEYS_BY_DRIVER_KIND[driver.kind]:
            raise UsageError(f'{where}: driver.{key} is 0, but a free port can be chosen only for kind = "process"')
    if not is_loopback(driver.address) and not driver.allow_remote:
        raise UsageError(
            f"{where}: driver.address {driver.address} is not loopback; set allow_remote = true in [driver] if packets "
            "may be sent there"
        )
    if driver.kind == "process" and not driver.command:
        raise UsageError(f'{where}: driver.command is missing; kind = "process" needs a program to start')


def _check_control(file: SutFile, where: str) -> None:
    if file.control.kind == "stdio" and not file.control.command:
        raise UsageError(f'{where}: control.command is missing; kind = "stdio" needs a program to start')
    if file.control.kind != "stdio" and file.control.command:
        raise UsageError(f'{where}: control.command is for kind = "stdio", not for "{file.control.kind}"')
    if file.commands and (file.control.kind != "none" or file.driver.kind == "virtual"):
        raise UsageError(f"{where}: [commands] can be used only for a system that is not virtual and has no [control]")
    if file.control.kind == "stdio" and file.driver.kind == "virtual":
        raise UsageError(f'{where}: control.kind = "stdio" cannot be used with driver.kind = "virtual"')


def _check_timers(timers: TimersTable, where: str) -> None:
    for key in dataclasses.fields(timers):
        if not 0 <= (duration := getattr(timers, key.name)) <= LONGEST_TIMER_MS:
            raise UsageError(f"{where}: timers.{key.name} is {duration}; it must be 0 to {LONGEST_TIMER_MS}")


def _check_keys(provisioned: ProvisionedTable, where: str) -> None:
    try:
        base64.b64decode(provisioned.public_encryption_keys_base64, validate=True)
    except ValueError as error:
        raise UsageError(f"{where}: provisioned.public_encryption_keys_base64 is not base64: {error}") from error


def _check_reference(reference: ReferenceTable, where: str) -> None:
    if reference.release not in KNOWN_RELEASES:
        raise UsageError(
            f"{where}: unknown reference.release {reference.release!r}; known: {', '.join(KNOWN_RELEASES)}"
        )
    if unknown := set(reference.facilities) - VERBS_BY_FACILITY.keys():
        known = ", ".join(VERBS_BY_FACILITY)
        raise UsageError(f"{where}: unknown facility {min(unknown)!r} in reference.facilities; known: {known}")


def _check_timeouts(timeouts: TimeoutsTable, where: str) -> None:
    if not MIN_TIMEOUT_FACTOR <= timeouts.factor <= MAX_TIMEOUT_FACTOR:
        raise UsageError(
            f"{where}: timeouts.factor is {timeouts.factor}; it must be {MIN_TIMEOUT_FACTOR} to {MAX_TIMEOUT_FACTOR}"
        )
    for key in ("response_ms", "quiet_ms", "connect_ms", "control_ms", "stall_ms"):
        if not 0 <= getattr(timeouts, key) <= MAX_TIMEOUT_MS:
            raise UsageError(f"{where}: timeouts.{key} is {getattr(timeouts, key)}; it must be 0 to {MAX_TIMEOUT_MS}")
