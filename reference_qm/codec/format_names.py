"""Parses and formats format names of queues. Spec: MS-MQMQ 2.1.2 to 2.1.7.

Keywords are accepted in upper and lower case, as in ABNF, and are written as in the specification. Queue names
follow the grammar of MSMQ 2.0 and later (2.1.1), in which a comma always separates the elements of a
multiple-element name.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

from reference_qm.codec.format_error import FormatError

MAX_NAME_CHARACTERS = 0xFFFF
"""The maximum length of a format name in characters. A direct format name in a packet can have at most half of this
length.
"""

_GUID_PATTERN = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"
_QUEUE_NAME_CHARACTER_PATTERN = r"[\x21\x23-\x2A\x2D-\x3A\x3C-\x5B\x5D-\x7F]"
_JOURNAL_PATTERN = "(?P<journal>;JOURNAL)?"

_DIRECT_PATTERN = re.compile(
    r"(?P<protocol>[A-Z]+):(?P<address>[\x21-\x5B\x5D-\x7E]{1,256})\\"
    r"(?:SYSTEM\$;(?P<system>JOURNAL|DEADLETTER|DEADXACT)"
    rf"|(?P<private>PRIVATE\$\\)?(?P<queue>{_QUEUE_NAME_CHARACTER_PATTERN}{{1,124}})"
    rf"(?:;(?!JOURNAL\Z)(?P<subqueue>{_QUEUE_NAME_CHARACTER_PATTERN}{{1,32}}))?{_JOURNAL_PATTERN})",
    re.IGNORECASE,
)
_PRIVATE_PATTERN = re.compile(
    rf"(?P<computer>{_GUID_PATTERN})\\(?P<queue>[0-9A-F]{{1,8}}){_JOURNAL_PATTERN}", re.IGNORECASE
)
_DISTRIBUTION_LIST_PATTERN = re.compile(rf"(?P<guid>{_GUID_PATTERN})(?:@(?P<domain>[\x21-\x7E]{{1,255}}))?")
_IPV4_OCTET_PATTERN = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_MULTICAST_PATTERN = re.compile(
    rf"(?P<address>(?:22[4-9]|23[0-9])(?:\.{_IPV4_OCTET_PATTERN}){{3}}):(?P<port>0|[1-9][0-9]{{0,4}})"
)

_HTTP_ADDRESS_PATTERN = re.compile(r"//[^:/]+(?::[0-9]*)?/MSMQ", re.IGNORECASE)
_IPX_ADDRESS_PATTERN = re.compile(r"[0-9A-F]{1,8}:[0-9A-F]{1,12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _QueuePath:
    """The parts of a direct format name. Protocol is TCP, OS, HTTP, HTTPS or IPX; ProtocolAddressSpecification and
    QueueName are strings; Subqueue is a string or None.
    """

    Protocol: str
    ProtocolAddressSpecification: str
    QueueName: str
    Subqueue: str | None = None
    Journal: bool = False

    def _format_path(self, folder: str) -> str:
        subqueue = "" if self.Subqueue is None else f";{self.Subqueue}"
        journal = ";JOURNAL" if self.Journal else ""
        address = self.ProtocolAddressSpecification
        return f"DIRECT={self.Protocol}:{address}\\{folder}{self.QueueName}{subqueue}{journal}"


@dataclass(frozen=True, slots=True)
class PrivateQueuePath(_QueuePath):
    """The direct format name of a private queue. Spec: MS-MQMQ 2.1.2."""

    def __str__(self) -> str:
        return self._format_path("PRIVATE$\\")


@dataclass(frozen=True, slots=True)
class PublicQueuePath(_QueuePath):
    """The direct format name of a public queue. Spec: MS-MQMQ 2.1.2."""

    def __str__(self) -> str:
        return self._format_path("")


@dataclass(frozen=True, slots=True)
class MachineQueuePath:
    """The direct format name of a system queue of a computer. SystemQueue is JOURNAL, DEADLETTER or DEADXACT.

    Spec: MS-MQMQ 2.1.2.
    """

    Protocol: str
    ProtocolAddressSpecification: str
    SystemQueue: str

    def __str__(self) -> str:
        return f"DIRECT={self.Protocol}:{self.ProtocolAddressSpecification}\\SYSTEM$;{self.SystemQueue}"


@dataclass(frozen=True, slots=True)
class PublicName:
    """A public format name. Spec: MS-MQMQ 2.1.3."""

    QueueGuid: UUID

    def __str__(self) -> str:
        return f"PUBLIC={str(self.QueueGuid).upper()}"


@dataclass(frozen=True, slots=True)
class PrivateName:
    """A private format name. Spec: MS-MQMQ 2.1.4. QueueIdentifier is a u32."""

    ComputerGuid: UUID
    QueueIdentifier: int
    Journal: bool = False

    def __str__(self) -> str:
        journal = ";JOURNAL" if self.Journal else ""
        return f"PRIVATE={str(self.ComputerGuid).upper()}\\{self.QueueIdentifier:08X}{journal}"


@dataclass(frozen=True, slots=True)
class DistributionListName:
    """A distribution list format name. Spec: MS-MQMQ 2.1.5."""

    DistributionListGuid: UUID
    DomainName: str | None = None

    def __str__(self) -> str:
        domain = "" if self.DomainName is None else f"@{self.DomainName}"
        return f"DL={str(self.DistributionListGuid).upper()}{domain}"


@dataclass(frozen=True, slots=True)
class MachineName:
    """A machine format name. Spec: MS-MQMQ 2.1.6."""

    Guid: UUID

    def __str__(self) -> str:
        return f"MACHINE={str(self.Guid).upper()}"


@dataclass(frozen=True, slots=True)
class ConnectorName:
    """A connector format name. Spec: MS-MQMQ 2.1.6."""

    Guid: UUID

    def __str__(self) -> str:
        return f"CONNECTOR={str(self.Guid).upper()}"


@dataclass(frozen=True, slots=True)
class MulticastName:
    """A multicast format name. Spec: MS-MQMQ 2.1.6. Address is a dotted IPv4 address from 224.0.0.0 to
    239.255.255.255, and Port is a u16.
    """

    Address: str
    Port: int

    def __str__(self) -> str:
        return f"MULTICAST={self.Address}:{self.Port}"


DirectName = PrivateQueuePath | PublicQueuePath | MachineQueuePath
SingleElementName = (
    DirectName | PublicName | PrivateName | DistributionListName | MachineName | ConnectorName | MulticastName
)


@dataclass(frozen=True, slots=True)
class MultipleElementName:
    """A multiple-element format name, which consists of two or more names of writable queues. Spec: MS-MQMQ 2.1.7."""

    Elements: tuple[SingleElementName, ...]

    def __str__(self) -> str:
        return ",".join(map(str, self.Elements))


FormatName = SingleElementName | MultipleElementName


@lru_cache(maxsize=1024)  # the same few queues are named repeatedly
def parse_format_name(text: str) -> FormatName:
    """Parse a format name of any kind. Raise FormatError, whose ``offset`` counts characters, for invalid text.
    Spec: MS-MQMQ 2.1.
    """
    if len(text) > MAX_NAME_CHARACTERS:
        raise FormatError(
            "FormatName", 0, "MS-MQMQ 2.1", f"the text has {len(text)} characters, more than {MAX_NAME_CHARACTERS}"
        )
    if not text.isascii():
        offset = next(i for i, character in enumerate(text) if not character.isascii())
        raise FormatError("FormatName", offset, "MS-MQMQ 2.1", f"{text[offset]!a} is not allowed: names are ASCII")
    parts = text.split(",")
    if len(parts) == 1:
        return _parse_single_name(text, 0)
    elements: list[SingleElementName] = []
    offset = 0
    for part in parts:
        element = _parse_single_name(part, offset)
        if isinstance(element, MachineName | MachineQueuePath) or getattr(element, "Journal", False):
            raise FormatError("MultipleElementName", offset, "MS-MQMQ 2.1.7", f"{element} is a read-only queue")
        elements.append(element)
        offset += len(part) + 1
    return MultipleElementName(tuple(elements))


def _parse_single_name(text: str, offset: int) -> SingleElementName:
    keyword, equals, rest = text.partition("=")
    parser = _PARSER_BY_FORMAT_NAME_PREFIX.get(keyword.upper()) if equals else None
    if parser is None:
        known = ", ".join(f"{name}=" for name in _PARSER_BY_FORMAT_NAME_PREFIX)
        raise FormatError(
            "FormatName", offset, "MS-MQMQ 2.1", f"{_quote_beginning_of_text(text)} begins with none of {known}"
        )
    return parser(rest, offset + len(keyword) + 1)


def _parse_direct_name(text: str, offset: int) -> DirectName:
    section = "MS-MQMQ 2.1.2"
    match = _DIRECT_PATTERN.fullmatch(text)
    if match is None:
        raise FormatError(
            "DirectName",
            offset,
            section,
            rf"{_quote_beginning_of_text(text)} is not Protocol:Address\[PRIVATE$\]Queue[;Subqueue][;JOURNAL]",
        )
    protocol, address = match["protocol"].upper(), match["address"]
    if protocol not in _ADDRESS_CHECK_BY_PROTOCOL:
        raise FormatError(
            "Protocol",
            offset,
            section,
            f"{_quote_beginning_of_text(protocol)} is not one of {', '.join(_ADDRESS_CHECK_BY_PROTOCOL)}",
        )
    if not _ADDRESS_CHECK_BY_PROTOCOL[protocol](address):
        raise FormatError(
            "ProtocolAddressSpecification",
            offset + len(protocol) + 1,
            section,
            f"{_quote_beginning_of_text(address)} is not a valid {protocol} address",
        )
    if match["system"]:
        return MachineQueuePath(protocol, address, match["system"].upper())
    path = PrivateQueuePath if match["private"] else PublicQueuePath
    return path(protocol, address, match["queue"], match["subqueue"], match["journal"] is not None)


def _is_ip_address(address: str) -> bool:
    if "%" in address:
        return False
    try:
        ipaddress.ip_address(address)
    except ValueError:
        return False
    return True


_ADDRESS_CHECK_BY_PROTOCOL: Mapping[str, Callable[[str], bool]] = {
    "TCP": _is_ip_address,
    "OS": bool,
    "HTTP": lambda address: _HTTP_ADDRESS_PATTERN.fullmatch(address) is not None,
    "HTTPS": lambda address: _HTTP_ADDRESS_PATTERN.fullmatch(address) is not None,
    "IPX": lambda address: _IPX_ADDRESS_PATTERN.fullmatch(address) is not None,
}


def _parse_private_name(text: str, offset: int) -> PrivateName:
    match = _PRIVATE_PATTERN.fullmatch(text)
    if match is None:
        raise FormatError(
            "PrivateName",
            offset,
            "MS-MQMQ 2.1.4",
            rf"{_quote_beginning_of_text(text)} is not Guid\hexadecimal[;JOURNAL]",
        )
    return PrivateName(UUID(match["computer"]), int(match["queue"], 16), match["journal"] is not None)


def _parse_distribution_list_name(text: str, offset: int) -> DistributionListName:
    match = _DISTRIBUTION_LIST_PATTERN.fullmatch(text)
    if match is None:
        raise FormatError(
            "DistributionListName",
            offset,
            "MS-MQMQ 2.1.5",
            f"{_quote_beginning_of_text(text)} is not Guid[@DomainName]",
        )
    return DistributionListName(UUID(match["guid"]), match["domain"])


def _parse_multicast_name(text: str, offset: int) -> MulticastName:
    match = _MULTICAST_PATTERN.fullmatch(text)
    if match is None or int(match["port"]) > 0xFFFF:
        expected = "an IPv4 multicast address, a colon and a port"
        raise FormatError("Multicast", offset, "MS-MQMQ 2.1.6", f"{_quote_beginning_of_text(text)} is not {expected}")
    return MulticastName(match["address"], int(match["port"]))


def _make_guid_name_parser(
    name: type[PublicName | MachineName | ConnectorName], section: str
) -> Callable[[str, int], PublicName | MachineName | ConnectorName]:
    def parse_guid_name(text: str, offset: int) -> PublicName | MachineName | ConnectorName:
        if re.fullmatch(_GUID_PATTERN, text) is None:
            raise FormatError(
                name.__name__, offset, section, f"{_quote_beginning_of_text(text)} is not a GUID of the form 8-4-4-4-12"
            )
        return name(UUID(text))

    return parse_guid_name


_PARSER_BY_FORMAT_NAME_PREFIX: Mapping[str, Callable[[str, int], SingleElementName]] = {
    "DIRECT": _parse_direct_name,
    "PUBLIC": _make_guid_name_parser(PublicName, "MS-MQMQ 2.1.3"),
    "PRIVATE": _parse_private_name,
    "DL": _parse_distribution_list_name,
    "MACHINE": _make_guid_name_parser(MachineName, "MS-MQMQ 2.1.6"),
    "CONNECTOR": _make_guid_name_parser(ConnectorName, "MS-MQMQ 2.1.6"),
    "MULTICAST": _parse_multicast_name,
}


def _quote_beginning_of_text(text: str) -> str:
    """Return the first 60 characters of a text in quotes. Special characters are escaped, so that an error message
    stays on one line.
    """
    return ascii(text if len(text) <= 60 else text[:57] + "...")
