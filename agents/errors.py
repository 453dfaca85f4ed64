"""What a model call can end with, by name. Each says in one line what happened and what to do.

ModelError(DecurionError)
├── AuthenticationFailed    401, 403, no key: asked once, never again
├── UnknownModel            404
├── BadRequest              400 that is not about size; names the field
│   ├── StaleBlocks         400: thinking or a summary of the API's own that it no longer takes; send it without
│   └── RefusedImages       400: an image that the API cannot read, or that this model does not take; likewise
├── ContextOverflow         400 "prompt is too long", 413: compact, or end with what is known
├── Overloaded              429, 5xx, 529, connection faults, cut streams, after the last retry
├── Unreachable             nothing answers at the address, after the last retry
└── BudgetExhausted         the lease is empty: the next request was not sent
"""

from __future__ import annotations

from decurion.hooks import DecurionError

from .result import Status


class ModelError(DecurionError):
    """Base of everything a model call can end with instead of a reply."""

    status: Status = "error"
    """The status of the result contract that this error leads to."""


class AuthenticationFailed(ModelError):
    """Raised when the key is missing or refused."""


class UnknownModel(ModelError):
    """Raised when the endpoint does not know the model."""


class BadRequest(ModelError):
    """Raised when the API refuses the request itself."""


class StaleBlocks(BadRequest):
    """Raised when the API no longer takes blocks that it made: something before them changed, or it is another door."""


class RefusedImages(BadRequest):
    """Raised when the API does not take an image of the history: a broken file, one of too many, a model without eyes."""


class ContextOverflow(ModelError):
    """Raised when the history no longer fits the model's window."""

    status = "context"


class Overloaded(ModelError):
    """Raised when retries are used up."""


class Unreachable(ModelError):
    """Raised when no connection can be made."""


class BudgetExhausted(ModelError):
    """Raised before a request that no budget covers."""

    exit_code = 124
    status = "budget"
