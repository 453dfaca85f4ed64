"""Prices and leases."""

from __future__ import annotations

from pathlib import Path

import pytest

from decurion.agents.clock import Clock
from decurion.agents.errors import BudgetExhausted
from decurion.agents.model import Usage
from decurion.agents.money import DEFAULT_WINDOW, Lease, Limits, Prices
from decurion.hooks import ConfigError

SONNET = "claude-sonnet-5-5"
LEAD = Usage(3, 81, 109_075, 0)


def test_the_four_classes_are_priced_apart() -> None:
    """BUG-67."""
    usage = Usage(1_000_000, 1_000_000, 1_000_000, 1_000_000)
    assert Prices.load().cost(SONNET, usage) == pytest.approx(2.0 + 10.0 + 2.5 + 0.1)
    assert Prices.load().cost(SONNET, LEAD) == pytest.approx((3 * 2 + 81 * 10 + 109_075 * 2.5) / 1e6)


@pytest.mark.parametrize(
    "name",
    [
        "us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5@20251001",
        "anthropic/claude-haiku-4-5",
    ],
)
def test_dates_and_prefixes_of_providers_are_overlooked(name: str) -> None:
    prices = Prices.load()
    assert prices.of(name) == prices.of("claude-haiku-4-5")


def test_an_unknown_price_is_unknown_and_no_zero() -> None:
    prices = Prices.load()
    assert prices.cost("claude-sonnet-5-5000", LEAD) is None
    assert prices.window("who-knows") == DEFAULT_WINDOW
    lease = Lease(prices)
    lease.spend(SONNET, LEAD)
    lease.spend("who-knows", LEAD)
    assert lease.cost_usd is None
    assert lease.usage == LEAD + LEAD


def test_long_prompts_cost_what_they_cost() -> None:
    price = Prices.load().of("claude-haiku-5-5")
    assert price is not None
    assert price.cost(Usage(100_000, 0)) == pytest.approx(0.01)
    assert price.cost(Usage(60_000, 0, 0, 60_000)) == pytest.approx((60_000 * 0.5 + 60_000 * 0.05) / 1e6)


def test_a_persons_own_prices_add_and_replace(tmp_path: Path) -> None:
    own = "[models.local]\ninput = 1\noutput = 2\ncache_write = 0\ncache_read = 0\nwindow = 32000\n"
    (tmp_path / "prices.toml").write_text(own)
    prices = Prices.load(tmp_path)
    assert (prices.window("local"), prices.cost("local", Usage(1_000_000, 1_000_000))) == (32_000, 3.0)
    assert prices.of(SONNET)


FREE = "output = 0\ncache_write = 0\ncache_read = 0\n"


@pytest.mark.parametrize(
    "text",
    [
        "[models",
        "[models.x]\ninput = 1\n",
        '[models.x]\ninput = "much"\n',
        f"[models.x]\ninput = nan\n{FREE}",
        f"[models.x]\ninput = -1\n{FREE}",
        f"[x]\ninput = 1\n{FREE}",
        "models = 5",
        "[models]\nx = 5",
        b"\xff",
    ],
)
def test_a_broken_price_file_is_named_with_what_is_wrong(tmp_path: Path, text: str | bytes) -> None:
    path = tmp_path / "prices.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=r"prices\.toml"):
        Prices.load(tmp_path)


@pytest.mark.parametrize(
    ("limits", "told"),
    [
        (Limits(tokens=109_159), "109,159 tokens"),
        (Limits(usd=0.2), "0.2 dollars"),
        (Limits(turns=1), "1 turn is"),
    ],
)
def test_the_next_request_is_refused_when_the_lease_is_spent(limits: Limits, told: str) -> None:
    lease = Lease(Prices.load(), limits)
    lease.check()
    lease.spend(SONNET, LEAD)
    with pytest.raises(BudgetExhausted, match=told):
        lease.check()


def test_children_count_for_their_parent_and_stop_with_it() -> None:
    """BUG-67."""
    lead = Lease(Prices.load(), Limits(usd=1.0))
    one, two = lead.child(Limits(turns=30, usd=5.0)), lead.child()
    assert one.limits == Limits(turns=30, usd=1.0)
    for _ in range(4):
        one.spend(SONNET, LEAD)
    assert lead.cost_usd == pytest.approx(4 * 0.2735035)
    assert two.cost_usd == 0
    assert lead.turns == 0
    with pytest.raises(BudgetExhausted):
        two.check()
    assert lead.child().limits.usd == 0


def test_a_dollar_budget_with_an_unknown_price_says_what_to_add() -> None:
    lease = Lease(Prices.load(), Limits(usd=1.0))
    lease.spend("who-knows", LEAD)
    with pytest.raises(BudgetExhausted, match=r"who-knows.*prices\.toml"):
        lease.check()


def test_time_is_counted_from_the_start_of_the_lease() -> None:
    now = [100.0]
    lease = Lease(Prices.load(), Limits(seconds=60), clock=Clock(now=lambda: now[0]))
    now[0] += 59
    lease.check()
    assert lease.child().limits.seconds == 1
    now[0] += 1
    with pytest.raises(BudgetExhausted, match="60 seconds"):
        lease.check()
