"""Examples inside rules, tried at load: a rule that does not do what it says does not load."""

from __future__ import annotations

from ..shell import read_command
from ..shell.events import Places
from .load import located

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .load import Source
    from .model import Rule, RuleSet

EXAMPLE_PLACES = Places(workspace="/home/dev/app", cwd="/home/dev/app", home="/home/dev", user="dev")
"""Where examples are read: workspace and working folder are `app` in the home of `dev`."""


def check_examples(rules: RuleSet, sources: tuple[Source, ...], *, shipped: bool = False) -> None:
    """Try every `deny` and `allow` example of every rule against that rule.

    The shipped files hold a thousand examples, which the project's tests and `decurion rules test` try; at load only
    those of other files are tried, unless `shipped` says otherwise.

    Raises:
        ConfigError: an example fails; the text names rule, example, file and line.
    """
    from .judge import Judge

    judge = Judge(rules)
    by_path = {source.path: source for source in sources}
    for rule in rules.rules:
        if by_path[rule.source].level == "default" and not shipped:
            continue
        for text in rule.deny:
            if not _hits(judge, rule, text):
                why = f"rule {rule.id!r} does not catch its own `deny` example `{text}`; mend the rule or the example"
                raise located(by_path[rule.source], why, text)
        for text in rule.allow:
            if _hits(judge, rule, text):
                why = f"rule {rule.id!r} catches its `allow` example `{text}`; narrow the rule or drop the example"
                raise located(by_path[rule.source], why, text)


def _hits(judge: object, rule: Rule, text: str) -> bool:
    from time import perf_counter_ns

    from .judge import Judge

    assert isinstance(judge, Judge)
    reading = read_command(text, EXAMPLE_PLACES, judge.guarded)
    agent = rule.agents[0] if rule.agents else "lead"
    return any(
        hit.id == rule.id for hit, _, _ in judge.hits(reading, EXAMPLE_PLACES, agent, perf_counter_ns())
    )
