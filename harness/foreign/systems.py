"""Judge each system in a capture with every passive predicate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address
from uuid import UUID

from harness.capture.recorder import (
    FROM_SUT_DIRECTION,
    MALFORMED_PACKET_KIND,
    TO_SUT_DIRECTION,
    Connection,
    Frame,
    set_frame_kind,
)
from harness.errors import UsageError
from harness.judging.judge import MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD, MAX_SHOWN_PASSES_PER_RULE, Judge
from harness.judging.passive import load_predicates
from harness.judging.verdicts import VerdictEntry
from harness.rules.catalogue import Catalogue
from reference_qm.codec import EstablishConnectionPacket, FormatError

MAX_NAMED_SYSTEMS = 5
"""The maximum number of systems that a message lists."""
MAX_KEPT_IDENTIFIERS = 16
"""The maximum number of identifiers of one system in a report. More identifiers mean that several systems share an
address.
"""


@dataclass(frozen=True, slots=True)
class RequestedSystem:
    """The requested system, given by its address and, if both sides of a connection have this address, by its port."""

    address: bytes
    port: int | None = None

    def __str__(self) -> str:
        """Return the address, with the port if it was given."""
        host = str(ip_address(self.address))
        return host if self.port is None else f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"

    @classmethod
    def parse(cls, text: str) -> RequestedSystem:
        """Parse ``ADDRESS``, ``ADDRESS:PORT`` or ``[IPV6]:PORT``; raise UsageError for any other text."""
        host, _, port = text.rpartition(":") if text.count(":") == 1 or "]:" in text else (text, "", "")
        try:
            return cls(ip_address(host.strip("[]")).packed, int(port) if port else None)
        except ValueError as error:
            raise UsageError(f"--sut {text}: the value must be an IP address or ADDRESS:PORT") from error


class JudgedSystem:
    """A system that is judged, with the facts that its packets show."""

    def __init__(self, name: str, judge: Judge, entries: list[VerdictEntry]) -> None:
        self.name = name
        self.judge = judge
        self._entries = entries
        self.identifiers: set[UUID] = set()
        self.server_class: set[bool] = set()
        """The values of the OS bit that occur in the system's EstablishConnection requests."""
        self.roles: Counter[str] = Counter()
        """The number of the system's connections by role. The role is empty if the capture does not contain the
        opening of a connection.
        """
        self.kinds: Counter[str] = Counter()
        """The number of packets that the system sent, by kind."""

    def take(self, frame: Frame) -> None:
        """Judge a packet that the system sent, or record a packet that it received."""
        if frame.from_sut:
            self.kinds[frame.kind] += 1
            self._identify(frame)
        self.judge.packets.on_frame(frame)
        if frame.kind == "UserMessage" and frame.size > MAX_PACKET_BYTES_SEARCHED_FOR_DECIDING_FIELD:
            frame.forget_bytes_and_dissection()  # the report shows no field of the packet
        else:
            frame.drop_dissection()
        self.judge.packets.malformed.clear()  # only the verdicts of checks name such packets as a cause

    def remove_and_return_verdicts(self) -> list[VerdictEntry]:
        """Return the verdicts for this system, and remove them from this object, because a capture can contain
        thousands of systems.
        """
        self.judge.conclude_passive_rules()
        taken = self._entries[:]
        self._entries.clear()
        return taken

    def release_packets(self) -> None:
        """Discard the findings about single packets, which are not needed after the verdicts have been derived from
        them.
        """
        self.judge.packets.tallies.clear()

    def _identify(self, frame: Frame) -> None:
        connection = frame.connection
        if frame.kind != "EstablishConnection" or connection is None or not connection.sut_role:
            return
        packet = frame.record
        assert isinstance(packet, EstablishConnectionPacket)
        header = packet.EstablishConnectionHeader
        is_request = connection.sut_role == "initiator"
        if len(self.identifiers) < MAX_KEPT_IDENTIFIERS:
            self.identifiers.add(header.ClientGuid if is_request else header.ServerGuid)
        if is_request:
            self.server_class.add(bool(header.OS))


@dataclass(slots=True)
class SystemsOfCapture:
    """All systems of a capture, by name. ``requested_system``: the only system that is judged, or None to judge all
    systems.
    """

    catalogue: Catalogue
    capture: str
    profile: str
    requested_system: RequestedSystem | None = None
    system_by_name: dict[str, JudgedSystem] = field(default_factory=dict)
    excluded_system_names: dict[str, None] = field(default_factory=dict)
    """The names of some of the systems that are not judged."""
    pass_count_by_rule: Counter[str] = field(
        default_factory=lambda: Counter(dict.fromkeys(load_predicates(), MAX_SHOWN_PASSES_PER_RULE))
    )
    """The number of passes of each rule. The counts begin with a high number, so that the judge does not search for the
    deciding field of a pass: reports do not show passes.
    """

    def get_judged_system(self, name: str, address: bytes, port: int) -> JudgedSystem | None:
        """Return the system with the given name and address, or None if this system is not judged."""
        if self.requested_system is not None and (
            address != self.requested_system.address
            or (self.requested_system.port is not None and port != self.requested_system.port)
        ):
            if len(self.excluded_system_names) < MAX_NAMED_SYSTEMS:
                self.excluded_system_names[name] = None
            return None
        if name not in self.system_by_name:
            self.system_by_name[name] = self._create_system(name)
        return self.system_by_name[name]

    def describe_unjudged_capture(self) -> str:
        """Return the message about a capture in which no packets could be judged. It lists the systems that
        ``requested_system`` excludes.
        """
        at = f" at {self.requested_system}" if self.requested_system is not None else ""
        others = (
            f"; other systems in this capture: {', '.join(self.excluded_system_names)}"
            if self.excluded_system_names
            else ""
        )
        return f"no packet from a queue manager{at} that can be judged{others}"

    def _create_system(self, name: str) -> JudgedSystem:
        entries: list[VerdictEntry] = []
        judge = Judge(
            self.catalogue,
            entries,
            test=name,
            covers=(),
            capture=self.capture,
            passes=self.pass_count_by_rule,
            profile=self.profile,
        )
        return JudgedSystem(name, judge, entries)


@dataclass(slots=True)
class SystemViewOfConnection:
    """What one system sends and receives on a connection, or in datagrams. ``side_number``: the side of this system (0
    or 1).
    """

    system: JudgedSystem
    side_number: int
    connection: Connection | None


def show(
    views: list[SystemViewOfConnection],
    side: int,
    data: bytes,
    number: int,
    time_ms: int,
    transport: str,
    error: FormatError | None,
) -> str:
    """Pass a packet of a connection to the judges of the systems at both ends; return the kind of the packet."""
    first: Frame | None = None
    for view in views:
        direction = FROM_SUT_DIRECTION if view.side_number == side else TO_SUT_DIRECTION
        frame = Frame(number, time_ms, direction, transport, data, MALFORMED_PACKET_KIND, view.connection, error)
        if first is None:
            first = frame
            if error is None:
                set_frame_kind(frame)
        else:
            frame.kind, frame.message = first.kind, first.message
            if "record" in first.__dict__:  # parse the packet once for both views
                frame.__dict__["record"] = first.record
        view.system.take(frame)
    return first.kind if first is not None else MALFORMED_PACKET_KIND
