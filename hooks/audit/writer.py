"""Writing the log: what happened, in order, on disk before anything else goes on."""

from __future__ import annotations

import os
import time

from ..errors import AuditError
from .keys import mac_key, signing_key_path
from .processors import digest_output, protect_input, run
from .record import FIELDS, VERSION, seal
from .redact import Redactor
from .store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any

    from ..calls import RunRef
    from .processors import Processor

MAX_BYTES = 64 * 1024 * 1024
"""A part is rotated before it grows past this."""

CHECKPOINT_EVERY = 1000
"""Records between two signed checkpoints, where there is a signing key."""

SESSION_END = "session_end"


class AuditLog:
    """One log, shared by all agents of a session, and by other processes that open the same path.

    Make it with `open`. All methods are synchronous and may be called from any thread. A record is on disk when
    `write` returns (written to the kernel; a crash of the program cannot lose it).
    """

    def __init__(self, path: str | os.PathLike[str], options: Options) -> None:
        self.path = os.path.abspath(path)
        self._options = options
        self._constant = {
            "v": VERSION,
            "session_id": options.session_id,
            "policy_sha256": options.policy_sha256,
            "enforcement": options.enforcement,
        }
        self._clock = _Clock()
        self._processors = (
            digest_output,
            *options.processors,
            protect_input(options.mac_key or mac_key(), options.redactor or Redactor()),
        )
        self._signer = _Signer(options.signing_key)
        self._store = Store(self.path, self._seal, self._blank, options.max_bytes)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, session_id: str, **options: Any) -> AuditLog:
        """Open a log, made where there is none; a torn tail is repaired and recorded.

        Args:
            path: the file, usually `<session folder>/audit.jsonl`; folders are made, owner-only.
            session_id: stands in every record.
            **options: see `Options`.

        Raises:
            AuditError: the log cannot be written, or the file is no log.
        """
        return cls(path, Options(session_id, **options))

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

        `output` is hashed and counted, never stored. Secrets in `input`, `reason` and `extra` are taken out.

        Raises:
            AuditError: it could not be written; whatever it announces must not happen then.
        """
        record = self._blank(event)
        if ref is not None:
            record.update(
                session_id=ref.session_id,
                agent_id=ref.agent_id,
                agent_type=ref.agent_type,
                parent_id=ref.parent_id,
                parent_call_id=ref.parent_call_id,
                depth=ref.depth,
                turn=ref.turn,
            )
        clash = extra.keys() & _RESERVED
        if clash:
            raise AuditError(f"a record's own fields cannot be set from outside: {', '.join(sorted(clash))}")
        record.update(
            extra,
            tool_name=tool_name,
            tool_use_id=tool_use_id,
            decision=decision,
            rule=rule,
            by=by,
            reason=reason,
            input=input,
            output=output,
            exit_status=exit_status,
            duration_ms=duration_ms,
        )
        record = run(self._processors, event, record)
        if event == SESSION_END and self._signer.ready:
            self._store.append(record, self._blank("checkpoint", final=True))
        else:
            self._store.append(record)
            if self._signer.ready and self._store.seq % self._options.checkpoint_every == 0:
                self._store.append(self._blank("checkpoint"))
        if event == SESSION_END:
            self._store.sync()

    def close(self) -> None:
        """Let go of the files; writing afterwards raises."""
        self._store.close()

    def __enter__(self) -> AuditLog:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    # ---- called under the lock ----

    def _blank(self, event: str, **extra: Any) -> dict[str, Any]:
        return {**_EMPTY, **self._constant, "event": event, **extra}

    def _seal(self, record: dict[str, Any], seq: int, prev: str) -> tuple[bytes, str]:
        record["seq"], record["prev"], record["ts"] = seq, prev, self._clock.now()
        if record["event"] == "checkpoint":
            record.update(self._signer.sign(record["session_id"], seq, prev))
        try:
            return seal(record)
        except (ValueError, TypeError, RecursionError) as error:
            raise AuditError(f"a record cannot be written as JSON: {error}") from error


_EMPTY = dict.fromkeys(field for field in FIELDS if field != "hash")
_EMPTY.update(depth=0, turn=0)
_RESERVED = frozenset(FIELDS)


class Options:
    """How a log is written.

    Args:
        session_id: stands in every record whose `ref` names none.
        policy_sha256: digest of the rules in force, frozen at session start.
        enforcement: the level of enforcement that was probed.
        max_bytes: a part is rotated before it grows past this.
        checkpoint_every: records between two signed checkpoints.
        signing_key: path of an Ed25519 private key; None for the installation's own, where there is one.
        mac_key: key of `input_mac`; None for the installation's own.
        redactor: what takes secrets out; None for the environment's own secrets and all known shapes.
        processors: further processors, run before secrets are taken out.
    """

    def __init__(  # noqa: PLR0913 - named options with defaults
        self,
        session_id: str,
        *,
        policy_sha256: str = "",
        enforcement: str = "",
        max_bytes: int = MAX_BYTES,
        checkpoint_every: int = CHECKPOINT_EVERY,
        signing_key: str | None = None,
        mac_key: bytes | None = None,
        redactor: Redactor | None = None,
        processors: Sequence[Processor] = (),
    ) -> None:
        self.session_id, self.policy_sha256, self.enforcement = session_id, policy_sha256, enforcement
        self.max_bytes, self.checkpoint_every = max_bytes, checkpoint_every
        self.signing_key, self.mac_key = signing_key, mac_key
        self.redactor, self.processors = redactor, tuple(processors)


class _Clock:
    """UTC in microseconds as text, never going back within one writer."""

    def __init__(self) -> None:
        self._second, self._prefix, self._last = -1, "", 0

    def now(self) -> str:
        self._last = max(self._last, time.time_ns() // 1000)
        second, micros = divmod(self._last, 1_000_000)
        if second != self._second:
            self._second, self._prefix = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._prefix}.{micros:06d}Z"


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
