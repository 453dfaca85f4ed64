"""Planted secrets of many kinds, none of them real, and harmless strings that look alike. Made from a seed."""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable
from typing import NamedTuple

LETTERS = string.ascii_letters
ALNUM = LETTERS + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
BASE64 = ALNUM + "+/"
URL = ALNUM + "-_"


class Planted(NamedTuple):
    """`core` must not be found afterwards; `text` is how it is written."""

    kind: str
    core: str
    text: str


class Maker:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def chars(self, alphabet: str, count: int) -> str:
        return "".join(self.rng.choice(alphabet) for _ in range(count))

    def digits(self, count: int) -> str:
        return str(self.rng.randrange(10 ** (count - 1), 10**count))

    def uuid(self) -> str:
        return "-".join(self.chars(HEX, count) for count in (8, 4, 4, 4, 12))

    def jwt(self) -> str:
        parts = (
            {"alg": "HS256", "typ": "JWT"},
            {"sub": self.chars(ALNUM, 8), "iat": self.rng.randrange(10**9)},
        )
        return ".".join([*(_b64(json.dumps(part)) for part in parts), self.chars(URL, 43)])


def _b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


# kind -> the secret; those with a context are told apart by it alone
SHAPED: dict[str, Callable[[Maker], str]] = {
    "aws key id": lambda m: "AKIA" + m.chars(UPPER, 16),
    "aws temporary key id": lambda m: "ASIA" + m.chars(UPPER, 16),
    "github classic": lambda m: "ghp_" + m.chars(ALNUM, 36),
    "github app": lambda m: "ghs_" + m.chars(ALNUM, 36),
    "github fine-grained": lambda m: "github_pat_" + m.chars(ALNUM, 22) + "_" + m.chars(ALNUM, 59),
    "gitlab": lambda m: "glpat-" + m.chars(URL, 20),
    "slack bot": lambda m: f"xoxb-{m.digits(12)}-{m.digits(12)}-{m.chars(ALNUM, 24)}",
    "stripe live": lambda m: "sk_live_" + m.chars(ALNUM, 24),
    "stripe restricted": lambda m: "rk_live_" + m.chars(ALNUM, 24),
    "openai legacy": lambda m: "sk-" + m.chars(ALNUM, 20) + "T3BlbkFJ" + m.chars(ALNUM, 20),
    "openai project": lambda m: "sk-proj-" + m.chars(URL, 74),
    "anthropic": lambda m: "sk-ant-api03-" + m.chars(URL, 93) + "AA",
    "google api": lambda m: "AIza" + m.chars(URL, 35),
    "google client secret": lambda m: "GOCSPX-" + m.chars(URL, 28),
    "jwt": lambda m: m.jwt(),
    "npm": lambda m: "npm_" + m.chars(ALNUM, 36),
    "pypi": lambda m: "pypi-AgEIcHlwaS5vcmc" + m.chars(URL, 60),
    "sendgrid": lambda m: "SG." + m.chars(URL, 22) + "." + m.chars(URL, 43),
    "twilio": lambda m: "SK" + m.chars(HEX, 32),
    "telegram": lambda m: m.digits(10) + ":AA" + m.chars(URL, 33),
    "discord": lambda m: "M" + m.chars(ALNUM, 23) + "." + m.chars(ALNUM, 6) + "." + m.chars(URL, 27),
    "mailchimp": lambda m: m.chars(HEX, 32) + "-us14",
    "square": lambda m: "sq0atp-" + m.chars(URL, 22),
    "digitalocean": lambda m: "dop_v1_" + m.chars(HEX, 64),
    "huggingface": lambda m: "hf_" + m.chars(LETTERS, 34),
    "databricks": lambda m: "dapi" + m.chars(HEX, 32),
    "shopify": lambda m: "shpat_" + m.chars(HEX, 32),
    "vault": lambda m: "hvs." + m.chars(URL, 90),
    "age": lambda m: "AGE-SECRET-KEY-1" + m.chars("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
    "grafana": lambda m: "glsa_" + m.chars(ALNUM, 32) + "_" + m.chars(HEX, 8),
    "new relic": lambda m: "NRAK-" + m.chars(UPPER, 27),
    "linear": lambda m: "lin_api_" + m.chars(ALNUM, 40),
    "artifactory": lambda m: "AKCp" + m.chars(ALNUM, 69),
    "docker": lambda m: "dckr_pat_" + m.chars(URL, 27),
    "figma": lambda m: "figd_" + m.chars(URL, 40),
    "postman": lambda m: f"PMAK-{m.chars(HEX, 24)}-{m.chars(HEX, 34)}",
}
CONTEXTUAL: dict[str, Callable[[Maker], tuple[str, str]]] = {
    "aws secret": lambda m: _in(m.chars(BASE64, 40), "export AWS_SECRET_ACCESS_KEY={}"),
    "azure storage": lambda m: _in(m.chars(BASE64, 86), "AccountName=x;AccountKey={}==;EndpointSuffix=core"),
    "heroku": lambda m: _in(m.uuid(), "HEROKU_API_KEY={}"),
    "npm legacy": lambda m: _in(m.uuid(), "//registry.npmjs.org/:_authToken={}"),
    "datadog": lambda m: _in(m.chars(HEX, 32), "DD_API_KEY={} run"),
    "url": lambda m: _in(m.chars(ALNUM, 12), "git clone https://me:{}@example.invalid/x"),
    "env password": lambda m: _in(m.chars(ALNUM, 10), "DB_PASSWORD={} psql"),
    "yaml password": lambda m: _in(m.chars(ALNUM, 9), "password: '{}'"),
    "json secret": lambda m: _in(m.chars(ALNUM, 24), '{{"client_secret": "{}"}}'),
    "flag": lambda m: _in(m.chars(ALNUM, 24), "tool --token {} run"),
    "bearer": lambda m: _in(m.chars(URL, 40), "curl -H 'Authorization: Bearer {}' localhost"),
    "basic": lambda m: _in(m.chars(BASE64, 32), "curl -H 'Authorization: Basic {}' localhost"),
    "mysql": lambda m: _in(m.chars(ALNUM, 10), "mysql -u root -p{} db"),
    "curl": lambda m: _in(m.chars(ALNUM, 10), "curl -u admin:{} localhost"),
    "sshpass": lambda m: _in(m.chars(ALNUM, 10), "sshpass -p {} ssh host"),
    "slack webhook": lambda m: _in(
        m.chars(ALNUM, 24), "https://hooks.slack.com/services/T0AAAAAAA/B0AAAAAAA/{}"
    ),
    "private key": lambda m: _in(
        m.chars(BASE64, 64), "-----BEGIN RSA PRIVATE KEY-----\n{}\nMIIE\n-----END RSA PRIVATE KEY-----"
    ),
}
PLACES = (
    "{}",
    "export X='{}'",
    "echo {} | tee f",
    "curl -H 'X: {}' localhost",
    "--flag={}",
    "a\n{}\nb",
    '"{}"',
    "f({})",
)
HARMLESS: tuple[Callable[[Maker], str], ...] = (
    lambda m: "git show " + m.chars(HEX, 40),
    lambda m: "sha256:" + m.chars(HEX, 64),
    lambda m: m.chars(HEX, 32),
    lambda m: m.uuid(),
    lambda m: "sha512-" + m.chars(BASE64, 86) + "==",
    lambda m: base64.b64encode(m.rng.randbytes(24)).decode(),
    lambda m: base64.urlsafe_b64encode(m.rng.randbytes(32)).decode(),
    lambda m: "data:image/png;base64," + m.chars(BASE64, 200) + "=",
    lambda m: f"/usr/lib/{m.chars(string.ascii_lowercase, 8)}/{m.chars(ALNUM, 20)}/{m.chars(URL, 12)}.so",
    lambda m: "toolu_01" + m.chars(ALNUM, 22),
    lambda m: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{m.chars(BASE64, 43)} me@host",
    lambda m: f"token = tokens[{m.digits(3)}]",
    lambda m: f"password = form.cleaned_data['pw{m.digits(1)}']",
    lambda m: f"max_tokens={m.digits(4)} api_key=settings.API_KEY",
    lambda m: f"def test_token_count_{m.digits(4)}(secret_name: str) -> None: ...",
    lambda m: f"grep -rn 'password' src | head -{m.digits(2)}",
    lambda m: f"export TOKEN=$(cat /run/secrets/token{m.digits(1)})",
    lambda m: f"curl -u $USER:$PASS https://example.invalid/{m.digits(5)}",
)


def _in(core: str, template: str) -> tuple[str, str]:
    return core, template.format(core)


def planted(seed: int, rounds: int) -> list[Planted]:
    """Give `rounds` secrets of every kind, the shaped ones in changing places."""
    maker, found = Maker(seed), list[Planted]()
    for number in range(rounds):
        for index, (kind, make) in enumerate(SHAPED.items()):
            secret = make(maker)
            place = PLACES[(number + index) % len(PLACES)]
            found.append(Planted(kind, secret, place.replace("{}", secret)))
        for kind, make_both in CONTEXTUAL.items():
            found.append(Planted(kind, *make_both(maker)))
    return found


def harmless(seed: int, rounds: int) -> list[str]:
    maker = Maker(seed)
    return [make(maker) for _ in range(rounds) for make in HARMLESS]
