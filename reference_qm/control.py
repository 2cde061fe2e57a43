"""Converts lines of the JSON Lines control protocol to requests, and results to answers. No I/O."""

from __future__ import annotations

import base64
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import MISSING, fields
from functools import partial
from types import MappingProxyType, NoneType
from typing import Any, NamedTuple, get_args, get_type_hints
from uuid import UUID

from reference_qm.surface import commands, queue_manager_environment, remote_commands
from reference_qm.surface.effects import CommandCompleted, CommandRejected
from reference_qm.surface.queue_manager_environment import EnvironmentRequest

CONTROL_PROTOCOL_VERSION = 2
"""The version of the control protocol (docs/control-protocol.md)."""
ArgumentConverter = Callable[[object], Any]
MESSAGE_FLAGS_BY_DELIVERY_MODE: dict[str, dict[str, bool]] = {
    "express": {},
    "recoverable": {"recoverable": True},
    "transactional": {"transactional": True},
}


_REMOTE_VERBS = (
    "remote_open remote_close remote_open_cursor remote_close_cursor remote_receive remote_peek "
    "remote_receive_by_lookup_id remote_peek_by_lookup_id remote_purge"
)
_MANAGEMENT_VERBS = "get_outgoing_queue get_transfers"
VERBS_BY_FACILITY: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(verbs.split())
        for name, verbs in {
            "queue_control": f"create_queue get_queue set_queue delete_queue list purge {_MANAGEMENT_VERBS}",
            "send": "send",
            "send_extension": "",  # the arguments extension_base64 and correlation_id of send
            "open_to_send": "open_to_send close_queue",
            "get_queue_path": "get_queue_path",
            "reject": "reject",
            "receive": (
                "receive peek peek_message peek_next receive_by_lookup_id peek_by_lookup_id move purge "
                f"open_queue close_queue open_cursor close_cursor {_REMOTE_VERBS}"  # an application reads both alike
            ),
            "transactions": "begin prepare commit abort reenlistment_timeout",
            "pause": "pause_queue resume_queue take_offline bring_online",
            "restart": "restart",
            "reset": "reset",
            "set_timers": "set_timers",
            "configure": "configure",
            "inspect": "inspect",
            "environment": "environment published",
            "management": _MANAGEMENT_VERBS,
            "remote_read": _REMOTE_VERBS,
        }.items()
    }
)
"""The verbs of each facility.

A verb of two facilities is offered if either facility is offered. A verb that belongs to no facility (identity, cancel,
stop) is always offered. A facility without verbs offers only optional arguments for the verbs of other facilities.
"""


def find_verb_refusal_reason(verb: object, offered: Collection[str]) -> str | None:
    """Return a one-line reason why a verb is refused when only some facilities are offered, or None if the verb is
    offered.
    """
    owners = [name for name, verbs in VERBS_BY_FACILITY.items() if verb in verbs]
    if not owners or any(owner in offered for owner in owners):
        return None
    return f"{verb} is not offered here, because it needs the facility {' or '.join(owners)}"


def list_offered_facilities(known: Iterable[str], offered: Collection[str]) -> list[str]:
    """Return the known facilities that are named in ``offered``, or whose verbs are all offered."""

    def are_verbs_offered(name: str) -> bool:
        verbs = VERBS_BY_FACILITY[name]
        return bool(verbs) and all(find_verb_refusal_reason(verb, offered) is None for verb in verbs)

    return [name for name in known if name in offered or are_verbs_offered(name)]


class ControlError(ValueError):
    """Raised for a line that is not a valid request. The one-line message names the verb, the argument and the
    remedy.
    """


class VerbNotOffered(ControlError):
    """Raised for a request whose verb the queue manager does not offer. The answer to the request is
    ``unsupported``.
    """


