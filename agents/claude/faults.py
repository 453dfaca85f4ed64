"""What went wrong with a request, by name: foreign errors are translated here and nowhere else.

The SDK's own errors are not enough: a dropped stream is an error of its transport, a broken event one of `json`, an
odd order of events a plain `RuntimeError`; what `accumulate_event` makes of nonsense is any of a dozen.
"""

from __future__ import annotations

import errno
import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite
from time import time
from typing import Any, cast

import anthropic
import httpx2

from ..errors import (
    AuthenticationFailed,
    BadRequest,
    ContextOverflow,
    ModelError,
    Overloaded,
    RefusedImages,
    StaleBlocks,
    UnknownModel,
    Unreachable,
)
from .door import SentElsewhere
from .reply import ErrorReply, Garbled, object_of
from .settings import KEY_REMEDY, Endpoint
from .stream import NotAnApi

STATUS_OF_TYPE = {  # an `error` event comes in a stream that began with 200; its type says what the status would be
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
TOO_LONG = re.compile(
    r"prompt is too long|too many tokens|context (length|window|size)|exceed\w* .*(context|maximum.*tokens)"
    r"|request_too_large|maximum prompt length",
    re.IGNORECASE,
)
PAGE = re.compile(r"\s*<(!doctype|html|head|body|\?xml)", re.IGNORECASE)
TITLE = re.compile(r"<title[^>]*>([^<]*)</title", re.IGNORECASE)
UNBOUND = re.compile(
    r"bound to a different conversation|Invalid `signature` in `thinking`|`thinking` .*cannot be modified|compaction"
)
IMAGES = re.compile(r"\bimages?\b", re.IGNORECASE)
LOAD = frozenset({429, 503, 529})
NOT_OFFERED = 501
NO_HEADERS: Mapping[str, str] = {}
TROUBLES = {
    408: "The API gave up waiting for the request",
    409: "The API is busy with a request in conflict with this one",
    425: "The API does not take the request yet",
    429: "The API limits the rate of this key",
    501: "The server does not offer this",
    503: "The API is not available",
    504: "The API took too long",
    529: "The API is overloaded",
}
BROKEN = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED})
WORTH_RETRYING = frozenset({408, 409, 425, 429})


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed try: the error to end with, whether another try may help, and how long the server asks to wait."""

    error: ModelError
    retry: bool = False
    load: bool = False
    """The server is busy (429, 503, 529): everybody is to slow down."""
    retry_after: float | None = None


class Failed(Exception):  # carried through tenacity to the one place that reads it
    """Raised for each failed try."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(str(failure.error))
        self.failure = failure


def failure_of(error: Exception, endpoint: Endpoint, model: str) -> Failure:
    """Say what an error means; `error` is anything that came out of the SDK while a request was made or read."""
    where = endpoint.base_url or f"the {endpoint.provider} API"
    if isinstance(error, anthropic.APIStatusError):
        return _status_failure(error, endpoint, model)
    if isinstance(error, ErrorReply):
        kind, said = _error_in(error.body)
        status = STATUS_OF_TYPE.get(kind) or _code_in(error.body)
        return _named(status, endpoint.redact(said), endpoint, model, error.headers)
    if isinstance(error, (anthropic.CredentialsError, TypeError)) and "auth" in str(error).lower():
        return Failure(AuthenticationFailed(f"No API key. {KEY_REMEDY}"))
    if isinstance(error, (anthropic.APIConnectionError, httpx2.HTTPError, OSError, NotAnApi)):
        return _connection_failure(error, where)
    if isinstance(
        error, (Garbled, ValueError, LookupError, TypeError, AttributeError, RuntimeError, AssertionError)
    ):
        return Failure(
            Overloaded(f"{where} sent a reply that is not whole ({_say(error)}). Try again."), retry=True
        )
    text = endpoint.redact(_say(error))
    return Failure(Overloaded(f"{where}: {text}"), retry=True)


def _status_failure(error: anthropic.APIStatusError, endpoint: Endpoint, model: str) -> Failure:
    kind, said = _error_in(error.body)
    said = said or _words(error.message.removeprefix(f"Error code: {error.status_code}").removeprefix(" - "))
    if 300 <= error.status_code < 400:
        where = endpoint.base_url or f"the {endpoint.provider} API"
        return Failure(
            Unreachable(
                f"{where} sends elsewhere ({error.status_code}), but not where. Check ANTHROPIC_BASE_URL."
            )
        )
    status = error.status_code if error.status_code >= 400 else STATUS_OF_TYPE.get(kind, 500)
    return _named(status, endpoint.redact(said), endpoint, model, error.response.headers)


def _named(
    status: int, said: str, endpoint: Endpoint, model: str, headers: Mapping[str, str] = NO_HEADERS
) -> Failure:
    said = said or "no reason given"
    if status == 413 or (status in {400, 422, 500} and TOO_LONG.search(said)):
        return Failure(ContextOverflow(f"The history is too long for {model}: {said}"))
    if (refused := _refusal(status, said, endpoint, model)) is not None:
        return Failure(refused)
    if status == 400 and UNBOUND.search(said):
        return Failure(StaleBlocks(f"The API refused the request ({status}): {said}"))
    if status in {400, 422} and IMAGES.search(said):
        return Failure(RefusedImages(f"The API refused the request ({status}): {said}"))
    passing = status >= 500 or status in WORTH_RETRYING
    if not passing:
        return Failure(BadRequest(f"The API refused the request ({status}): {said}"))
    told = f"{TROUBLES.get(status, 'The API failed')} ({status}: {said}). {_remedy(status)}"
    retry = status != NOT_OFFERED and headers.get("x-should-retry") != "false"
    return Failure(Overloaded(told), retry=retry, load=status in LOAD, retry_after=retry_after(headers))


