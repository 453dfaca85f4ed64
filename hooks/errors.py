"""The tree of what can go wrong.

DecurionError                 everything below; a person reads str(error) and needs nothing else
├── UsageError                bad command line, argument or place                       exit 2
├── ConfigError               a rules, settings or definition file that cannot be used  exit 2
├── AuditError                the log cannot be written or read                         exit 1
├── HookFailure               one hook broke; the chain turns it into a refusal   (never an exit)
├── ToolError                 the model's to mend: becomes an error result              (never an exit)
└── PolicyError               the law itself cannot be asked; whatever wanted to run does not  exit 3

A `ToolError` goes to the model, anything else ends the run. A blocked call is a result, never an exception.
"""

from __future__ import annotations


class DecurionError(Exception):
    """Base of every error that a person is meant to read: one or two lines, with the remedy."""

    exit_code: int = 1


class UsageError(DecurionError):
    """Raised when a command line, an argument or a place given by a person cannot be used."""

    exit_code = 2


class ConfigError(DecurionError):
    """Raised when a rules, settings or definition file cannot be used.

    `path` and `line` (1-based, 0 when unknown) say where; the text names both.
    """

    exit_code = 2

    def __init__(self, message: str, path: str = "", line: int = 0) -> None:
        super().__init__(message, path, line)
        self.message, self.path, self.line = message, path, line

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" if place else self.message


class AuditError(DecurionError):
    """Raised when the audit log cannot be written or read. Where it cannot be written, no tool runs."""


class HookFailure(DecurionError):
    """Raised by a hook that could not do its work: `kind` in one or two words, `text` the details.

    The chain turns it into a refusal (gate) or a note (observer); it never travels further.
    """

    def __init__(self, kind: str, text: str = "") -> None:
        super().__init__(kind, text)
        self.kind, self.text = kind, text

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}" if self.text else self.kind


class ToolError(DecurionError):
    """Raised by a tool for what the model can mend; becomes a result with `is_error`."""


class PolicyError(DecurionError):
    """Raised when the law itself cannot be asked. Whatever wanted to run does not."""

    exit_code = 3