def parse_request(arguments: dict[str, Any]) -> commands.Request | EnvironmentRequest:
    """Return the request that the object ``{"verb": ..., argument: ...}`` describes. Raise ControlError if the
    object is invalid.
    """
    verb = arguments.get("verb")
    if not isinstance(verb, str) or verb not in _VERB_BY_NAME:
        raise VerbNotOffered(f"unknown verb {_quote_value(verb)}; known: {', '.join(_VERB_BY_NAME)}")
    make, takes, required = _VERB_BY_NAME[verb]
    given = {name: value for name, value in arguments.items() if name != "verb"}
    if unknown := given.keys() - takes.keys():
        known = ", ".join(takes) or "no arguments"
        raise ControlError(f"{verb}: unknown argument {_quote_value(min(unknown))}; the verb takes {known}")
    for name in required:
        if name not in given:
            raise ControlError(f"{verb}: argument {name!r} is missing")
    values: dict[str, Any] = {}
    for name, value in given.items():
        try:
            values[name] = takes[name](value)
        except ValueError as error:
            raise ControlError(f"{verb}: {name} {error}, not {_quote_value(value)}") from None
    return make(**values)


def build_answer(number: Any, result: CommandCompleted | CommandRejected) -> dict[str, Any]:
    """Build the answer to request ``number`` from the result that the core returned."""
    if isinstance(result, CommandRejected):
        return {"id": number, "ok": False, "error": result.error}
    return {"id": number, "ok": True, **result.result.values}


def _quote_value(value: object) -> str:
    """Return a value as escaped text of at most 60 characters, so that a message that contains the text stays one
    line.
    """
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- converters: each takes a parsed argument and returns the field of a request, or raises ValueError ------------


