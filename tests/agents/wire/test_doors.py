"""Keys, addresses, providers and model names: what is read from where, and how refusals are told."""

from __future__ import annotations

from typing import Any, cast

import pytest

from decurion.agents.claude import ClientSettings, Endpoint, connect, resolve_model
from decurion.agents.errors import AuthenticationFailed
from decurion.agents.messages_api import say
from decurion.hooks import ConfigError
from tests.loopback import wired


@pytest.mark.parametrize("env", [{}, {"ANTHROPIC_API_KEY": ""}, {"ANTHROPIC_API_KEY": " \n"}])
def test_without_a_key_one_line_names_the_variable_and_the_sdk_is_not_even_loaded(
    env: dict[str, str],
) -> None:
    """BUG-69."""
    with pytest.raises(AuthenticationFailed) as caught:
        connect(ClientSettings(Endpoint.from_env(env)))
    assert "ANTHROPIC_API_KEY" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_trailing_newline_of_a_key_is_removed() -> None:
    assert Endpoint.from_env({"ANTHROPIC_API_KEY": "sk-1\n"}).key == "sk-1"


@pytest.mark.parametrize("key", ["sk-1\nsk-2", "sk 1", "sk-\u00e9", "sk-\x00"])
def test_a_key_that_no_key_looks_like_is_refused_without_showing_it(key: str) -> None:
    with pytest.raises(AuthenticationFailed, match="ANTHROPIC_API_KEY") as caught:
        Endpoint.from_env({"ANTHROPIC_API_KEY": key}).check()
    assert "sk" not in str(caught.value)


def test_a_token_is_used_where_the_key_is_empty() -> None:
    endpoint = Endpoint.from_env({"ANTHROPIC_API_KEY": "", "ANTHROPIC_AUTH_TOKEN": "ollama"})
    endpoint.check()
    assert endpoint.variable == "ANTHROPIC_AUTH_TOKEN"


def test_secrets_do_not_show_in_a_repr() -> None:
    assert "sk-1" not in repr(ClientSettings(Endpoint(key="sk-1", token="sk-1", headers={"a": "sk-1"})))


@pytest.mark.parametrize("url", ["localhost:8080", "ftp://x", "file:///etc"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ConfigError, match="ANTHROPIC_BASE_URL"):
        Endpoint(base_url=url, key="k").check()


def test_an_unknown_provider_is_refused_with_those_there_are() -> None:
    with pytest.raises(ConfigError, match="bedrock, vertex, foundry"):
        Endpoint(provider=cast("Any", "azure"), key="k").check()  # as from a command line


def test_the_history_cannot_be_set_from_extra_body() -> None:
    with pytest.raises(ConfigError, match="messages"):
        ClientSettings(Endpoint(key="k"), extra_body={"messages": []})


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("", "lead-model"),
        ("inherit", "lead-model"),
        ("Haiku", "local-small"),
        ("sonnet", "claude-sonnet-5-5"),
        ("qwen3:8b", "qwen3:8b"),
    ],
)
def test_model_names_are_resolved_for_their_role(name: str, expected: str) -> None:
    env = {"ANTHROPIC_DEFAULT_HAIKU_MODEL": "local-small"}
    assert resolve_model(name, env, "lead-model") == expected


@pytest.mark.anyio
async def test_the_providers_of_clouds_are_reached_through_the_sdks_own_clients(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bedrock moves the model into the path and the version into the body; our bytes become its fields."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_REGION", "eu-central-1")
    async with wired(say("unused")) as api:
        endpoint = Endpoint(provider="bedrock", base_url=api.api.url)
        async with wired(say("unused"), endpoint=endpoint) as wire:
            with pytest.raises(Exception, match=r"404|model"):
                await wire.ask()
        seen = api.api.requests[0]
        assert seen.path == "/model/claude-sonnet-5-5/invoke-with-response-stream"
        assert seen.body["anthropic_version"]
        assert seen.body["messages"][0]["role"] == "user"


@pytest.mark.anyio
async def test_foundry_speaks_the_messages_api_at_its_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_FOUNDRY_API_KEY", "foundry-key")
    async with wired(say("From Foundry.")) as api:
        endpoint = Endpoint(provider="foundry", base_url=api.api.url)
        async with wired(say("unused"), endpoint=endpoint) as wire:
            assert (await wire.ask()).text == "From Foundry."
