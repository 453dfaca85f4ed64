"""Questions in SQL, answered by DuckDB reading the JSON lines where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from decurion.hooks import UsageError
from decurion.hooks.audit import CutLine, raw_lines, rotated_parts

COLUMNS = {
    "seq": "BIGINT",
    "ts": "TIMESTAMP",
    "session_id": "VARCHAR",
    "agent_id": "VARCHAR",
    "agent_type": "VARCHAR",
    "parent_id": "VARCHAR",
    "parent_call_id": "VARCHAR",
    "depth": "INTEGER",
    "turn": "INTEGER",
    "event": "VARCHAR",
    "tool_name": "VARCHAR",
    "tool_use_id": "VARCHAR",
    "decision": "VARCHAR",
    "rule": "VARCHAR",
    "by": "VARCHAR",
    "reason": "VARCHAR",
    "input": "JSON",
    "input_sha256": "VARCHAR",
    "input_mac": "VARCHAR",
    "output_sha256": "VARCHAR",
    "output_bytes": "BIGINT",
    "exit_status": "INTEGER",
    "duration_ms": "DOUBLE",
    "policy_sha256": "VARCHAR",
    "enforcement": "VARCHAR",
    "hash": "VARCHAR",
    # further ones, where a record has them
    "status": "VARCHAR",
    "is_error": "BOOLEAN",
    "id": "VARCHAR",
    "model": "VARCHAR",
    "stop_reason": "VARCHAR",
    "input_tokens": "BIGINT",
    "output_tokens": "BIGINT",
    "cache_creation_input_tokens": "BIGINT",
    "cache_read_input_tokens": "BIGINT",
    "cost_usd": "DOUBLE",
    "turns": "INTEGER",
}
"""The columns of `records`; what a record has not is NULL. `docs/audit.md` tells what they mean."""

VIEWS = {
    # One pass and no join: the lines are parsed once.
    "calls": """
        SELECT min(ts) FILTER (event = 'planned') AS ts, session_id, agent_id, any_value(agent_type) AS agent_type,
               min(turn) AS turn, any_value(tool_name) AS tool_name, tool_use_id, any_value(decision) AS decision,
               any_value(rule) AS rule, any_value("by") AS "by", any_value(input) AS input,
               max(exit_status) AS exit_status, max(duration_ms) AS duration_ms, max(output_bytes) AS output_bytes,
               bool_or(is_error) AS is_error, max(ts) FILTER (event = 'done') AS done_ts
        FROM records WHERE event IN ('planned', 'done')
        GROUP BY session_id, agent_id, tool_use_id HAVING count(*) FILTER (event = 'planned') > 0""",
    "denied": """
        SELECT ts, session_id, agent_id, agent_type, turn, tool_name, tool_use_id, rule, "by", reason, input
        FROM records WHERE event = 'refused'""",
    "agents": """
        SELECT session_id, agent_id, any_value(agent_type) AS agent_type, any_value(parent_id) AS parent_id,
               max(depth) AS depth, min(ts) AS began, max(ts) AS ended, max(turn) AS turns,
               count(*) FILTER (event = 'planned') AS calls, count(*) FILTER (event = 'refused') AS denied,
               arg_max(status, seq) FILTER (event = 'agent_end') AS status
        FROM records WHERE agent_id IS NOT NULL GROUP BY session_id, agent_id""",
    "commands": """
        SELECT ts, session_id, agent_id, turn, tool_use_id, event, decision, rule, input->>'command' AS command
        FROM records WHERE tool_name = 'bash' AND event IN ('planned', 'refused')""",
    "costs": """
        SELECT session_id, agent_id, model, count(DISTINCT id) AS requests, sum(input_tokens) AS input_tokens,
               sum(output_tokens) AS output_tokens, sum(cache_creation_input_tokens) AS cache_creation_input_tokens,
               sum(cache_read_input_tokens) AS cache_read_input_tokens
        FROM (SELECT DISTINCT ON (session_id, id) * FROM records WHERE event = 'model_request')
        GROUP BY session_id, agent_id, model""",
}
"""What stands ready beside `records`."""


def ask(logs: Sequence[Path], query: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Answer one query over one or many logs, rotated parts included; gives the column names and the rows.

    Raises:
        UsageError: DuckDB is not installed, or the query is wrong.
        AuditError: there is no log there, or it is another version's.
    """
    if find_spec("duckdb") is None:
        raise UsageError("SQL needs DuckDB: pip install 'decurion[sql]'")
    duckdb: Any = import_module("duckdb")
    for log in logs:
        next(raw_lines(str(log)), None)  # refuses what is no log, or another version's
    files = [part for log in logs for part in (*rotated_parts(str(log)), str(log)) if Path(part).exists()]
    try:
        return _ask(duckdb, files, query)
    except duckdb.Error as error:
        if "maximum_object_size" not in str(error):
            raise _wrong(error) from error
    return _ask_copies(duckdb, logs, query)


def _ask(duckdb: Any, files: Sequence[str], query: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    connection = duckdb.connect(":memory:")
    _prepare(connection, files)
    answer = connection.execute(query)
    if answer is None:
        raise UsageError('There is no question in it; say for example "SELECT * FROM denied".')
    return [column[0] for column in answer.description or ()], _rows(answer, duckdb.Error)


def _ask_copies(duckdb: Any, logs: Sequence[Path], query: str) -> tuple[list[str], Iterator[tuple[Any, ...]]]:
    """Ask copies without the endless lines that a damaged log may hold, and at which DuckDB stops."""
    with TemporaryDirectory() as folder:
        copies = [str(Path(folder, f"{number}.jsonl")) for number in range(len(logs))]
        for log, copy in zip(logs, copies, strict=True):
            with Path(copy).open("wb") as file:
                whole = (line for line in raw_lines(str(log)) if not isinstance(line, CutLine))
                file.writelines(line + b"\n" for line in whole)
        try:
            names, rows = _ask(duckdb, copies, query)
        except duckdb.Error as error:
            raise _wrong(error) from error
        return names, iter(list(rows))


def _wrong(error: Exception) -> UsageError:
    """Give DuckDB's message without its picture of the place, but with what it proposes."""
    told = [line.strip() for line in str(error).splitlines() if line.strip()]
    proposed = [line for line in told[1:2] if line.startswith(("Candidate", "Did you"))]
    return UsageError(f"SQL: {' '.join([*told[:1], *proposed])}")


def _prepare(connection: Any, files: Sequence[str]) -> None:
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items())
    listed = ", ".join("'" + file.replace("'", "''") + "'" for file in files)
    connection.execute("SET autoinstall_known_extensions = false")
    connection.execute(
        f"CREATE VIEW records AS SELECT * FROM read_json([{listed}], columns = {{{columns}}}, "  # noqa: S608 - our own names
        "format = 'newline_delimited', ignore_errors = true, maximum_object_size = 33554432, "
        "timestampformat = '%Y-%m-%dT%H:%M:%S.%fZ') WHERE seq IS NOT NULL"  # what is no record is all NULL
    )
    for name, text in VIEWS.items():
        connection.execute(f"CREATE VIEW {name} AS {text}")
    # From here on the query may read nothing but the logs.
    connection.execute(f"SET allowed_paths = [{listed}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def _rows(answer: Any, failure: type[Exception]) -> Iterator[tuple[Any, ...]]:
    try:
        while rows := answer.fetchmany(1000):
            yield from rows
    except failure as error:
        raise _wrong(error) from error
