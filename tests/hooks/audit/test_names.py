"""Names that name a secret, and names that only hold one of the words: in texts, fields of data and the environment."""

from __future__ import annotations

import pytest

from decurion.hooks.audit import Redactor

VALUE = "abcd1234EFGH5678"
SECRET = """
    API_KEY APIKEY api-key apiKey X-Api-Key STRIPE_KEY MAILGUN_KEY APP_KEY RAILS_MASTER_KEY ENCRYPTION_KEY SSH_KEY
    PRIVATE_KEY PRIVKEY HMAC_KEY GITHUB_TOKEN GITHUBTOKEN TOKEN TOKEN_1 TOKENS API_TOKENS X-Auth-Token accessToken
    _authToken npm_config__authToken NPM_AUTH _auth BASIC_AUTH GITHUB_PAT AZURE_DEVOPS_EXT_PAT DB_PW SMTP_PASSWD DB_PASS
    DBPASS PGPASSWORD MYSQL_PWD password_prod DB_PASSWORD_NEW dbPassword PASSPHRASE SECRET_KEY_BASE JWT_SECRET
    clientSecret AWS_SECRET_ACCESS_KEY CREDENTIALS DB_CREDS AWS_CRED PASSWORD_URL_TOKEN PUBLISH_TOKEN
""".split()
SECRET_VARIABLES = (
    "SESSION_COOKIE DB_CONNECTION_STRING SENTRY_DSN JWT HASH_SALT ADMIN_PIN DOCKER_AUTH_CONFIG".split()
)
HARMLESS = """
    GIT_AUTHOR_EMAIL GIT_AUTHOR_NAME AUTHOR AUTHORITY XAUTHORITY OAUTH_CALLBACK AUTH_TYPE AUTHENTICATION_CLASSES
    KEYBOARD KEYBOARD_LAYOUT api_keyboard MONKEY DONKEY HOTKEY TURKEY KEYMAP KEYWORDS KEYTIMEOUT KEYCLOAK_REALM
    PUBLIC_KEY SSH_PUBLIC_KEY NEXT_PUBLIC_API_KEY KEY_COUNT API_KEY_COUNT API_KEY_NAME apiKeyHeader KEY_PREFIX
    PRIMARY_KEY SORT_KEY CACHE_KEY encryption_key_size private_key_type authority_key_identifier PRIVATE_KEY_PATH
    TOKENIZER TOKENIZER_MODEL TOKENIZERS_PARALLELISM TOKEN_LIMIT TOKEN_EXPIRES_AT tokenEndpoint TOKEN_TTL
    PASSENGER_APP_ENV BYPASS COMPASS COMPASS_HEADING PASSTHROUGH PASSES PASSWORD_HASHERS PASSWORD_RESET_TIMEOUT
    password_hint password_changed_at PASSWORD_MIN_LENGTH PASSWORD_STORE_DIR SECRETARY SECRET_NAME secret_scanning
    CREDITS credits_per_user CREDENTIAL_HELPER COOKIE_DOMAIN SHIPPING OPINION INCLUDE_PATTERN GIT_PATCH_LEVEL LIB_PATHS
""".split()
HARMLESS_VALUES = [
    ("MAX_TOKENS", "100000"),
    ("OPENAI_MAX_OUTPUT_TOKENS", "64000000"),
    ("TOKENS", "12345678"),
    ("APP_KEY", "reader@example.com"),
    ("AUTH_SERVICE", "https://auth.example/v1"),
    ("USE_AUTH", "disabled"),
    ("SSH_KEY", "/home/me/.ssh/id_ed25519"),
]


@pytest.fixture
def redactor() -> Redactor:
    return Redactor({})


@pytest.mark.parametrize("name", SECRET)
def test_what_is_assigned_to_the_name_of_a_secret_is_removed(redactor: Redactor, name: str) -> None:
    for text in (f"export {name}={VALUE}", f'{name}: "{VALUE}"', f"run --{name} {VALUE}"):
        assert VALUE not in redactor.clean_text(text)
    assert VALUE not in redactor.clean({name: VALUE})[name]


@pytest.mark.parametrize("name", [*SECRET, *SECRET_VARIABLES])
def test_the_value_of_a_variable_named_like_a_secret_is_removed_everywhere(name: str) -> None:
    text = f"echo {VALUE}"
    assert Redactor({name: VALUE}).clean_text(text) == f"echo [redacted:env:{name}]"


@pytest.mark.parametrize("name", HARMLESS)
def test_a_name_that_only_holds_such_a_word_tells_of_no_secret(redactor: Redactor, name: str) -> None:
    value = VALUE.lower()
    for text in (f"export {name}={value}", f'{name}: "{value}"', f"run --{name} {value}"):
        assert redactor.clean_text(text) == text
    assert redactor.clean({name: value}) == {name: value}
    assert Redactor({name: value}).clean_text(f"echo {value}") == f"echo {value}"


@pytest.mark.parametrize(("name", "value"), HARMLESS_VALUES)
def test_a_number_an_address_or_a_path_is_no_secret_whatever_its_name(
    redactor: Redactor, name: str, value: str
) -> None:
    for text in (
        f"export {name}={value}",
        f"{name}: {value}",
        f"run --{name.lower().replace('_', '-')} {value}",
    ):
        assert redactor.clean_text(text) == text
    assert Redactor({name: value}).clean_text(f"echo {value}") == f"echo {value}"


@pytest.mark.parametrize("text", ["tests pass=1234 fail=3", "first_pass=12.5%", "CAM_PASS=0x00010000"])
def test_how_many_passed_is_no_password(redactor: Redactor, text: str) -> None:
    assert redactor.clean_text(text) == text


@pytest.mark.parametrize(
    "text", ["DB_PASS=123456", "--pass 123456", "PASSWORD=100000", "PGPASSWORD=31415926"]
)
def test_a_password_may_be_a_number(redactor: Redactor, text: str) -> None:
    assert "[redacted:password]" in redactor.clean_text(text)
    assert Redactor({"DB_PASS": "123456"}).clean_text("x 123456") == "x [redacted:env:DB_PASS]"