def _remedy(status: int) -> str:
    if status == NOT_OFFERED:
        return "Check ANTHROPIC_BASE_URL."
    return "Try again later, or with --fallback-model." if status in LOAD else "Try again later."


def _refusal(status: int, said: str, endpoint: Endpoint, model: str) -> ModelError | None:
    """The refusals that a person must mend; asking again would change nothing."""
    match status:
        case 401:
            return AuthenticationFailed(
                f"The API refused the key in {endpoint.variable} (401: {said}). Check the key and where it is for."
            )
        case 402:
            return AuthenticationFailed(f"The account behind {endpoint.variable} cannot pay (402: {said}).")
        case 403:
            return AuthenticationFailed(
                f"The key in {endpoint.variable} may not do this (403: {said}). Use another key, or ask its owner."
            )
        case 404:
            return UnknownModel(
                f"Nothing answers for model {model!r} at {endpoint.base_url or 'the API'} (404: {said}). "
                "Check --model (ANTHROPIC_MODEL) and ANTHROPIC_BASE_URL."
            )
        case _:
            return None


def _connection_failure(error: Exception, where: str) -> Failure:
    """Silence, nothing there, something else there, or a connection that broke."""
    chain = list(_chain(error))
    if told := _not_the_api(chain):
        return Failure(Unreachable(f"{where} {told}. Check ANTHROPIC_BASE_URL."))
    if any(isinstance(link, httpx2.ConnectTimeout) for link in chain):
        told = f"Cannot reach {where} (no answer). Check ANTHROPIC_BASE_URL and the network."
        return Failure(Unreachable(told), retry=True)
    if isinstance(error, (anthropic.APITimeoutError, httpx2.TimeoutException, TimeoutError)):
        return Failure(
            Overloaded(f"{where} fell silent in the middle of a request. Try again later."), retry=True
        )
    said = _say(chain[-1])
    broke = any(getattr(link, "errno", None) in BROKEN or "disconnect" in str(link).lower() for link in chain)
    if not broke and any(isinstance(link, (httpx2.ConnectError, ConnectionRefusedError)) for link in chain):
        return Failure(
            Unreachable(f"Cannot reach {where} ({said}). Check ANTHROPIC_BASE_URL and the network."),
            retry=True,
        )
    return Failure(Overloaded(f"The connection to {where} broke ({said}). Try again."), retry=True)


def _not_the_api(chain: Sequence[BaseException]) -> str:
    """Say what stands at the address if it is no API; nothing if it may be one."""
    for link in chain:
        if isinstance(link, SentElsewhere):
            return f"sends elsewhere ({link}), where neither key nor conversation goes"
        if isinstance(link, NotAnApi):
            return f"answers with a page ({link}), not as an API"
        if isinstance(link, httpx2.UnsupportedProtocol):
            return "is no address of a server"
    return ""


def _chain(error: BaseException) -> Iterator[BaseException]:
    """An error and what caused it, outermost first."""
    link: BaseException | None = error
    while link is not None:
        yield link
        link = link.__cause__


def _error_in(body: object) -> tuple[str, str]:
    """Type and message of the API's error object, wherever a server put it."""
    if not isinstance(body, dict):
        return "", _words(str(body or ""))
    fields = cast("dict[str, Any]", body)
    inner: Any = fields.get("error") or fields
    if not isinstance(inner, dict):
        return "", _words(str(inner))
    inside = cast("dict[str, Any]", inner)
    return str(inside.get("type", "")), _words(str(inside.get("message") or inside.get("detail") or ""))


def _words(text: str) -> str:
    """Give a server's words as one line of bounded length; of a page, which a proxy sends, its title."""
    if PAGE.match(text):
        found = TITLE.search(text)
        title = " ".join(html.unescape(found[1]).split()) if found else ""
        text = f"a page, {title!r}" if title else "a page"
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())[:500]


def _code_in(body: Mapping[str, Any]) -> int:
    """The status that an error object tells in words of another API's; 500 where it tells none."""
    code: Any = object_of(body.get("error")).get("code")
    return code if isinstance(code, int) and 400 <= code < 600 else 500


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: `retry-after-ms`, or `retry-after` as a number or a date."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _wait(float(milliseconds) / 1000)
        if not (value := headers.get("retry-after")):
            return None
        if value.strip().replace(".", "", 1).isdigit():
            return _wait(float(value))
        until = parsedate_to_datetime(value)
        return _wait((until if until.tzinfo else until.replace(tzinfo=UTC)).timestamp() - time())
    except (ValueError, OverflowError):
        return None


def _wait(seconds: float) -> float | None:
    return max(0.0, seconds) if isfinite(seconds) else None


def _say(error: BaseException) -> str:
    return " ".join((str(error) or type(error).__name__).split())[:300]
