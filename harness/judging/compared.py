"""Compare messages on the control channel with their packets, in every check.

An application of the SUT gives the properties of a message to the request ``send``; the packet of that message must
have them. The peer sends a packet; the message that an application of the SUT reads must have the properties of the
packet. A table of the suites (suites/compared_properties.py) assigns rules to the properties.

Messages are matched by their identifiers. Packets of a message that is sent again are compared again.
"""

from __future__ import annotations

import base64
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar
from uuid import UUID

from harness.capture.recorder import Frame
from harness.errors import HarnessError
from reference_qm.codec import DirectQueueFormatName, PrivateQueueFormatName, PublicQueueFormatName, UserMessagePacket
from reference_qm.codec import PrivateQueueFormatNameId as QueueNumber

INFINITE_LIFETIME_S = 0xFFFF_FFFF
MAX_LABEL_CHARACTERS = 249
MAX_REMEMBERED_MESSAGES_AND_REQUESTS = 4_096
_PRIVATE_NAME_ON_DESTINATION_HOST, _PRIVATE_NAME_ON_ADMINISTRATION_HOST = 3, 4
"""The values of the UserHeader fields AQ and RQ for a private queue: 3 on the destination host, 4 on the host of the
administration queue.
"""
_ARGUMENTS_BY_PROPERTY = {
    "body_base64": ("body", "body_base64"),
    "positive_journal": ("journal",),
    "negative_journal": ("journal",),
}
"""The arguments of the request ``send`` that set a property, if they are named differently from the property.
"""
REQUESTED_ACK_NAME_BY_FLAG = {
    "PA": "positive_arrival",
    "PR": "positive_receive",
    "NA": "negative_arrival",
    "NR": "negative_receive",
}

MessageProperties = Mapping[str, Any]
ReportFinding = Callable[[str, Frame, bool, str], None]
"""The type of functions that receive a finding: the rule, the packet, whether the packet keeps the rule, and the
observation.
"""


class ComparisonDirection(StrEnum):
    """The direction of a comparison. A sent packet is compared with the request to send it; a message that an
    application read is compared with its packet.
    """

    SENT = "sent"
    READ = "read"


@dataclass(frozen=True, slots=True)
class ComparedRule:
    """A rule about properties of a message. ``is_about_defaults``: whether the rule is about default values, so that
    only properties without a value from the application are compared.
    """

    rule: str
    direction: ComparisonDirection
    properties: tuple[str, ...]
    is_about_defaults: bool = False

    advice: ClassVar[bool] = False
    """Whether the comparison judges only the recommendation (SHOULD) in the rule's sentence, which also contains a
    MUST.
    """

    @property
    def expected(self) -> str:
        """The expectation as verdicts show it."""
        names = ", ".join(map(_get_property_name, self.properties))
        if self.direction is ComparisonDirection.READ:
            return f"the message that was read has these properties of its packet: {names}"
        whose = (
            "the default values of these properties"
            if self.is_about_defaults
            else "these properties of the application"
        )
        return f"the packet has {whose}: {names}"


COMPARED_RULES: dict[str, ComparedRule] = {}
"""The rules that are judged by comparison, by id."""


def register_property_rules(
    half: ComparisonDirection, properties: str, *rules: str, only_omitted: bool = False
) -> None:
    """Register rules about properties. ``properties``: names, separated by spaces, as in
    ``read_message_properties_of_packet``.
    """
    for rule in rules:
        if rule in COMPARED_RULES:
            raise HarnessError(f"two comparisons are registered for {rule}")
        COMPARED_RULES[rule] = ComparedRule(rule, half, tuple(properties.split()), only_omitted)


@cache
def load_compared_rules() -> dict[str, ComparedRule]:
    """Import the table of the suites, and return the rules by id."""
    importlib.import_module("suites.compared_properties")
    return COMPARED_RULES


def read_message_properties_of_packet(packet: UserMessagePacket) -> dict[str, Any]:
    """Return the properties of a message from its packet. Properties that the packet contains only in encrypted form,
    and queues whose host depends on the receiver, are omitted.
    """
    user, properties = packet.UserHeader, packet.MessagePropertiesHeader
    described: dict[str, Any] = {
        "label": (properties.Label or "").rstrip("\0"),
        "body_type": properties.BodyType,
        "priority": 0 if user.TH else packet.BaseHeader.PR,
        "delivery": "transactional" if user.TH else "recoverable" if user.DM else "express",
        "correlation_id": properties.CorrelationID.hex(),
        "application_tag": properties.ApplicationTag,
        "extension_base64": base64.b64encode(properties.ExtensionData).decode(),
        "time_to_reach_queue_s": packet.BaseHeader.TimeToReachQueue,
        "time_to_be_received_s": user.TimeToBeReceived,
        "acks": sorted(name for bit, name in REQUESTED_ACK_NAME_BY_FLAG.items() if getattr(properties, bit)),
        "positive_journal": bool(user.JP),
        "negative_journal": bool(user.JN),
        "trace_queue": None if packet.DebugHeader is None else _get_lower_case_text(packet.DebugHeader.QueueIdentifier),
    }
    if not (packet.SecurityHeader is not None and packet.SecurityHeader.EB):
        described["body_base64"] = base64.b64encode(properties.MessageBody).decode()
    for name, kind, queue in (
        ("admin_queue", user.AQ, user.AdminQueue),
        ("response_queue", *((user.AQ, user.AdminQueue) if user.RQ == 1 else (user.RQ, user.ResponseQueue))),
    ):
        if kind == 0 or (
            queue is not None and kind not in (_PRIVATE_NAME_ON_DESTINATION_HOST, _PRIVATE_NAME_ON_ADMINISTRATION_HOST)
        ):
            described[name] = _get_queue_name(queue, user.SourceQueueManager)
    return described


