"""The table [rpc] of ``serve``: users, their passwords, and the levels."""

from __future__ import annotations

from pathlib import Path

import pytest

from reference_qm.rpc.authentication import AuthLevel, AuthType
from reference_qm.shell.rpc_settings import RpcSettings
from reference_qm.shell.rpc_user import User
from reference_qm.shell.settings import ServeSettings, SettingsError, load_settings
from reference_qm.surface.entropy import SeededEntropy

ALICE = '[[rpc.users]]\nname = "alice"\n'


def loaded(tmp_path: Path, text: str) -> ServeSettings:
    path = tmp_path / "qm.toml"
    path.write_text(text, encoding="utf-8")
    return load_settings(path, {}, SeededEntropy("settings"))


def test_rpc_has_no_authentication_by_default(tmp_path):
    settings = loaded(tmp_path, "[rpc]\nport = 4\n")
    assert settings.rpc == RpcSettings(port=4)
    assert settings.config.rpc_client is None
    assert settings.config.rpc_server.accept(AuthType.WINNT, AuthLevel.CONNECT) is None


def test_rpc_settings_read_users_levels_and_authentication(tmp_path, monkeypatch):
    monkeypatch.setenv("MQC_SECRET", "from the environment")
    (tmp_path / "secret.txt").write_text("from a file\r\n", encoding="utf-8")
    settings = loaded(
        tmp_path,
        f"""
        [rpc]
        least_level = "integrity"
        level = "privacy"
        authentication = "ntlm"
        user = "CONTOSO\\\\carol"
        {ALICE}
        password = "written"
        [[rpc.users]]
        name = "bob"
        password_env = "MQC_SECRET"
        [[rpc.users]]
        name = "carol"
        domain = "CONTOSO"
        password_file = "secret.txt"
        """,
    )
    users = User("alice", "written"), User("bob", "from the environment"), User("carol", "from a file", "CONTOSO")
    assert settings.rpc.users == users
    assert settings.config.rpc_server.least_level is AuthLevel.PKT_INTEGRITY
    assert settings.config.rpc_server.accept(AuthType.WINNT, AuthLevel.CONNECT) is not None
    client = settings.config.rpc_client
    assert client is not None
    assert (client.auth_type, client.level) == (AuthType.WINNT, AuthLevel.PKT_PRIVACY)
    assert not any(secret in repr(settings) for secret in ("written", "from the environment", "from a file"))


@pytest.mark.parametrize(
    ("rpc", "said"),
    [
        ("[rpc]\nleast_level = 'privacy'", "least_level needs a user that can authenticate; add [[rpc.users]]"),
        ("[rpc]\nleast_level = 'most'", "must be one of none, connect, packet, integrity, privacy"),
        ("[rpc]\nauthentication = 'kerberos'", "must be one of ntlm, negotiate"),
        ("[rpc]\nlevel = 'privacy'\nuser = 'nobody'", "must be the name of one of [[rpc.users]]"),
        (ALICE, "give exactly one of password, password_env, password_file"),
        (f"{ALICE}password = 'x'\npassword_env = 'Y'", "give exactly one of password, password_env, password_file"),
        (f"{ALICE}password_env = 'MQC_NOT_SET'", "the environment variable 'MQC_NOT_SET' is not set"),
        (f"{ALICE}password_file = 'missing.txt'", "missing.txt cannot be read"),
        (f"{ALICE}password = '{'x' * 257}'", "more than 256 characters"),
        ("[[rpc.users]]\nname = 'a:b'\npassword = 'x'", "must be a valid Windows name of a user"),
        ("[[rpc.users]]\nname = \"a\\n\"\npassword = 'x'", "must be a valid Windows name of a user"),
        ("[[rpc.users]]\npassword = 'x'", "name is missing"),
        (f"{ALICE}password = 'x'\n[[rpc.users]]\nname = 'ALICE'\npassword = 'y'", "user 'ALICE' is listed twice"),
        ("[rpc]\nusers = 3", "must be a list of tables"),
    ],
)
def test_unusable_rpc_setting_gives_one_line_error(tmp_path, rpc, said):
    with pytest.raises(SettingsError) as caught:
        loaded(tmp_path, rpc)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\xff\xfe"])
def test_rpc_password_file_without_a_password_is_refused(tmp_path, content):
    (tmp_path / "secret.txt").write_bytes(content)
    with pytest.raises(SettingsError, match=r"is empty|not a text in UTF-8"):
        loaded(tmp_path, f"{ALICE}password_file = 'secret.txt'")
