"""The tries of one model call: when to go on, how long to wait, which model to ask, what to tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..clock import Clock
from ..errors import ModelError, Unreachable
from ..model import ModelRequest, Progress
from .faults import Failed, Failure
from .settings import ClientSettings, WireEvent

if TYPE_CHECKING:
    import tenacity

SPREAD = 0.25  # of a wait that the server named: two agents told the same second do not strike in it together
STRANGER = 3  # tries for an address that never answered yet: more likely wrong than down
SLOWDOWN_WORTH_TELLING = 0.5  # seconds


class Tries:
    """Made for one call of `complete`. tenacity asks it; time and chance come from the clock given.

    `reached` says whether the address has ever answered in this session.
    """

    def __init__(
        self,
        request: ModelRequest,
        settings: ClientSettings,
        clock: Clock,
        report: Callable[[Progress], None],
        observe: Callable[[WireEvent], None],
        *,
        reached: bool,
    ) -> None:
        self.report = report
        self.sleep = clock.sleep
        self._request = request
        self._patience = settings.patience
        self._clock = clock
        self._observe = observe
        self._reached = reached
        self._began = clock.now()
        self._count = 0
        self._loaded = 0
        self._next_wait = 0.0
        self._models = [request.model, *(name for name in settings.fallback_models if name != request.model)]

    @property
    def model(self) -> str:
        """The model to ask now."""
        return self._models[0]

    def started(self, held: float) -> None:
        """A try begins after the session was held back for so many seconds."""
        self._count += 1
        if held >= SLOWDOWN_WORTH_TELLING:
            self.report(Progress("slowdown", "the session slows down for the API's rate limit", held))

    @staticmethod
    def worth_another(error: BaseException) -> bool:
        """Whether another try may help."""
        return isinstance(error, Failed) and error.failure.retry

    def wait(self, state: tenacity.RetryCallState) -> float:
        """Seconds until the next try: what the server asks for and a spread, or twice the last, spread by two fifths."""
        patience, chance = self._patience, self._clock.chance()
        asked = _failure(state).retry_after
        if asked is not None:
            self._next_wait = asked + chance * min(1.0, max(0.1, SPREAD * asked))
        else:
            ceiling = min(patience.longest_wait, patience.first_wait * 2 ** (state.attempt_number - 1))
            self._next_wait = ceiling * (0.6 + 0.4 * chance)
        return self._next_wait

    def stop(self, state: tenacity.RetryCallState) -> bool:
        """Whether to give up: too many tries, or the wait would end after the time allowed.

        tenacity asks this after `wait`. Falls back to the next model before it gives up: after some refusals for load,
        or at once where the wait is too long. That wait is for the model that asked for it.
        """
        failure, left = _failure(state), self._patience.seconds - (self._clock.now() - self._began)
        self._loaded = self._loaded + 1 if failure.load else 0
        too_long = failure.load and self._next_wait > left >= 0
        if (too_long or self._loaded >= self._patience.fallback_after) and len(self._models) > 1:
            self._fall_back(failure)
            if too_long:
                state.upcoming_sleep = self._next_wait = 0.0
        if isinstance(failure.error, Unreachable) and not self._reached and self._count >= STRANGER:
            return True
        return self._next_wait > left or self._count >= self._patience.attempts

    def tell(self, state: tenacity.RetryCallState) -> None:
        """Make a coming wait visible, on the screen and in the log."""
        reason = str(_failure(state).error)
        self.report(Progress("retry", reason, self._next_wait))
        data = {
            "reason": reason,
            "wait_seconds": round(self._next_wait, 3),
            "try": self._count,
            "model": self.model,
        }
        self._observe(WireEvent("retry", self._request.ref, data))

    def final(self, failure: Failure) -> ModelError:
        """The error to end with."""
        if self._count > 1 and failure.retry:
            seconds = self._clock.now() - self._began
            return type(failure.error)(
                f"{failure.error} (gave up after {self._count} tries in {seconds:.0f} s)"
            )
        return failure.error

    def _fall_back(self, failure: Failure) -> None:
        tired = self._models.pop(0)
        self._loaded = 0
        data = {"from": tired, "to": self.model, "reason": str(failure.error)}
        self._observe(WireEvent("fallback", self._request.ref, data))
        self.report(Progress("retry", f"{tired} is not to be had; asking {self.model}"))


def _failure(state: tenacity.RetryCallState) -> Failure:
    error = state.outcome.exception() if state.outcome else None
    assert isinstance(error, Failed)  # `worth_another` let it through
    return error.failure