def list_properties_demanded_by_send_request(request: MessageProperties) -> tuple[dict[str, Any], set[str]]:
    """Return the properties that the packet of a requested message must have, and the properties that the request
    omits. Properties whose value the system may change, or chooses itself, are omitted.
    """
    given = {name for name, value in request.items() if value is not None}
    transactional = request.get("delivery") == "transactional" or request.get("transaction") is not None
    journal = request.get("journal") or ()
    body = base64.b64encode(str(request.get("body") or "").encode("utf-8", "surrogatepass")).decode()
    wanted: dict[str, Any] = {
        "label": request.get("label") or "",
        "body_base64": request.get("body_base64", body),
        "body_type": request.get("body_type", 0),
        "priority": 0 if transactional else request.get("priority", 3),
        "delivery": "transactional" if transactional else request.get("delivery", "express"),
        "correlation_id": request.get("correlation_id", "00" * 20).lower(),
        "application_tag": request.get("application_tag", 0),
        "extension_base64": request.get("extension_base64", ""),
        "time_to_reach_queue_s": request.get("time_to_reach_queue_s", INFINITE_LIFETIME_S),
        "time_to_be_received_s": request.get("time_to_be_received_s", INFINITE_LIFETIME_S),
        "acks": sorted(request.get("acks") or ()),
        "positive_journal": "positive" in journal,
        "negative_journal": "negative" in journal,
        "trace_queue": _get_lower_case_text(request.get("trace_queue")),
        "admin_queue": _normalize_queue(request.get("admin_queue")),
        "response_queue": _normalize_queue(request.get("response_queue")),
    }
    omitted = {name for name in wanted if given.isdisjoint(_ARGUMENTS_BY_PROPERTY.get(name, (name,)))}
    if transactional:
        omitted -= {"priority", "delivery"}
    return {name: value for name, value in wanted.items() if not _is_left_to_system(name, value)}, omitted


def read_properties_of_received_message(message: MessageProperties) -> dict[str, Any]:
    """Return the properties of a message that an application read. Properties that the control channel does not show,
    or that a system may choose, are omitted.
    """
    shown = {
        name: message[name]
        for name in ("label", "body_base64", "body_type", "priority", "delivery", "application_tag", "extension_base64")
        if message.get(name) is not None
    }
    if isinstance(message.get("correlation_id"), str):
        shown["correlation_id"] = message["correlation_id"].lower()
    if isinstance(message.get("acks"), list):
        shown["acks"] = sorted(message["acks"])
    if isinstance(message.get("journal"), list):
        shown |= {f"{kind}_journal": kind in message["journal"] for kind in ("positive", "negative")}
    if "trace_queue" in message:
        shown["trace_queue"] = _get_lower_case_text(message["trace_queue"])
    return shown


