"""Read the table [rpc] of a SUT file. The table defines how the tester authenticates in RPC calls to the SUT. The
user in this table is a test user, never a real user.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.errors import UsageError
from reference_qm.rpc.authentication import NO_SECURITY, AuthLevel, AuthType, ClientSecurity, ServerSecurity
from reference_qm.shell.rpc_settings import AUTHENTICATION_LEVELS, AUTHENTICATION_TYPES, read_password
from reference_qm.shell.rpc_user import User
from reference_qm.shell.toml_values import SettingsError

PASSWORD_KEYS = ("password", "password_env", "password_file")


@dataclass(frozen=True, slots=True)
class RpcTable:
    """The table [rpc], as written in the SUT file. ``user``: ``NAME`` or ``DOMAIN\\NAME``."""

    level: Literal["none", "connect", "packet", "integrity", "privacy"] = "none"
    authentication: Literal["negotiate", "ntlm"] = "negotiate"
    user: str = ""
    password: str = field(default="", repr=False)
    password_env: str = ""
    password_file: str = ""


@dataclass(frozen=True, slots=True)
class RpcCredentials:
    """The credentials of the tester, and the user that the peer's server accepts. At authentication level none,
    ``user`` is None.
    """

    level: AuthLevel = AuthLevel.NONE
    auth_type: AuthType = AuthType.GSS_NEGOTIATE
    user: User | None = None

    @property
    def server(self) -> ServerSecurity:
        """The authentication that the reference requires from RPC clients when it is the SUT."""
        if self.user is None:
            return NO_SECURITY
        from reference_qm.shell.spnego_security import make_server_security  # the import takes long

        return make_server_security([self.user], self.level)

    @property
    def client(self) -> ClientSecurity | None:
        """The credentials with which the reference authenticates to the peer when it is the SUT."""
        if self.user is None:
            return None
        from reference_qm.shell.spnego_security import make_client_security  # the import takes long

        return make_client_security(self.auth_type, self.level, self.user)


def read_rpc_access(table: RpcTable, where: str, base: Path) -> RpcCredentials:
    """Return the credentials that a table [rpc] defines. Raise UsageError for invalid values. ``base`` is the
    folder to which password_file is relative.
    """
    if table.level == "none":
        if table.user:
            raise UsageError(
                f'{where}: rpc.user requires a level; give rpc.level, such as "privacy", or remove rpc.user'
            )
        return RpcCredentials()
    domain, _, name = table.user.rpartition("\\")
    if not name:
        raise UsageError(f'{where}: rpc.level is "{table.level}": give the test user that authenticates as rpc.user')
    given = {key: getattr(table, key) for key in PASSWORD_KEYS if getattr(table, key)}
    try:
        password = read_password(given, f"{where}: [rpc]", base)
    except SettingsError as error:
        raise UsageError(str(error)) from error
    return RpcCredentials(
        AUTHENTICATION_LEVELS[table.level], AUTHENTICATION_TYPES[table.authentication], User(name, password, domain)
    )
