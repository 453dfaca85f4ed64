"""What replies cost, and leases that refuse the next request when they are spent.

Prices are data: `prices.toml` beside this file, and the person's own in the configuration folder. An unknown price is
`None` all the way to the screen, never zero.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar, cast

from decurion.hooks import ConfigError
from decurion.hooks.counts import counted
from decurion.hooks.regular import read_text

from .clock import Clock
from .errors import BudgetExhausted
from .model import Usage

MILLION = 1_000_000
DEFAULT_WINDOW = 200_000
"""Tokens, for a model that no table knows: small enough for most, and compaction learns from a refusal."""

CLASSES = ("input", "output", "cache_write", "cache_read")
N = TypeVar("N", int, float)

_DECORATION = re.compile(
    r"^((us|eu|apac|jp|au|global)\.)?(anthropic[./])?|(-v\d+)?(:\d+)?$|[@-](\d{8}|latest|default)$"
)


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens. `long` applies to a whole request whose prompt has more than `over` tokens."""

    input: float
    output: float
    cache_write: float
    cache_read: float
    window: int = DEFAULT_WINDOW
    over: int = 0
    long: Price | None = None

    def cost(self, usage: Usage) -> float:
        """USD of one reply."""
        prompt = usage.context_tokens - usage.output_tokens
        if self.long is not None and prompt > self.over:
            return self.long.cost(usage)
        return (
            usage.input_tokens * self.input
            + usage.output_tokens * self.output
            + usage.cache_creation_input_tokens * self.cache_write
            + usage.cache_read_input_tokens * self.cache_read
        ) / MILLION


class Prices:
    """Prices by model name."""

    def __init__(self, by_model: Mapping[str, Price]) -> None:
        self._by_model = by_model

    @classmethod
    def load(cls, config_folder: Path | None = None) -> Prices:
        """Read the shipped prices, and over them `prices.toml` of the configuration folder if it is there.

        Raises:
            ConfigError: the person's file cannot be used; names the file and what is wrong.
        """
        shipped = _shipped()
        own = config_folder / "prices.toml" if config_folder else None
        if own is None or not own.is_file():
            return cls(shipped)
        return cls({**shipped, **_parse(read_text(own), str(own))})

    def of(self, model: str) -> Price | None:
        """The price of a model, dates and providers' prefixes in its name overlooked; None if unknown."""
        return self._by_model.get(model) or self._by_model.get(plain_name(model))

    def cost(self, model: str, usage: Usage) -> float | None:
        """USD of one reply; None if the price is unknown."""
        price = self.of(model)
        return price.cost(usage) if price else None

    def window(self, model: str) -> int:
        """Tokens that fit the model's window; a cautious guess if it is unknown."""
        price = self.of(model)
        return price.window if price else DEFAULT_WINDOW


@cache
def _shipped() -> Mapping[str, Price]:
    text = files("decurion.agents").joinpath("prices.toml").read_text(encoding="utf-8")
    return _parse(text, "prices.toml")


