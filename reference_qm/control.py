"""The JSON Lines control protocol: objects to requests, answers to objects. No I/O."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import fields
from typing import Any
from uuid import UUID

from reference_qm.surface import commands, remote_commands
from reference_qm.surface.effects import Completed, Rejected

DELIVERIES: dict[str, dict[str, bool]] = {
    "express": {},
    "recoverable": {"recoverable": True},
    "transactional": {"transactional": True},
}


class ControlError(ValueError):
    """A line that is no request: one line naming the verb, the argument and the way out."""


def request_from(arguments: dict[str, Any]) -> commands.Request:
    """Make a request of ``{"verb": ..., argument: ...}``; ControlError when it is none."""
    verb = arguments.get("verb")
    if not isinstance(verb, str) or verb not in _VERBS:
        raise ControlError(f"unknown verb {_shown(verb)}; known are {', '.join(_VERBS)}")
    make, known, required = _VERBS[verb]
    given = {name: value for name, value in arguments.items() if name != "verb"}
    if unknown := given.keys() - known.keys():
        takes = ", ".join(known) or "no arguments"
        raise ControlError(f"{verb}: unknown argument {_shown(min(unknown))}; it takes {takes}")
    for name in required:
        if name not in given:
            raise ControlError(f"{verb}: argument {name!r} is missing")
    values: dict[str, Any] = {}
    for name, value in given.items():
        try:
            values[name] = known[name](value)
        except ValueError as error:
            raise ControlError(f"{verb}: {name} {error}, not {_shown(value)}") from None
    return make(values)


def answer(number: Any, result: Completed | Rejected) -> dict[str, Any]:
    """Make the answer to request ``number`` of what the core gave."""
    if isinstance(result, Rejected):
        return {"id": number, "ok": False, "error": result.error}
    return {"id": number, "ok": True, **result.result.values}


def _shown(value: object) -> str:
    """Show at most 60 characters of a value, escaped, so that the message stays one line."""
    text = ascii(value)
    return text if len(text) <= 60 else text[:57] + "..."


# -- what an argument may be: each takes what was written and returns what is meant, or raises ValueError --------


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError("must be a string")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value


def _number(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("must be an integer")
    return value


def _texts(value: object) -> frozenset[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("must be a list of strings")
    return frozenset(value)


def _utf8(value: object) -> bytes:
    try:
        return _text(value).encode()
    except UnicodeEncodeError:
        raise ValueError("must be a string without lone surrogates") from None


def _base64(value: object) -> bytes:
    text = _text(value)
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        raise ValueError("must be base64") from None


def _guid(value: object) -> UUID:
    text = _text(value)
    try:
        return UUID(text)
    except ValueError:
        raise ValueError("must be a GUID") from None


def _delivery(value: object) -> dict[str, bool]:
    if not isinstance(value, str) or value not in DELIVERIES:
        raise ValueError(f"must be one of {', '.join(DELIVERIES)}")
    return DELIVERIES[value]


def _or_none(convert: Callable[[object], Any]) -> Callable[[object], Any]:
    return lambda value: None if value is None else convert(value)


def _send(values: dict[str, Any]) -> commands.SendMessage:
    if "body" in values and "body_base64" in values:
        raise ControlError("send: body and body_base64 are the same thing: give one of them")
    if "body_base64" in values:
        values["body"] = values.pop("body_base64")
    return commands.SendMessage(**values.pop("delivery", {}), **values)


Convert = Callable[[object], Any]
Verb = tuple[Callable[[dict[str, Any]], commands.Request], dict[str, Convert], tuple[str, ...]]


def _verb(request: type[commands.Request], known: dict[str, Convert], *required: str) -> Verb:
    return (lambda values: request(**values)), known, required


def _by_lookup_identifier(peek: bool) -> Callable[[dict[str, Any]], commands.Request]:
    return lambda values: commands.ReadByLookupIdentifier(peek=peek, **values)


def _by_remote_lookup_id(peek: bool) -> Callable[[dict[str, Any]], commands.Request]:
    return lambda values: remote_commands.RemoteReadByLookupId(peek=peek, **values)


_PROPERTIES: dict[str, Convert] = {
    "label": _text,
    "journaling": _flag,
    "quota_kb": _number,
    "journal_quota_kb": _number,
    "authenticated": _flag,
    "privacy": _text,
    "base_priority": _number,
}
_WHERE: dict[str, Convert] = {"queue": _text, "handle": _number, "cursor": _number}
_WITHIN: dict[str, Convert] = {"transaction": _or_none(_guid)}
_LOOKUP: dict[str, Convert] = {"queue": _text, "handle": _number, "lookup_id": _number, "seek": _text}
_SETTINGS: dict[str, Convert] = {
    **{f"{name}_enhanced_rc2_using_40_bit_keys": _or_none(_flag) for name in ("send", "reject")},
    **{f"preferred_{level}": _or_none(_text) for level in ("base", "enhanced", "advanced")},
    **{
        f"{cache}_cache_size": _or_none(_number)
        for cache in ("user_cert", "receive_symmetric_key", "send_symmetric_key")
    },
    **{f"{name}_lifetime_ms": _or_none(_number) for name in ("user_cert", "symmetric_key_short")},
    "send_insecure_nacks": _or_none(_flag),
    "quota_kb": _or_none(_number),
}
_REMOTELY: dict[str, Convert] = {"remote": _number, "cursor": _number, "timeout_ms": _or_none(_number)}
_REMOTE_LOOKUP: dict[str, Convert] = {"remote": _number, "lookup_id": _number, "seek": _text}
_MOVED = ("queue", "lookup_id", "to")

_VERBS: dict[str, Verb] = {
    "identity": _verb(commands.Identity, {}),
    "create_queue": _verb(commands.CreateQueue, {"name": _text, "transactional": _flag, **_PROPERTIES}, "name"),
    "get_queue": _verb(commands.GetQueue, {"name": _text}, "name"),
    "set_queue": _verb(commands.SetQueue, {"name": _text, **_PROPERTIES}, "name"),
    "open_queue": _verb(commands.OpenQueue, {"queue": _text, "access": _text, "deny_receive": _flag}, "queue"),
    "close_queue": _verb(commands.CloseQueue, {"handle": _number}, "handle"),
    "open_cursor": _verb(commands.OpenCursor, {"handle": _number}, "handle"),
    "close_cursor": _verb(commands.CloseCursor, {"cursor": _number}, "cursor"),
    "delete_queue": _verb(commands.DeleteQueue, {"name": _text}, "name"),
    "list": _verb(commands.ListQueues, {}),
    "send": (
        _send,
        {
            "to": _text,
            "body": _utf8,
            "body_base64": _base64,
            "body_type": _number,
            "label": _text,
            "priority": _number,
            "delivery": _delivery,
            "acks": _texts,
            "admin_queue": _or_none(_text),
            "response_queue": _or_none(_text),
            "time_to_reach_queue_s": _or_none(_number),
            "time_to_be_received_s": _or_none(_number),
            "journal": _texts,
            "application_tag": _number,
            "transaction": _or_none(_guid),
            "authentication_level": _text,
            "hash_algorithm": _text,
            "privacy_level": _text,
            "sender": _or_none(_text),
            "certificate": _or_none(_text),
            "dead_letter_queue": _or_none(_text),
            "trace_queue": _or_none(_text),
        },
        ("to",),
    ),
    "open_session": _verb(commands.OpenSession, {"to": _text}, "to"),
    "receive": _verb(commands.ReceiveMessage, {**_WHERE, "timeout_ms": _number, **_WITHIN}),
    "peek_message": _verb(commands.PeekMessage, {**_WHERE, "timeout_ms": _number}),
    "peek_next": (
        lambda values: commands.PeekMessage(next=True, **values),
        {"cursor": _number, "timeout_ms": _number},
        ("cursor",),
    ),
    "receive_by_lookup_id": (_by_lookup_identifier(peek=False), {**_LOOKUP, **_WITHIN}, ()),
    "peek_by_lookup_id": (_by_lookup_identifier(peek=True), _LOOKUP, ()),
    "move": _verb(commands.MoveMessage, {"queue": _text, "lookup_id": _number, "to": _text, **_WITHIN}, *_MOVED),
    "peek": _verb(commands.PeekMessages, {"queue": _text, "limit": _number}, "queue"),
    "purge": _verb(commands.PurgeQueue, {"queue": _text}, "queue"),
    "remote_open": _verb(remote_commands.RemoteOpen, {"queue": _text, "access": _text, "deny_receive": _flag}, "queue"),
    "remote_close": _verb(remote_commands.RemoteClose, {"remote": _number}, "remote"),
    "remote_open_cursor": _verb(remote_commands.RemoteOpenCursor, {"remote": _number}, "remote"),
    "remote_close_cursor": _verb(remote_commands.RemoteCloseCursor, {"cursor": _number}, "cursor"),
    "remote_receive": _verb(remote_commands.RemoteReceive, _REMOTELY),
    "remote_peek": _verb(remote_commands.RemotePeek, {**_REMOTELY, "next": _flag}),
    "remote_receive_by_lookup_id": (_by_remote_lookup_id(peek=False), _REMOTE_LOOKUP, ("remote",)),
    "remote_peek_by_lookup_id": (_by_remote_lookup_id(peek=True), _REMOTE_LOOKUP, ("remote",)),
    "remote_purge": _verb(remote_commands.RemotePurge, {"remote": _number}, "remote"),
    "pause_queue": _verb(commands.PauseQueue, {"to": _text}, "to"),
    "resume_queue": _verb(commands.ResumeQueue, {"to": _text}, "to"),
    "take_offline": _verb(commands.TakeOffline, {}),
    "bring_online": _verb(commands.BringOnline, {}),
    "begin": _verb(commands.BeginTransaction, {"transaction": _or_none(_guid), "external": _flag}),
    "prepare": _verb(commands.PrepareTransaction, {"transaction": _guid, "single_phase": _flag}, "transaction"),
    "commit": _verb(commands.CommitTransaction, {"transaction": _guid}, "transaction"),
    "abort": _verb(commands.AbortTransaction, {"transaction": _guid}, "transaction"),
    "reenlistment_timeout": _verb(commands.ReenlistmentTimeout, {}),
    "set_timers": _verb(commands.SetTimers, {one.name: _or_none(_number) for one in fields(commands.SetTimers)}),
    "configure": _verb(commands.Configure, _SETTINGS),
    "inspect": _verb(commands.Inspect, {}),
}
