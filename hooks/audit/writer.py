"""Writing the log: what happened, in order, on disk before anything else goes on."""

from __future__ import annotations

import os

from ..digests import sha256
from ..errors import AuditError
from .draft import Drafter
from .keys import mac_key, signing_key_path
from .processors import run
from .record import FIELDS, RESULT_FIELDS, WHO_FIELDS
from .redact import Redactor
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, Self

    from ..calls import RunRef
    from .draft import Happening
    from .processors import Processor

MAX_BYTES = 64 * 1024 * 1024
"""A part is rotated before it grows past this."""

CHECKPOINT_EVERY = 1000
"""Records between two signed checkpoints, where there is a signing key."""

_RESERVED = frozenset(FIELDS)
SESSION_END = "session_end"
_KIND = ("event", "tool_name", "decision", "rule", "by")


class Options:
    """How a log is written.

    Args:
        policy_sha256: digest of the rules in force, frozen at session start.
        enforcement: the level of enforcement that was probed.
        max_bytes: a part is rotated before it grows past this.
        checkpoint_every: records between two signed checkpoints.
        signing_key: path of an Ed25519 private key; None for the installation's own, where there is one.
        mac_key: key of `input_mac`; None for the installation's own.
        redactor: what takes secrets out; None for the environment's own secrets and all known shapes.
        processors: functions that every event dict passes before secrets are taken out.
        observer: told of each record as it was written, for live tracing; what it raises is passed over.
    """

    def __init__(  # noqa: PLR0913 - named options, each with a default
        self,
        *,
        policy_sha256: str = "",
        enforcement: str = "",
        max_bytes: int = MAX_BYTES,
        checkpoint_every: int = CHECKPOINT_EVERY,
        signing_key: str | None = None,
        mac_key: bytes | None = None,
        redactor: Redactor | None = None,
        processors: Sequence[Processor] = (),
        observer: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.law = {"policy_sha256": policy_sha256, "enforcement": enforcement}
        self.max_bytes, self.checkpoint_every = max_bytes, checkpoint_every
        self.signing_key, self.mac_key = signing_key, mac_key
        self.redactor, self.processors, self.observer = redactor, tuple(processors), observer


class AuditLog:
    """One log, shared by all agents of a session, and by other processes that open the same path.

    Make it with `open`. All methods are synchronous and may be called from any thread. A record is with the kernel
    when `write` returns, so that no crash of this program can lose it.
    """

    def __init__(self, path: str | os.PathLike[str], session_id: str, options: Options) -> None:
        self.path, self.session_id = os.path.abspath(path), session_id
        self._processors = options.processors
        key = options.mac_key or mac_key()
        self._drafter = Drafter(session_id, options.law, key, options.redactor or Redactor())
        self._signer = _Signer(options.signing_key)
        self._checkpoint_every = options.checkpoint_every
        watch = _watch(options.observer) if options.observer else None
        self._store = Store(self.path, self._own, options.max_bytes, watch)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, session_id: str, **options: Any) -> AuditLog:
        """Open a log, made where there is none; a torn tail is repaired and recorded.

        Args:
            path: the file, usually `<session folder>/audit.jsonl`; folders are made, owner-only.
            session_id: stands in every record whose `ref` names none.
            **options: see `Options`.

        Raises:
            AuditError: the log cannot be written, or the file is no log.
        """
        return cls(path, session_id, Options(**options))

    def write(  # noqa: PLR0913 - one record: its fields by name
        self,
        ref: RunRef | None,
        event: str,
        *,
        tool_name: str | None = None,
        tool_use_id: str | None = None,
        decision: str | None = None,
        rule: str | None = None,
        by: str | None = None,
        reason: str | None = None,
        input: Mapping[str, Any] | str | None = None,  # noqa: A002 - the field's name
        output: bytes | str | None = None,
        exit_status: int | None = None,
        duration_ms: float | None = None,
        **extra: Any,
    ) -> None:
        """Append one record.

        `output` is hashed and counted, never stored. Secrets in what a model or person wrote are taken out.

        Raises:
            AuditError: it could not be written; whatever it announces must not happen then.
        """
        result = None
        if output is not None or exit_status is not None or duration_ms is not None:
            result = _result(output, exit_status, duration_ms)
        if extra and not _RESERVED.isdisjoint(extra):
            clash = ", ".join(sorted(_RESERVED & extra.keys()))
            raise AuditError(f"a record's own fields cannot be set from outside: {clash}")
        what: Happening = (event, tool_name, decision, rule, by), tool_use_id, reason, input, result, extra
        if self._processors:
            what = self._process(ref, what)
        body = self._drafter.draft(ref, what)
        if event == SESSION_END:
            self._seal_session(body)
            return
        self._store.append(body)
        if self._signer.ready and self._store.seq % self._checkpoint_every == 0:
            self._store.append(self._checkpoint)

    def close(self) -> None:
        """Let go of the files; writing afterwards raises."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    def _seal_session(self, body: str) -> None:
        if self._signer.ready:
            self._store.append(body, self._final_checkpoint)
        else:
            self._store.append(body)
        self._store.sync()

    def _process(self, ref: RunRef | None, what: Happening) -> Happening:
        """Run the caller's processors; they see who acts, but cannot change it."""
        kind, name, reason, given, result, extra = what
        call = {"tool_use_id": name, "reason": reason, "input": given}
        event_dict = {**dict(zip(_KIND, kind, strict=True)), **call, **(result or {}), **(extra or {})}
        who = {field: getattr(ref, field) for field in WHO_FIELDS} if ref else {}
        made = run(self._processors, kind[0], {**who, **event_dict})
        return (
            (made["event"], made["tool_name"], made["decision"], made["rule"], made["by"]),
            made["tool_use_id"],
            made["reason"],
            made["input"],
            {field: made.get(field) for field in RESULT_FIELDS},
            {field: value for field, value in made.items() if field not in _RESERVED},
        )

    # ---- records of the log's own, made under its lock ----

    def _own(self, event: str, **extra: Any) -> str:
        reason = extra.pop("reason", None)
        return self._drafter.draft(None, ((event, None, None, None, None), None, reason, None, None, extra))

    def _checkpoint(self, seq: int, prev: str) -> str:
        return self._own("checkpoint", **self._signer.sign(self.session_id, seq, prev))

    def _final_checkpoint(self, seq: int, prev: str) -> str:
        return self._own("checkpoint", final=True, **self._signer.sign(self.session_id, seq, prev))


