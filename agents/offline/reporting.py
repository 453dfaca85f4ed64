"""The lead's last word: what changed, what the check said, what was refused, what was left; and what it can do at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from decurion.hooks.counts import counted

from ..texts import NO_OUTPUT
from .conversation import Conversation
from .looking import files_beside
from .plans import GENERATED
from .replies import places_changed, refusals
from .wording import Order

SIGNATURE = "(Offline model: a script that edits by Python's tokenizer, not an AI.)"
HELP = """I am the offline model: a script, not an AI. I do two kinds of work, across all Python files, and nothing else:

- rename a symbol: `rename function get_user to fetch_user` (or class, method, variable, constant, parameter, symbol)
- replace a module or the calls of a function: `replace module json by vendor.fastjson`, `replace call requests.get by http.fetch`

Several changes go together with "and"; add "in src/" to stay in a folder, "also in strings and comments" to change words there. Nothing was changed. Two lines to start from:

    decurion run --model offline "rename function OLD to NEW" --verify "python -m unittest"
    decurion run --model offline "replace call old.module.func by new.module.func in src/"

For any other task use a live model: set ANTHROPIC_API_KEY and leave `--model offline` out."""

MOST_FILES = 40  # named one by one
MOST_BESIDE = 5
MOST_NOTES = 12
DECISIVE_LINES = 15
_NOTE = re.compile(r"^- `(.+?)`: (.+)$", re.MULTILINE)
_LEFT = re.compile(r"(\d+) ((?:in|as) [^(;]+?) \(lines? ")
_REFUSED = re.compile(r"^Refused: .+$", re.MULTILINE)
_EXIT = re.compile(r"\[(exit status \d+[^\]]*|timed out [^\]]*)\]\s*$")
_DECISIVE = re.compile(
    r"\b(?:error|fail(?:ed|ure|ures)?|exception|traceback|assert\w*|not found)\b", re.IGNORECASE
)


def final_report(
    talk: Conversation,
    order: Order,
    reports: Sequence[tuple[str, bool]],
    *,
    outside: Sequence[str],
    missing: Sequence[str],
    problem: str,
) -> str:
    """Write the report from what the subagents said (text, and whether it came as an error) and the check's result."""
    notes = {path: note for text, _ in reports for path, note in _NOTE.findall(text)}
    changed = {path: count for path, note in notes.items() if (count := places_changed(note))}
    lines = [_headline(order, changed, bool(notes))]
    lines += [f"Problem: {problem}"] if problem else []
    lines += [
        f"- `{path}`: {counted(count, 'place')}" for path, count in sorted(changed.items())[:MOST_FILES]
    ]
    if len(changed) > MOST_FILES:
        lines.append(f"- and {counted(len(changed) - MOST_FILES, 'more file')}")
    lines += _check(talk, order, bool(changed))
    lines += _left_alone(notes, failed=any(line.startswith("CHECK FAILED") for line in lines))
    lines += _remarks(notes)
    if outside:
        places = ", ".join(f"`{place}`" for place in order.places)
        lines.append(f"Outside {places}, and so untouched: {counted(len(outside), 'file')} with the name.")
    lines += _beside(files_beside(talk, order))
    lines += dict.fromkeys(found for text, _ in reports for found in _REFUSED.findall(text))
    lines += refusals(talk.exchanges)
    lines += [f"Not finished: {title}" for title in missing if reports or talk.of("task")]
    lines += [
        f"  {_first_line(text)}" for text, is_error in reports if is_error or text.startswith("[subagent ")
    ]
    return "\n".join([*lines, SIGNATURE])


def _headline(order: Order, changed: dict[str, int], worked: bool) -> str:  # noqa: FBT001 - told apart by name
    what = ", ".join(str(change) for change in order.changes)
    if changed:
        return f"Done: {what}. {counted(sum(changed.values()), 'place')} in {counted(len(changed), 'file')}."
    if worked:
        return f"Nothing was changed for: {what}. The names stand in files, but none of the uses is the one meant."
    places = f" in {', '.join(order.places)}" if order.places else ""
    return f"Nothing was changed for: {what}. No Python file{places} holds it as a whole word, or none came back."


def _check(talk: Conversation, order: Order, worked: bool) -> list[str]:  # noqa: FBT001 - told apart by name
    if not order.check:
        return ['No check command was given (`--verify "CMD"`), so nothing was run.'] if worked else []
    if order.worktree:
        return [f"The check `{order.check}` runs after the merge."] if worked else []
    runs = [one for one in talk.of("bash") if one.args.get("command") == order.check]
    if not runs:
        return ["The check was not run." if worked else "The check was not run: nothing changed."]
    run = runs[-1]
    ended = _EXIT.search(run.result)
    if run.refused:
        return [f"The check `{order.check}` was refused."]
    if not run.is_error and not ended:
        last = next((line for line in reversed(run.result.splitlines()) if line.strip()), "")
        shown = f"last line: {last.strip()[:200]}" if run.result != NO_OUTPUT else "it printed nothing"
        return [f"Check passed: `{order.check}` ({shown})"]
    return [
        f"CHECK FAILED: `{order.check}` ({ended[1] if ended else 'it could not be run'})",
        *_decisive(run.result),
    ]


def _decisive(output: str) -> list[str]:
    """The lines of a failed check that say most: those that name an error, and the last ones."""
    lines = [line.rstrip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _DECISIVE.search(line)][: DECISIVE_LINES - 5]
    return [f"    {line[:200]}" for line in dict.fromkeys([*telling, *lines[-5:]])]


def _left_alone(notes: dict[str, str], *, failed: bool) -> list[str]:
    counts: Counter[str] = Counter()
    for note in notes.values():
        for number, why in _LEFT.findall(note):
            counts[why] += int(number)
    if not counts:
        return []
    listed = ", ".join(f"{number} {why}" for why, number in counts.most_common())
    quoted = "in quoted annotations" in counts
    hint = " Type checkers read quoted annotations: say `also in strings` to change them." if quoted else ""
    if failed and "in strings" in counts:
        hint += " Names that are looked up by their text fail now: say `also in strings` to change those."
    return [f"Left alone: {listed}.{hint}"]


def _beside(files: Sequence[str]) -> list[str]:
    """Name the files that hold the name and are not read as Python."""
    if not files:
        return []
    named = [f"`{path}`" for path in files[:MOST_BESIDE]] + ["…"] * (len(files) > MOST_BESIDE)
    return [f"No Python, and so untouched: {counted(len(files), 'file')} with the name ({', '.join(named)})."]


def _remarks(notes: dict[str, str]) -> list[str]:
    """What a person should look at: files that were not changed for a reason, and names that clash."""
    kept: list[str] = []
    for path, note in sorted(notes.items()):
        if note.startswith(("left as it is", "not changed", "not read")):
            kept.append(f"- `{path}`: {note}")
        telling = ("`", GENERATED)
        kept += [f"- `{path}`: {part}" for part in note.split("; ") if part.startswith(telling)]
        kept += [
            f"- `{path}`: {part}"
            for part in note.split("; ")
            if "import" in part and part.startswith("line ")
        ]
    more = [f"- and {len(kept) - MOST_NOTES} more such remarks"] if len(kept) > MOST_NOTES else []
    return ["Look at:", *kept[:MOST_NOTES], *more] if kept else []


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:300]