def plain_name(model: str) -> str:
    """`us.anthropic.claude-haiku-4-5-20251001-v1:0` and the like, as `claude-haiku-4-5`."""
    name = _DECORATION.sub("", model)
    return re.sub(r"[@-](\d{8}|latest|default)$", "", name)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a lease covers; None is no limit. Tokens are those of all four classes."""

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    usd: float | None = None


class Lease:
    """What one agent may still spend. Spending counts for the parents as well, so a child can never outspend them."""

    def __init__(
        self,
        prices: Prices,
        limits: Limits | None = None,
        parent: Lease | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.prices = prices
        self.limits = limits or Limits()
        self._is_limited = self.limits != Limits()
        self.usage = Usage()
        self.turns = 0
        self._parent = parent
        self._clock = clock or Clock()
        self._began = self._clock.now()
        self._usd = 0.0
        self._unknown: dict[str, None] = {}

    @property
    def cost_usd(self) -> float | None:
        """What was spent, children included; None as soon as a price was unknown."""
        return None if self._unknown else self._usd

    def child(self, limits: Limits | None = None) -> Lease:
        """Cut a lease from what is left here: no limit of it is larger than the remainder."""
        left, asked = self.left(), limits or Limits()
        cut = Limits(
            turns=asked.turns,
            tokens=_least(asked.tokens, left.tokens),
            seconds=_least(asked.seconds, left.seconds),
            usd=_least(asked.usd, left.usd),
        )
        return Lease(self.prices, cut, self, self._clock)

    def left(self) -> Limits:
        """What is left, never below zero."""
        limits, seconds = self.limits, self._clock.now() - self._began
        return Limits(
            turns=_remainder(limits.turns, self.turns),
            tokens=_remainder(limits.tokens, self.usage.context_tokens),
            seconds=_remainder(limits.seconds, seconds),
            usd=_remainder(limits.usd, self._usd),
        )

    def check(self) -> None:
        """Let the next request pass, or refuse it.

        Raises:
            BudgetExhausted: this lease or one it was cut from is spent, or its money cannot be counted.
        """
        if self._is_limited:
            self._check_own()
        if self._parent:
            self._parent.check()

    def spend(self, model: str, usage: Usage) -> None:
        """Count one accepted reply, here and in all leases this one was cut from."""
        self.turns += 1
        self.charge(model, usage, self.prices.cost(model, usage))

    def charge(self, model: str, usage: Usage, cost: float | None) -> None:
        """Count tokens and money, but no turn: a warm-up, a summary, a child's reply."""
        self.usage += usage
        self._usd += cost or 0.0
        if cost is None:
            self._unknown[model] = None
        if self._parent:
            self._parent.charge(model, usage, cost)

    def _check_own(self) -> None:
        limits = self.limits
        if limits.usd is not None and self._unknown:
            raise BudgetExhausted(
                f"The price of {', '.join(self._unknown)} is unknown, so a budget of ${limits.usd:g} cannot be kept. "
                "Add it to prices.toml in the configuration folder."
            )
        for limit, spent, unit in (
            (limits.turns, self.turns, "turn"),
            (limits.tokens, self.usage.context_tokens, "token"),
            (limits.seconds, self._clock.now() - self._began, "second"),
            (limits.usd, self._usd, "dollar"),
        ):
            if limit is not None and spent >= limit:
                raise BudgetExhausted(f"The budget of {counted(limit, unit)} is spent.")


def _least(asked: N | None, left: N | None) -> N | None:
    return min((value for value in (asked, left) if value is not None), default=None)


def _remainder(limit: N | None, spent: N) -> N | None:
    return None if limit is None else max(limit - spent, type(limit)(0))


def _parse(text: str, path: str) -> dict[str, Price]:
    try:
        said = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"not valid TOML: {error}", path) from error
    models: Any = said.pop("models", {})
    if (
        said
        or not isinstance(models, dict)
        or not all(isinstance(fields, dict) for fields in cast("Any", models).values())
    ):
        raise ConfigError('it holds tables such as [models."NAME"] and nothing else', path)
    return {
        name: _price(name, fields, path) for name, fields in cast("dict[str, dict[str, Any]]", models).items()
    }


def _price(name: str, fields: Mapping[str, Any], path: str) -> Price:
    try:
        base, long = _classes(fields), fields.get("long")
        window = int(fields.get("window", DEFAULT_WINDOW))
        return (
            Price(*base, window)
            if long is None
            else Price(*base, window, int(long["over"]), Price(*_classes(long)))
        )
    except (KeyError, TypeError, ValueError) as error:
        told = (
            f"models.{name} needs the numbers {', '.join(CLASSES)} (USD per million tokens); wrong: {error}"
        )
        raise ConfigError(told, path) from error


def _classes(fields: Mapping[str, Any]) -> tuple[float, float, float, float]:
    return (
        _amount(fields["input"]),
        _amount(fields["output"]),
        _amount(fields["cache_write"]),
        _amount(fields["cache_read"]),
    )


def _amount(value: Any) -> float:
    """Give a price; one that is no number, or below zero, would let any budget last for ever."""
    price = float(value)
    if not (price >= 0 and isfinite(price)):
        raise ValueError(value)
    return price
