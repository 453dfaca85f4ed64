"""Statements that throw data away, told from those that mention it."""

from __future__ import annotations

import pytest

from decurion.hooks.rules.sql import throws_away


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("DROP TABLE x", "drop"),
        ("drop table if exists x cascade", "drop"),
        ("select 1; drop schema public", "drop"),
        ("DROP/**/DATABASE x", "drop"),
        ("-- c\nDROP TABLE x", "drop"),
        ("/*!50000 DROP TABLE x */", "drop"),
        ("ALTER TABLE x DROP COLUMN y", "drop"),
        ("DO $$ BEGIN DROP TABLE x; END $$", "drop"),
        ("do $a$ begin execute 'drop table x'; end $a$", "drop"),
        ("BEGIN; TRUNCATE x; COMMIT", "truncate"),
        ("truncate table x, y", "truncate"),
        ("DELETE FROM x", "delete-all"),
        ("DELETE FROM x WHERE 1=1", "delete-all"),
        ("DELETE FROM x WHERE true", "delete-all"),
        ("delete from x where id = id", "delete-all"),
        ("EXPLAIN ANALYZE DELETE FROM x", "delete-all"),
        ("WITH a AS (DELETE FROM x RETURNING *) SELECT * FROM a", "delete-all"),
        (r"\c app \\ drop table x", "drop"),
        (r"select 1 \g drop table x", "drop"),
        ("\\i a.sql\ndrop table x", "drop"),
        (".mode csv\ndrop table x;", "drop"),
        ("use app\ndrop table x", "drop"),
        (r"\echo drop table x", None),
        (r"\d drop table x", None),
        ("SELECT 'DROP TABLE x'", None),
        ('SELECT "DROP TABLE x"', None),
        ("SELECT 1 -- DROP TABLE x", None),
        ("SELECT 1 /* ; DROP TABLE x */", None),
        ("INSERT INTO t VALUES ('; DROP TABLE x;')", None),
        ("DELETE FROM x WHERE id = 3", None),
        ("DELETE FROM x USING y WHERE x.id = y.id", None),
        ("EXPLAIN DELETE FROM x", None),
        ("DROP INDEX i", None),
        ("ALTER TABLE x DROP CONSTRAINT c", None),
        ("CREATE TABLE drops (x int)", None),
        ("SELECT truncate(1.2)", None),
        ("", None),
        ("it's not sql at all; drop it", None),
    ],
)
def test_kinds(text: str, kind: str | None) -> None:
    assert throws_away(text) == kind