def _watch(observer: Callable[[dict[str, Any]], None]) -> Callable[[bytes], None]:
    """Let an observer read along: it gets what stands in the log, secrets already taken out."""
    import contextlib
    import json

    def watch(line: bytes) -> None:
        with contextlib.suppress(Exception):
            observer(json.loads(line))

    return watch


def _result(output: bytes | str | None, exit_status: int | None, duration_ms: float | None) -> dict[str, Any]:
    if output is None:
        return {
            "output_sha256": None,
            "output_bytes": None,
            "exit_status": exit_status,
            "duration_ms": duration_ms,
        }
    data = output.encode("utf-8", "surrogatepass") if isinstance(output, str) else output
    digest = sha256(data).hexdigest()
    return {
        "output_sha256": digest,
        "output_bytes": len(data),
        "exit_status": exit_status,
        "duration_ms": duration_ms,
    }


class _Signer:
    """Signs checkpoints where there is a key; loads it when the first is due."""

    def __init__(self, path: str | None) -> None:
        self._path = path or signing_key_path()
        self.ready = path is not None or os.path.exists(self._path)
        self._sign: Callable[[bytes], bytes] | None = None
        self._key_id = ""

    def sign(self, session_id: str, seq: int, prev: str) -> dict[str, str]:
        """Give the fields of a checkpoint."""
        from .keys import key_id, load_private, public_bytes, signed_text

        if self._sign is None:
            key = load_private(self._path)
            self._sign, self._key_id = key.sign, key_id(public_bytes(key.public_key()))
        return {"signature": self._sign(signed_text(session_id, seq, prev)).hex(), "key_id": self._key_id}