class ComparedMessages:
    """The messages in one check that are compared with their packets. ``report`` is called with each finding."""

    def __init__(self, report: ReportFinding) -> None:
        self._report = report
        self._requests: dict[str, MessageProperties] = {}
        self._sent: dict[str, list[Frame]] = {}
        """The packets from the SUT whose requests are not known yet, by identifier."""
        self._received: dict[str, Frame | None] = {}
        """The packets from the peer by identifier, or None if the peer used the identifier for different packets."""
        self._read: set[tuple[str, str]] = set()
        """The messages that were read and compared, each with the properties that the control channel showed."""

    def on_message(self, frame: Frame, packet: UserMessagePacket) -> None:
        """Add a packet, and compare it if its request is known."""
        identifier = _get_message_name(packet)
        if not frame.from_sut:
            known = self._received.get(identifier, frame)
            self._received[identifier] = known if known is not None and known.data == frame.data else None
            _drop_oldest_entry(self._received)
        elif (request := self._requests.get(identifier)) is not None:
            self._compare_with_request(frame, packet, request)
        else:
            self._sent.setdefault(identifier, []).append(frame)
            _drop_oldest_entry(self._sent)

    def on_answer(self, verb: str, arguments: MessageProperties, answer: MessageProperties) -> None:
        """Add an answer of the control channel, and compare the messages that it shows."""
        if verb == "send" and isinstance(identifier := answer.get("message_id"), str) and "," not in arguments["to"]:
            self._requests[identifier.lower()] = arguments
            _drop_oldest_entry(self._requests)
            for frame in self._sent.pop(identifier.lower(), ()):
                self._compare_with_request(frame, frame.record, arguments)
        for message in _list_ordinary_messages(answer):
            self._compare_with_packet(message)

    def _compare_with_request(self, frame: Frame, packet: Any, request: MessageProperties) -> None:
        wanted, omitted = list_properties_demanded_by_send_request(request)
        found = read_message_properties_of_packet(packet)
        for rule in load_compared_rules().values():
            if rule.direction is ComparisonDirection.SENT:
                names = [name for name in rule.properties if not rule.is_about_defaults or name in omitted]
                self._judge_properties(rule, frame, names, wanted, found)

    def _compare_with_packet(self, message: MessageProperties) -> None:
        identifier = str(message.get("message_id", "")).lower()
        frame = self._received.get(identifier)
        if frame is None or (identifier, key := repr(sorted(message.items(), key=str))) in self._read:
            return
        self._read.add((identifier, key))
        packet: Any = frame.record
        found, wanted = read_properties_of_received_message(message), read_message_properties_of_packet(packet)
        if bool(packet.BaseHeader.TR) != (wanted["trace_queue"] is not None):
            del wanted["trace_queue"]  # systems may differ in what they show for such a packet
        for rule in load_compared_rules().values():
            if rule.direction is ComparisonDirection.READ:
                self._judge_properties(rule, frame, rule.properties, wanted, found)

    def _judge_properties(
        self, rule: ComparedRule, frame: Frame, names: Any, wanted: MessageProperties, found: MessageProperties
    ) -> None:
        compared = [name for name in names if name in wanted and name in found]
        wrong = [name for name in compared if wanted[name] != found[name]]
        if compared:
            differences = "; ".join(
                f"{_get_property_name(name)} is {_shorten_value(found[name])} instead of {_shorten_value(wanted[name])}"
                for name in wrong
            )
            same = f"{', '.join(map(_get_property_name, compared))}: as expected"
            self._report(rule.rule, frame, not wrong, differences or same)


def _list_ordinary_messages(answer: MessageProperties) -> Iterator[MessageProperties]:
    """Yield the messages in an answer that have the class of ordinary messages."""
    shown = [answer.get("message"), *(answer["messages"] if isinstance(answer.get("messages"), list) else ())]
    for message in shown:
        if isinstance(message, Mapping) and message.get("class", "MQMSG_CLASS_NORMAL") == "MQMSG_CLASS_NORMAL":
            yield message


def _is_left_to_system(name: str, value: object) -> bool:
    """Return whether a system may replace the value of a property: a label that is too long, a queue without an address
    in its name, or a time limit that the application did not set.
    """
    if name == "label":
        return len(str(value).encode("utf-16-le", "surrogatepass")) > 2 * MAX_LABEL_CHARACTERS
    if name in ("admin_queue", "response_queue"):
        return value is not None and str(value).startswith("direct=") and not str(value).startswith("direct=tcp:")
    return value is None and name.startswith("time_to_")


def _get_queue_name(queue: Any, source: UUID) -> str | None:
    """Return the format name of an administration or response queue in a packet, normalized for comparison."""
    if isinstance(queue, DirectQueueFormatName):
        return _normalize_queue(f"DIRECT={queue.DirectFormatName}".rstrip("\0"))
    if isinstance(queue, PublicQueueFormatName):
        return _normalize_queue(f"PUBLIC={queue.PublicQueueIdentifier}")
    if isinstance(queue, PrivateQueueFormatName):
        return _normalize_queue(f"PRIVATE={queue.SourceQueueManager}\\{queue.PrivateQueueIdentifier:08x}")
    if isinstance(queue, QueueNumber):
        return _normalize_queue(f"PRIVATE={source}\\{queue.PrivateQueueIdentifier:08x}")
    return None


def _normalize_queue(name: object) -> str | None:
    """Return a format name in lower case, with eight digits for the number of a private queue."""
    if not name:
        return None
    kind, _, rest = str(name).lower().partition("=")
    guid, _, number = rest.partition("\\")
    if kind != "private":
        return f"{kind}={rest}"
    return f"private={guid}\\{int(number, 16):08x}" if number else f"private={guid}"


def _get_property_name(name: str) -> str:
    """Return the name of a property as verdicts show it."""
    return name.removesuffix("_base64").removesuffix("_s").replace("_", " ")


def _get_message_name(packet: UserMessagePacket) -> str:
    return f"{{{packet.UserHeader.SourceQueueManager}}}\\{packet.UserHeader.MessageID}"


def _get_lower_case_text(value: object) -> str | None:
    return None if value is None else str(value).lower()


def _shorten_value(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _drop_oldest_entry(kept: dict[str, Any]) -> None:
    """Remove the oldest entry of a table that is too large."""
    if len(kept) > MAX_REMEMBERED_MESSAGES_AND_REQUESTS:
        del kept[next(iter(kept))]
