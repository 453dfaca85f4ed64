"""What can be set for the client, and what the environment says of it."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import urlsplit

from decurion.hooks import ConfigError, RunRef

from ..errors import AuthenticationFailed

Provider = Literal["anthropic", "bedrock", "vertex", "foundry"]
PROVIDERS: tuple[Provider, ...] = ("anthropic", "bedrock", "vertex", "foundry")

DEFAULT_MODEL = "claude-sonnet-5-5"
TIERS = {"opus": "claude-opus-5-5", "sonnet": DEFAULT_MODEL, "haiku": "claude-haiku-5-5"}
BUILT_FIELDS = frozenset({"messages", "system", "tools", "stream"})
"""Fields of a request that only the builder may set: the history rules hold because nobody else does."""

_ADDRESS = re.compile(r"https?://[^\s/?#]+")
OTHER_CREDENTIALS = ("ANTHROPIC_PROFILE", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE")
KEY_REMEDY = (
    "Set ANTHROPIC_API_KEY to a key from https://platform.claude.com, or ANTHROPIC_AUTH_TOKEN to a token; "
    "for a local server also ANTHROPIC_BASE_URL (any key will do there). `--model offline` needs none."
)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where requests go and what opens the door. Keys are never printed."""

    provider: Provider = "anthropic"
    base_url: str = ""
    key: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    other_credentials: bool = False
    """The SDK is to find credentials of its own (a profile, a federated identity)."""

    @classmethod
    def from_env(
        cls, env: Mapping[str, str] | None = None, provider: Provider = "anthropic", base_url: str = ""
    ) -> Endpoint:
        """Read `ANTHROPIC_API_KEY`, `ANTHROPIC_AUTH_TOKEN` and `ANTHROPIC_BASE_URL`, surrounding blanks removed.

        An empty key counts as none, so a token beside it is used.
        """
        env = os.environ if env is None else env
        return cls(
            provider=provider,
            base_url=base_url or env.get("ANTHROPIC_BASE_URL", "").strip(),
            key=env.get("ANTHROPIC_API_KEY", "").strip(),
            token=env.get("ANTHROPIC_AUTH_TOKEN", "").strip(),
            other_credentials=any(env.get(name) for name in OTHER_CREDENTIALS),
        )

    @property
    def variable(self) -> str:
        """The variable a person looks at when the door stays shut."""
        return "ANTHROPIC_AUTH_TOKEN" if self.token and not self.key else "ANTHROPIC_API_KEY"

    def check(self) -> None:
        """Refuse what cannot work, before anything is imported or sent.

        Raises:
            AuthenticationFailed: there is no key, or it holds what no key holds.
            ConfigError: the provider or the address is none.
        """
        if self.provider not in PROVIDERS:
            raise ConfigError(f"unknown provider {self.provider!r}; there are {', '.join(PROVIDERS)}")
        if self.base_url and not _is_address(self.base_url):
            raise ConfigError(
                f"ANTHROPIC_BASE_URL must be an address such as https://host:port, not {self.base_url!r}"
            )
        if self.provider != "anthropic":
            return  # the cloud's own credentials, which its SDK client looks up
        secret = self.key or self.token
        if not secret and not self.other_credentials:
            raise AuthenticationFailed(f"No API key. {KEY_REMEDY}")
        if any(not "!" <= char <= "~" for char in secret):
            raise AuthenticationFailed(
                f"{self.variable} holds a space, a line break or another character that no key has. Copy it again."
            )

    def redact(self, text: str) -> str:
        """Take the key out of a text that a server sent back."""
        for secret in filter(None, (self.key, self.token)):
            text = text.replace(secret, "[key]")
        return text


def _is_address(text: str) -> bool:
    """Whether text is an address that can be asked; a port above 65,535 or half a bracket would be tried for minutes."""
    try:
        return _ADDRESS.match(text) is not None and urlsplit(text).port != 0
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Switches:
    """What an endpoint can do. Local servers lack some of it."""

    cache: bool = True
    """Send `cache_control`."""
    thinking: bool = True
    """Send `thinking` and `output_config` where they are set."""
    streaming: bool = True
    count_tokens: bool = True
    """Have `/v1/messages/count_tokens` count a long history that was resumed."""
    diagnostics: bool = False
    """Ask why the prompt cache missed."""
    compaction: bool = True
    """Let the API sum up a history that gets too long (on-demand compaction, a beta). Asked for then and only then."""
    share_prefix: bool = True
    """Of agents that start together on the same tools and system, let the first write them to the cache."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long one model call may go on trying. Times in seconds."""

    attempts: int = 10
    seconds: float = 600.0
    """From the first try; a wait that would end later is not begun."""
    idle: float = 120.0
    """Silence after which a stream is given up. The API sends pings, so silence means a dead connection."""
    pings: float = 600.0
    """The longest that a reply may say nothing, however many pings come. A model that thinks unseen says nothing."""
    request: float = 1800.0
    """The longest a single reply may take, however lively its stream."""
    first_wait: float = 0.5
    longest_wait: float = 30.0
    fallback_after: int = 3
    """Refusals for load, in a row, after which the next fallback model is asked."""


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Everything the client needs. The model's name comes with each request."""

    endpoint: Endpoint
    model: str = DEFAULT_MODEL
    """The name the client goes by; requests name their own."""
    switches: Switches = Switches()
    patience: Patience = Patience()
    fallback_models: tuple[str, ...] = ()
    thinking: Mapping[str, Any] | None = None
    """As on the wire, for example `{"type": "adaptive"}`."""
    effort: str = ""
    """`low`, `medium`, `high`, …: passed on as `output_config.effort`. A request may say otherwise."""
    extra_body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further fields of each request, for servers that want them; they win over ours."""
    clear_above: int = 0
    """Tokens above which the API itself clears old tool results (context editing, a beta of the first party); 0: never.
    The keeper of `agents.context` does the same everywhere else."""
    width: int = 1000
    """Requests under way at once, at most."""

    def __post_init__(self) -> None:
        if clash := BUILT_FIELDS & self.extra_body.keys():
            raise ConfigError(
                f"extra_body may not set {', '.join(sorted(clash))}: the history belongs to one builder"
            )


@dataclass(frozen=True, slots=True)
class WireEvent:
    """What happened on the wire, for the log.

    `kind` is `model_request` (an accepted reply: id, model, tokens, stop reason, seconds), `retry` (reason, wait, try),
    `fallback` (from, to) or `cache_miss` (reason).
    """

    kind: Literal["model_request", "retry", "fallback", "cache_miss"]
    ref: RunRef
    data: Mapping[str, Any]


def resolve_model(name: str, env: Mapping[str, str] | None = None, inherit: str = DEFAULT_MODEL) -> str:
    """Give the wire's name for what a person or a definition wrote.

    `inherit` and nothing mean the given model; `opus`, `sonnet` and `haiku` follow `ANTHROPIC_DEFAULT_OPUS_MODEL` and
    its like, which local servers set to what they serve; anything else is taken as it stands.
    """
    env = os.environ if env is None else env
    wanted = name.strip()
    if not wanted or wanted == "inherit":
        return inherit
    if wanted.lower() in TIERS:
        return env.get(f"ANTHROPIC_DEFAULT_{wanted.upper()}_MODEL", "").strip() or TIERS[wanted.lower()]
    return wanted
