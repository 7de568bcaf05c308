"""The file of accounts."""

from pathlib import Path

import pytest

from tiger.api.seams.quota import Quotas
from tiger.api.settings import load, rows
from tiger.errors import InputError

ALICE, NEXT, BOB = "alice-key-0123456789", "alice-next-0123456789", "bob-key-0123456789ab"
SECRET = "whsec-" + "s" * 24
FILE = f"""
[defaults]
queued_jobs = 200
[accounts.alice]
keys = ["{ALICE}", "{NEXT}"]
webhook_secrets = ["{SECRET}"]
running_jobs = 4
processor_s_per_day = 0.5
[accounts.bob]
keys = ["{BOB}"]
"""


def write(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a file of accounts and name it in the environment."""
    path = folder / "keys.toml"
    path.write_text(text)
    monkeypatch.setenv("TIGER_KEYS_FILE", str(path))


def test_accounts_have_keys_quotas_and_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both keys of an account are of one owner; quotas that it does not state are the defaults."""
    write(tmp_path, FILE, monkeypatch)
    monkeypatch.setenv("TIGER_API_KEYS", "another-key-of-sixteen")
    settings = load()
    assert [key.owner for key in settings.keys][1:] == ["alice", "alice", "bob"]
    accounts = settings.keys_file
    assert accounts.quotas_of("alice") == Quotas(running_jobs=4, queued_jobs=200, processor_s_per_day=0.5)
    assert accounts.quotas_of("bob") == accounts.quotas_of(settings.keys[0].owner) == Quotas(queued_jobs=200)
    assert (accounts.secrets_of("alice"), accounts.secrets_of("bob")) == ((SECRET,), ())


def test_settings_show_no_key_and_no_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--show-config` names the file and its accounts alone, and nor does a repr show a secret."""
    write(tmp_path, FILE, monkeypatch)
    settings = load()
    shown = {name: value for name, value, _ in rows(settings)}["TIGER_KEYS_FILE"]
    assert shown == f"{tmp_path / 'keys.toml'} (alice, bob)"
    for secret in (ALICE, NEXT, BOB, SECRET):
        assert secret not in repr(settings) + repr(rows(settings))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("accounts = 3", "accounts: expected a table"),
        ("[account.alice]", "the file: expected accounts, defaults"),
        ("[accounts.Alice]", "expected names of up to 64 letters"),
        (f"[accounts.tiger]\nkeys = ['{ALICE}']", "expected another name than 'tiger'"),
        (f"[accounts]\n'{ALICE.upper()}' = 'alice'", "expected names of up to 64 letters"),
        (f"'{ALICE}' = 'alice'", "the file: expected accounts, defaults, got what may be a key"),
        ("[defaults]\nrunning_job = 1", "got 'running_job'"),
        (f"[accounts.alice]\n'{ALICE}' = 1", "accounts.alice: expected"),
        ("", "expected an account, or a key in TIGER_API_KEYS"),
        ("[defaults]\nqueued_jobs = 1", "expected an account, or a key in TIGER_API_KEYS"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nprocessor_s_per_day = inf", "expected a number above 0"),
        ("[accounts.alice]", "accounts.alice.keys: expected one key or more"),
        ("[accounts.alice]\nkeys = 'secret'", "accounts.alice.keys: expected a list of texts"),
        ("[accounts.alice]\nkeys = ['secret']", "accounts.alice.keys: expected keys of 16 to 256"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nkey = 1", "accounts.alice: expected"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\n[accounts.bob]\nkeys = ['{ALICE}']", "expected every key once"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nrunning_jobs = 0", "running_jobs: expected a whole number above 0"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nkept_bytes = 1.5", "kept_bytes: expected a whole number above 0"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nprocessor_s_per_day = nan", "expected a number above 0"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nwebhook_secrets = ['secret']", "at least 24 characters"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nwebhook_secrets = ['whsec_AAECAw==']", "at least 24 characters, or"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nwebhook_secrets = ['whsec_!secret']", "expected base64 after whsec_"),
        (f"[accounts.alice]\nkeys = ['{ALICE}']\nprocessor_s_per_day = 1{'0' * 400}", "and below 2**63"),
        ("keys = secret", "expected TOML"),
        ("a = " + "[" * 5000, "expected TOML"),
    ],
)
def test_a_bad_file_is_refused_without_a_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, fault: str
) -> None:
    """The entry at fault is named."""
    write(tmp_path, text, monkeypatch)
    with pytest.raises(InputError, match="TIGER_KEYS_FILE") as refusal:
        load()
    assert fault in str(refusal.value)
    assert ALICE not in str(refusal.value).lower()
    assert "!secret" not in str(refusal.value)
    assert "'secret'" not in str(refusal.value)


def test_a_key_has_one_owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key may not be an account's and among those without one."""
    write(tmp_path, FILE, monkeypatch)
    monkeypatch.setenv("TIGER_API_KEYS", BOB)
    with pytest.raises(InputError, match="TIGER_KEYS_FILE: expected every key once"):
        load()


def test_a_file_may_state_defaults_alone_for_keys_without_an_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There is somebody who has a key."""
    write(tmp_path, "[defaults]\nqueued_jobs = 1", monkeypatch)
    monkeypatch.setenv("TIGER_API_KEYS", BOB)
    (key,) = load().keys
    assert load().keys_file.quotas_of(key.owner) == Quotas(queued_jobs=1)


@pytest.mark.parametrize("name", ["TIGER_KEYS_FILE", "TIGER_DATA_DIR"])
def test_the_folder_of_nobody_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Nobody knows where it would be."""
    monkeypatch.setenv(name, "~no-such-user/keys.toml")
    with pytest.raises(InputError, match=f"{name}: expected a path"):
        load()


def test_a_missing_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service does not start without the keys that it was told of."""
    monkeypatch.setenv("TIGER_KEYS_FILE", str(tmp_path / "none.toml"))
    with pytest.raises(InputError, match="expected a file that can be read"):
        load()
