"""Reads the table [rpc] of the TOML file of ``mqconform serve``, which contains ports, and the authentication of
test users.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from reference_qm.rpc.authentication import NO_SECURITY, AuthLevel, AuthType, ClientSecurity, ServerSecurity
from reference_qm.shell import toml_values as toml
from reference_qm.shell.rpc_user import User
from reference_qm.shell.toml_values import ConverterByKey, SettingsError

AUTHENTICATION_LEVELS: Mapping[str, AuthLevel] = MappingProxyType(
    {
        "none": AuthLevel.NONE,
        "connect": AuthLevel.CONNECT,
        "packet": AuthLevel.PKT,
        "integrity": AuthLevel.PKT_INTEGRITY,
        "privacy": AuthLevel.PKT_PRIVACY,
    }
)
"""The names of the authentication levels (MS-RPCE 2.2.1.1.8)."""
AUTHENTICATION_TYPES: Mapping[str, AuthType] = MappingProxyType(
    {"ntlm": AuthType.WINNT, "negotiate": AuthType.GSS_NEGOTIATE}
)
MAX_PASSWORD_CHARACTERS = 256
"""The maximum length of a password in characters; Windows has the same maximum."""
_CHARACTERS_FORBIDDEN_IN_NAMES = frozenset(':\\/"[]|<>+=;,?*@')


@dataclass(frozen=True, slots=True)
class RpcSettings:
    """The table [rpc], which contains the ports and the authentication of remote reading.

    ``port``: the port of qmcomm. ``read_port``: the port of qm2qm; its default is ``port`` + 2. The default ports
    are 2103 and 2105. If a port is in use, a later port is used. The endpoint mapper answers at both ports.
    ``mapper``: whether the endpoint mapper also answers at ``mapper_port``, for which no later port is used; port
    135 may need privileges. ``users``: the users that can authenticate. ``least_level``: the lowest accepted level.
    ``level``, ``authentication`` and ``user``: the authentication with which this queue manager calls other
    servers, and the user that it authenticates.
    """

    enabled: bool = True
    port: int = 2103
    read_port: int | None = None
    mapper: bool = False
    mapper_port: int = 135
    least_level: AuthLevel = AuthLevel.NONE
    level: AuthLevel = AuthLevel.NONE
    authentication: AuthType = AuthType.GSS_NEGOTIATE
    user: str = ""
    users: tuple[User, ...] = field(default=(), repr=False)

    @property
    def ports(self) -> tuple[int, int]:
        """The ports for qmcomm and qm2qm that the listener tries first."""
        return self.port, (self.port and self.port + 2) if self.read_port is None else self.read_port

    @property
    def server(self) -> ServerSecurity:
        """The security that the server requires from its clients."""
        if not self.users:
            return NO_SECURITY
        from reference_qm.shell.spnego_security import (
            make_server_security,
        )  # pyspnego takes long to load

        return make_server_security(self.users, self.least_level)

    @property
    def client(self) -> ClientSecurity | None:
        """The security settings of the calls that this queue manager makes, or None if the authentication level is
        ``none``.
        """
        if self.level is AuthLevel.NONE:
            return None
        from reference_qm.shell.spnego_security import (
            make_client_security,
        )  # pyspnego takes long to load

        user = next(one for one in self.users if self.user in (one.qualified_name, one.name))
        return make_client_security(self.authentication, self.level, user)


def _require_user_name(value: object) -> str:
    name = toml.require_string(value)
    if not name.isprintable() or set(name) & _CHARACTERS_FORBIDDEN_IN_NAMES:
        raise ValueError("must be a valid Windows name of a user or a domain; give the domain in the key domain")
    return name


RPC_TABLE_CONVERTERS: ConverterByKey = MappingProxyType(
    {
        "enabled": toml.require_boolean,
        "port": toml.make_integer_converter(0, 0xFFFF - 2),
        "read_port": toml.make_integer_converter(0, 0xFFFF),
        "mapper": toml.require_boolean,
        "mapper_port": toml.make_integer_converter(0, 0xFFFF),
        "least_level": toml.make_choice_converter(AUTHENTICATION_LEVELS),
        "level": toml.make_choice_converter(AUTHENTICATION_LEVELS),
        "authentication": toml.make_choice_converter(AUTHENTICATION_TYPES),
        "user": toml.require_string,
    }
)
_PASSWORD_KEYS = ("password", "password_env", "password_file")
_USER_CONVERTERS: ConverterByKey = MappingProxyType(
    {"name": _require_user_name, "domain": _require_user_name, **dict.fromkeys(_PASSWORD_KEYS, toml.require_string)}
)


def load_rpc_settings(values: Mapping[str, Any], users: object, where: str, base: Path) -> RpcSettings:
    """Return the settings of the table [rpc] from its converted values and [[rpc.users]]. ``base``: the folder that
    contains the password files.
    """
    if not isinstance(users, list):
        raise SettingsError(f"{where}: [[rpc.users]] must be a list of tables")
    known = tuple(_read_user(one, f"{where}: [[rpc.users]] {number}", base) for number, one in enumerate(users, 1))
    for number, one in enumerate(known):
        if any(one.qualified_name.lower() == other.qualified_name.lower() for other in known[:number]):
            raise SettingsError(f"{where}: [[rpc.users]] {number + 1}: user {one.qualified_name!r} is listed twice")
    rpc = RpcSettings(**values, users=known)
    if rpc.least_level is not AuthLevel.NONE and not known:
        raise SettingsError(f"{where}: [rpc] least_level needs a user that can authenticate; add [[rpc.users]]")
    names = {name for one in known for name in (one.qualified_name, one.name)}
    if rpc.level is not AuthLevel.NONE and rpc.user not in names:
        raise SettingsError(f"{where}: [rpc] user = {rpc.user!r}: it must be the name of one of [[rpc.users]]")
    return rpc


def _read_user(tree: object, place: str, base: Path) -> User:
    values = toml.convert_table(tree, _USER_CONVERTERS, place)
    if "name" not in values:
        raise SettingsError(f"{place}: name is missing")
    return User(values["name"], read_password(values, place, base), values.get("domain", ""))


def read_password(given: Mapping[str, str], place: str, base: Path) -> str:
    """Return the password. Exactly one of these keys must be present: ``password``, ``password_env`` (the name of an
    environment variable that contains the password) or ``password_file`` (the path of a file, relative to ``base``).
    Raise SettingsError, whose message never contains the password, for other settings.
    """
    ways = [key for key in _PASSWORD_KEYS if key in given]
    if len(ways) != 1:
        raise SettingsError(f"{place}: give exactly one of {', '.join(_PASSWORD_KEYS)}")
    way = ways[0]
    if way == "password":
        password = given[way]
    elif way == "password_env":
        found = os.environ.get(given[way])
        if not found:
            raise SettingsError(f"{place}: password_env: the environment variable {given[way]!r} is not set")
        password = found
    else:
        password = _read_password(base / given[way], place)
    if len(password) > MAX_PASSWORD_CHARACTERS:
        raise SettingsError(f"{place}: {way} has more than {MAX_PASSWORD_CHARACTERS} characters")
    return password


def _read_password(path: Path, place: str) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(MAX_PASSWORD_CHARACTERS + 3).rstrip("\r\n")
    except OSError as error:
        raise SettingsError(f"{place}: password_file: {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise SettingsError(f"{place}: password_file: {path} is not a text in UTF-8") from error
    if not text:
        raise SettingsError(f"{place}: password_file: {path} is empty")
    return text