def _convert_string(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _convert_boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _convert_integer(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be an integer")
    return value


def _convert_strings(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of strings")
    return frozenset(value)


def _convert_utf8(value: object) -> bytes:
    try:
        return _convert_string(value).encode()
    except UnicodeEncodeError:
        raise ValueError("must be a string without lone surrogates") from None


def _convert_base64(value: object) -> bytes:
    text = _convert_string(value)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("must be base64") from None


def _convert_correlation_id(value: object) -> bytes:
    try:
        identifier = bytes.fromhex(_convert_string(value))
    except ValueError:
        identifier = b""
    if len(identifier) != commands.CORRELATION_ID_SIZE:
        raise ValueError(f"must be {2 * commands.CORRELATION_ID_SIZE} hexadecimal digits")
    return identifier


def _convert_guid(value: object) -> UUID:
    text = _convert_string(value)
    try:
        return UUID(text)
    except ValueError:
        raise ValueError("must be a GUID") from None


def _convert_guids(value: object) -> tuple[UUID, ...]:
    if not isinstance(value, list):
        raise ValueError("must be a list of GUIDs")
    return tuple(_convert_guid(one) for one in value)


def _convert_delivery(value: object) -> dict[str, bool]:
    if not isinstance(value, str) or value not in MESSAGE_FLAGS_BY_DELIVERY_MODE:
        raise ValueError(f"must be one of {', '.join(MESSAGE_FLAGS_BY_DELIVERY_MODE)}")
    return MESSAGE_FLAGS_BY_DELIVERY_MODE[value]


def _make_null_accepting_converter(convert: ArgumentConverter) -> ArgumentConverter:
    return lambda value: None if value is None else convert(value)


_CONVERTER_BY_TYPE: Mapping[object, ArgumentConverter] = MappingProxyType(
    {
        str: _convert_string,
        bool: _convert_boolean,
        int: _convert_integer,
        bytes: _convert_utf8,
        UUID: _convert_guid,
        frozenset[str]: _convert_strings,
        tuple[UUID, ...]: _convert_guids,
    }
)
"""For each type of a field: the function that converts a value to this type."""
_QUEUE_SELECTING_ARGUMENTS = frozenset({"queue", "handle", "cursor", "remote"})
"""The arguments that select the queue or cursor to read from. A request contains exactly one of these arguments; the
others must be omitted and cannot be null.
"""


class ControlVerb(NamedTuple):
    """A verb of the control protocol: the request that it makes, a converter for each argument, and the required
    arguments.
    """

    make_request: Callable[..., commands.Request | EnvironmentRequest]
    converter_by_argument: Mapping[str, ArgumentConverter]
    required_arguments: tuple[str, ...]


def _derive_verb_from_request_type(
    request: type[commands.Request] | type[EnvironmentRequest],
    *,
    without: tuple[str, ...] = (),
    required: tuple[str, ...] = (),
    null: bool = True,
    **fixed: Any,
) -> ControlVerb:
    """Derive a verb from the names, types and defaults of the fields of its request.

    ``without``: the fields that the verb does not take. ``required``: the fields that the verb requires although
    they have a default. ``null``: whether null stands for None. ``fixed``: the fields that the verb itself sets.
    """
    takes = {
        name: _find_argument_converter(hint, null and name not in _QUEUE_SELECTING_ARGUMENTS)
        for name, hint in get_type_hints(request).items()
        if name not in without and name not in fixed
    }
    needed = (one.name for one in fields(request) if one.default is MISSING and one.default_factory is MISSING)
    return ControlVerb(partial(request, **fixed), takes, (*needed, *required))


def _find_argument_converter(hint: object, null: bool) -> ArgumentConverter:
    if NoneType not in get_args(hint):
        return _CONVERTER_BY_TYPE[hint]
    (kind,) = (one for one in get_args(hint) if one is not NoneType)
    return _make_null_accepting_converter(_CONVERTER_BY_TYPE[kind]) if null else _CONVERTER_BY_TYPE[kind]


UNLIMITED_LIFETIME_S = 0xFFFF_FFFF
"""The value of TimeToReachQueue (s) that means "no limit". Messages of the verb ``send`` get it by default."""


def _make_send_message_request(**values: Any) -> commands.SendMessage:
    if "body" in values and "body_base64" in values:
        raise ControlError("send: give only one of body and body_base64")
    if "body_base64" in values:
        values["body"] = values.pop("body_base64")
    if "extension_base64" in values:
        values["extension"] = values.pop("extension_base64")
    values.setdefault("time_to_reach_queue_s", UNLIMITED_LIFETIME_S)  # with None, the message gets the system's default
    return commands.SendMessage(**values.pop("delivery", {}), **values)


def _make_create_queue_request(**values: Any) -> commands.CreateQueue:
    return commands.CreateQueue(security=values.pop("security_base64", None), **values)


_SEND_MESSAGE_VERB = _derive_verb_from_request_type(
    commands.SendMessage, without=("recoverable", "transactional", "extension", "correlation_id")
)
_CREATE_QUEUE_VERB = _derive_verb_from_request_type(commands.CreateQueue, without=("security",))

_PUBLISHED_OBJECT_VERB = _derive_verb_from_request_type(queue_manager_environment.AccessPublishedObject, null=False)

_VERB_BY_NAME: Mapping[str, ControlVerb] = MappingProxyType(
    {
        "identity": _derive_verb_from_request_type(commands.Identity),
        "create_queue": ControlVerb(
            _make_create_queue_request,
            {
                **_CREATE_QUEUE_VERB.converter_by_argument,
                "security_base64": _make_null_accepting_converter(_convert_base64),
            },
            _CREATE_QUEUE_VERB.required_arguments,
        ),
        "get_queue": _derive_verb_from_request_type(commands.GetQueue),
        "set_queue": _derive_verb_from_request_type(commands.SetQueue, null=False),
        "open_queue": _derive_verb_from_request_type(commands.OpenQueue),
        "get_queue_path": _derive_verb_from_request_type(commands.GetQueuePath),
        "open_to_send": _derive_verb_from_request_type(commands.OpenToSend),
        "close_queue": _derive_verb_from_request_type(commands.CloseQueue),
        "open_cursor": _derive_verb_from_request_type(commands.OpenCursor),
        "close_cursor": _derive_verb_from_request_type(commands.CloseCursor),
        "delete_queue": _derive_verb_from_request_type(commands.DeleteQueue),
        "list": _derive_verb_from_request_type(commands.ListQueues),
        "get_outgoing_queue": _derive_verb_from_request_type(commands.GetOutgoingQueue),
        "get_transfers": _derive_verb_from_request_type(commands.GetTransfers),
        "send": ControlVerb(
            _make_send_message_request,
            {
                **_SEND_MESSAGE_VERB.converter_by_argument,
                "body_base64": _convert_base64,
                "delivery": _convert_delivery,
                "extension_base64": _convert_base64,
                "correlation_id": _convert_correlation_id,
            },
            _SEND_MESSAGE_VERB.required_arguments,
        ),
        "receive": _derive_verb_from_request_type(commands.ReceiveMessage),
        "peek_message": _derive_verb_from_request_type(commands.PeekMessage, next=False),
        "peek_next": _derive_verb_from_request_type(
            commands.PeekMessage, without=("queue", "handle"), required=("cursor",), next=True
        ),
        "receive_by_lookup_id": _derive_verb_from_request_type(commands.ReadByLookupIdentifier, peek=False),
        "peek_by_lookup_id": _derive_verb_from_request_type(
            commands.ReadByLookupIdentifier, without=("transaction",), peek=True
        ),
        "move": _derive_verb_from_request_type(commands.MoveMessage),
        "reject": _derive_verb_from_request_type(commands.RejectMessage),
        "peek": _derive_verb_from_request_type(commands.PeekMessages),
        "purge": _derive_verb_from_request_type(commands.PurgeQueue),
        "remote_open": _derive_verb_from_request_type(remote_commands.RemoteOpen),
        "remote_close": _derive_verb_from_request_type(remote_commands.RemoteClose),
        "remote_open_cursor": _derive_verb_from_request_type(remote_commands.RemoteOpenCursor),
        "remote_close_cursor": _derive_verb_from_request_type(remote_commands.RemoteCloseCursor),
        "remote_receive": _derive_verb_from_request_type(remote_commands.RemoteReceive),
        "remote_peek": _derive_verb_from_request_type(remote_commands.RemotePeek),
        "remote_receive_by_lookup_id": _derive_verb_from_request_type(remote_commands.RemoteReadByLookupId, peek=False),
        "remote_peek_by_lookup_id": _derive_verb_from_request_type(remote_commands.RemoteReadByLookupId, peek=True),
        "remote_purge": _derive_verb_from_request_type(remote_commands.RemotePurge),
        "pause_queue": _derive_verb_from_request_type(commands.PauseQueue),
        "resume_queue": _derive_verb_from_request_type(commands.ResumeQueue),
        "take_offline": _derive_verb_from_request_type(commands.TakeOffline),
        "bring_online": _derive_verb_from_request_type(commands.BringOnline),
        "begin": _derive_verb_from_request_type(commands.BeginTransaction),
        "prepare": _derive_verb_from_request_type(commands.PrepareTransaction),
        "commit": _derive_verb_from_request_type(commands.CommitTransaction),
        "abort": _derive_verb_from_request_type(commands.AbortTransaction),
        "reenlistment_timeout": _derive_verb_from_request_type(commands.ReenlistmentTimeout),
        "set_timers": _derive_verb_from_request_type(commands.SetTimers),
        "configure": _derive_verb_from_request_type(commands.Configure),
        "inspect": _derive_verb_from_request_type(commands.Inspect),
        "environment": _derive_verb_from_request_type(queue_manager_environment.ChangeEnvironment, null=False),
        "published": ControlVerb(
            _PUBLISHED_OBJECT_VERB.make_request,
            {**_PUBLISHED_OBJECT_VERB.converter_by_argument, "public_encryption_keys_base64": _convert_base64},
            _PUBLISHED_OBJECT_VERB.required_arguments,
        ),
    }
)
