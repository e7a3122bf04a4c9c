"""Retries: `call_with_retries`, `Retry` as a decorator, and what is never retried."""

from __future__ import annotations

import asyncio
import functools
import inspect
import pickle
import statistics
import urllib.error

import pytest

import seawall
from seawall.testing import ManualClock, ManualRandom


class Flaky:
    """Raises `errors`, one a call, then answers."""

    def __init__(self, *errors):
        self.errors, self.calls = list(errors), 0

    def __call__(self, answer="answer"):
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return answer

    async def later(self, answer="answer"):
        return self(answer)


def transient(times):
    return [seawall.TransientError(f"number {number}") for number in range(1, times + 1)]


@pytest.fixture
def retry(clock):
    """Retries under virtual time, without randomness: the pauses are the longest, 100 ms, 200 ms."""
    return functools.partial(seawall.Retry, idempotent="yes", clock=clock, random=ManualRandom())


# The tutorial's entry point.


def test_attempts_are_counted_in_all_the_first_included(clock):
    flaky = Flaky(*transient(2))
    assert seawall.call_with_retries(flaky, clock=clock) == "answer" and flaky.calls == 3


def test_the_last_error_comes_back_as_it_is_without_a_sleep_after_it():
    errors, slept = transient(3), []
    last = errors[-1]
    with pytest.raises(seawall.TransientError) as raised:
        seawall.call_with_retries(Flaky(*errors), sleep=slept.append)
    assert raised.value is last and len(slept) == 2


@pytest.mark.parametrize("error", [ValueError("no"), ConnectionError("refused"), TimeoutError()], ids=repr)
def test_any_other_error_comes_back_at_once(clock, error):
    flaky = Flaky(error)
    with pytest.raises(type(error)) as raised:
        seawall.call_with_retries(flaky, clock=clock)
    assert raised.value is error and flaky.calls == 1 and clock.now() == 1000


def test_jitter_is_full_between_nothing_and_a_ceiling_that_doubles_up_to_the_cap():
    waits = [[] for _ in range(5)]
    for seed in range(400):
        slept = []
        with pytest.raises(seawall.TransientError):
            seawall.call_with_retries(Flaky(*transient(6)), 6, 0.1, 0.8, sleep=slept.append, random=seed)
        for retry, wait in enumerate(slept):
            waits[retry].append(wait)
    for drawn, ceiling in zip(waits, [0.1, 0.2, 0.4, 0.8, 0.8], strict=True):
        assert 0 <= min(drawn) < ceiling * 0.05 and ceiling * 0.95 < max(drawn) <= ceiling
        assert statistics.mean(drawn) == pytest.approx(ceiling / 2, rel=0.15)


def test_a_seed_repeats_the_sleeps():
    def sleeps(seed):
        slept = []
        with pytest.raises(seawall.TransientError):
            seawall.call_with_retries(Flaky(*transient(3)), sleep=slept.append, random=seed)
        return slept

    assert sleeps(7) == sleeps(7) != sleeps(8)


def test_a_sleep_that_raises_ends_it(clock):
    def aborted(seconds):
        raise KeyboardInterrupt

    flaky = Flaky(*transient(3))
    with pytest.raises(KeyboardInterrupt):
        seawall.call_with_retries(flaky, sleep=aborted)
    assert flaky.calls == 1


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"attempts": 0}, "attempts"),
        ({"attempts": -1}, "attempts"),
        ({"base": 2.0, "cap": 1.0}, "cap"),
        ({"base": float("inf")}, "base"),
        ({"cap": float("inf")}, "cap"),
        ({"base": float("nan")}, "base"),
        ({"base": -0.1}, "base"),
    ],
    ids=str,
)
def test_impossible_values_are_refused_before_the_first_call(options, field):
    flaky = Flaky()
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.call_with_retries(flaky, **options)
    assert refused.value.field == field and flaky.calls == 0


def test_a_coroutine_function_is_awaited_and_retried(clock, run):
    flaky = Flaky(*transient(2))

    async def main():
        return await seawall.call_with_retries(flaky.later, clock=clock)

    assert run(main) == "answer" and flaky.calls == 3


# What is retried.


def test_idempotence_must_be_stated():
    with pytest.raises(seawall.ConfigError) as refused:
        seawall.Retry(attempts=3)
    assert refused.value.field == "idempotent"


def test_what_must_not_be_done_twice_is_done_once(clock):
    flaky = Flaky(ConnectionError())
    with pytest.raises(ConnectionError) as raised:
        seawall.Retry(idempotent="no", clock=clock).call(flaky)
    assert flaky.calls == 1 and seawall.ending_of(raised.value).end == "not_idempotent"


class Response:
    def __init__(self, status, **headers):
        self.status_code, self.headers = status, {name.replace("_", "-"): value for name, value in headers.items()}


class StatusError(Exception):
    """As httpx's and requests' look."""

    def __init__(self, status, **headers):
        super().__init__(status)
        self.response = Response(status, **headers)


class CodeError(Exception):
    """As the SDKs of the large language models look."""

    def __init__(self, status):
        super().__init__(status)
        self.status_code = status


@pytest.mark.parametrize("make", [StatusError, CodeError])
@pytest.mark.parametrize(
    ("status", "calls"), [(500, 1), (501, 1), (502, 2), (503, 2), (504, 2), (400, 1), (404, 1), (429, 2)]
)
def test_a_status_is_judged_by_the_engines_table(retry, make, status, calls):
    flaky = Flaky(make(status))
    try:
        retry().call(flaky)
    except make as error:
        assert seawall.ending_of(error).end == "not_retryable"
    assert flaky.calls == calls


@pytest.mark.parametrize("error", [TimeoutError(), asyncio.TimeoutError(), ConnectionResetError(), BrokenPipeError()])
def test_timeouts_and_broken_connections_may_go_away(retry, error):
    flaky = Flaky(error)
    assert retry().call(flaky) == "answer" and flaky.calls == 2


@pytest.mark.parametrize("error", [ValueError(), OSError("disk full"), RuntimeError()], ids=repr)
def test_other_errors_recur(retry, error):
    flaky = Flaky(error)
    with pytest.raises(type(error)):
        retry().call(flaky)
    assert flaky.calls == 1


def test_a_response_that_is_returned_is_judged_when_asked(retry):
    responses = [Response(503), Response(200)]
    assert retry(classify_result=seawall.http_status).call(responses.pop, 0).status_code == 200
    assert retry().call(lambda: Response(503)).status_code == 503


def test_the_last_failed_response_comes_back(retry):
    policy = retry(classify_result=seawall.http_status).policy
    assert policy.call(lambda: Response(503)).status_code == 503
    assert policy.endings() == {"attempts_used_up": 1}


@pytest.mark.parametrize(("answer", "calls"), [(True, 2), (False, 1), (503, 2), ("timeout", 2), (None, 1)])
def test_a_classifier_overrules_the_table(retry, answer, calls):
    flaky = Flaky(LookupError())
    try:
        retry(classify=lambda error: answer).call(flaky)
    except LookupError:
        pass
    assert flaky.calls == calls


@pytest.mark.parametrize("classify", [lambda error: 1 / 0, lambda error: "no such name", lambda error: object()])
def test_a_classifier_that_raises_or_talks_nonsense_has_no_opinion(retry, classify, caplog):
    flaky = Flaky(ConnectionError())
    assert retry(classify=classify).call(flaky) == "answer" and flaky.calls == 2
    assert "a predicate raised" in caplog.text


# What the dependency tells.


@pytest.mark.parametrize("wait", ["2", " 2 ", "soon", "-1", "1.5", "", "2s"])
def test_retry_after_is_waited_for_when_it_makes_sense(retry, clock, wait):
    assert retry().call(Flaky(StatusError(503, Retry_After=wait))) == "answer"
    assert clock.now() - 1000 == pytest.approx(2 if wait.strip() == "2" else 0.1)


def test_retry_after_as_a_date(retry, clock):
    import email.utils
    import time

    date = email.utils.formatdate(time.time() + 30, usegmt=True)
    assert retry().call(Flaky(StatusError(503, Retry_After=date))) == "answer"
    assert 28 <= clock.now() - 1000 <= 31


def test_a_told_wait_that_is_too_long_ends_the_call_and_says_when(retry, clock):
    flaky = Flaky(StatusError(503, retry_after="1" + "0" * 30))
    with pytest.raises(StatusError) as raised:
        retry().call(flaky)
    ending = seawall.ending_of(raised.value)
    assert (ending.end, ending.attempts, flaky.calls, clock.now()) == ("told_too_long", 1, 1, 1000)
    assert ending.retry_after > 1e9


def test_the_dependency_may_forbid_retries(retry):
    flaky = Flaky(StatusError(503, seawall_retry="no"))
    with pytest.raises(StatusError) as raised:
        retry().call(flaky)
    assert flaky.calls == 1 and seawall.ending_of(raised.value).end == "told_to_stop"


# The budget.


def test_an_empty_budget_ends_it_with_the_error_that_there_was(retry, clock):
    budget = seawall.RetryBudget(capacity=1, ratio=0, clock=clock)
    again = retry(budget=budget, attempts=5)
    flaky = Flaky(*transient(9))
    with pytest.raises(seawall.TransientError) as raised:
        again.call(flaky)
    ending = seawall.ending_of(raised.value)
    assert (ending.end, ending.reason, flaky.calls) == ("budget_empty", "budget_empty", 2)
    assert budget.refusals() == {"budget_empty": 1} and again.policy.endings() == {"budget_empty": 1}


def test_a_budget_by_hand(clock):
    budget = seawall.RetryBudget(capacity=2, ratio=0.5, clock=clock, name="search")
    assert budget.try_withdraw() and budget.try_withdraw() and not budget.try_withdraw()
    with pytest.raises(seawall.BudgetEmpty) as refused:
        budget.withdraw()
    assert (refused.value.policy, refused.value.reason) == ("search", "budget_empty")
    budget.deposit()
    assert budget.balance == 0.5
    budget.refund()
    assert budget.balance == 1.5
    budget.reset()
    assert budget.balance == 2
    with pytest.raises(seawall.ConfigError):
        budget.configure(capacity=0)
    budget.configure(capacity=1)
    assert budget.balance == 1


# The field's faults.


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_tenacity_529_cancellation_and_interrupts_are_never_retried_nor_swallowed(retry, error):
    flaky, asked = Flaky(error()), []
    with pytest.raises(error):
        retry(classify=lambda error: asked.append(error) or True).call(flaky)
    assert flaky.calls == 1 and not asked


def test_tenacity_529_a_cancelled_task_is_cancelled(retry, run):
    again = seawall.Retry(idempotent="yes", classify=lambda error: True)
    began = []

    @again
    async def hang():
        began.append(1)
        await asyncio.sleep(3600)

    async def main():
        task = asyncio.ensure_future(hang())
        while not began:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert task.cancelled()

    asyncio.run(main())
    assert began == [1] and again.policy.endings() == {}


def test_tenacity_93_701_concurrent_calls_of_one_function_have_counts_of_their_own(retry):
    seen = []

    @retry()
    async def call(name, failures):
        attempt = seawall.current_attempt().attempt
        seen.append((name, attempt))
        await asyncio.sleep(0)
        assert seawall.current_attempt().attempt == attempt
        if attempt <= failures:
            raise seawall.TransientError

    async def main():
        await asyncio.gather(call("a", 2), call("b", 1), call("c", 0))

    asyncio.run(main())
    assert sorted(seen) == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2), ("c", 1)]


def test_tenacity_78_519_613_the_callee_knows_its_attempt(retry):
    seen = []

    @functools.wraps(len)
    @retry(name="search")
    def call():
        attempt = seawall.current_attempt()
        seen.append((attempt.policy, attempt.attempt, attempt.after, round(attempt.waited, 3)))
        if attempt.attempt < 3:
            raise seawall.TransientError

    call()
    assert seen == [("search", 1, None, 0.0), ("search", 2, "transient", 0.1), ("search", 3, "transient", 0.2)]
    assert seawall.current_attempt() is None


def test_tenacity_63_64_66_138_stamina_123_a_generator_begins_anew_until_its_first_item(retry, run):
    starts = []

    @retry()
    def items(failures):
        starts.append(1)
        if len(starts) <= failures:
            raise ConnectionError
        got = yield 1
        yield got
        return "end"

    def all_of_it():
        source = items(2)
        assert next(source) == 1 and source.send("sent") == "sent"
        with pytest.raises(StopIteration) as end:
            next(source)
        return end.value.value

    assert all_of_it() == "end" and len(starts) == 3

    @retry()
    async def later(failures):
        starts.append(1)
        if len(starts) <= failures:
            raise ConnectionError
        yield 1
        yield 2

    async def main():
        return [item async for item in later(2)]

    starts.clear()
    assert run(main) == [1, 2] and len(starts) == 3


def test_stamina_123_what_a_generator_has_handed_out_is_not_handed_out_again(retry):
    starts = []

    @retry()
    def items():
        starts.append(1)
        yield 1
        raise ConnectionError

    source = items()
    assert next(source) == 1
    with pytest.raises(ConnectionError):
        next(source)
    assert starts == [1]


def test_tenacity_288_names_signatures_and_kinds_survive(retry):
    def plain(a: int, *, b: str = "x") -> None:
        """What it does."""

    async def coroutine(a: int) -> None: ...

    async def agen():
        yield

    def gen():
        yield

    for function in (plain, coroutine, agen, gen):
        wrapped = retry()(function)
        assert wrapped.__name__ == function.__name__ and wrapped.__doc__ == function.__doc__
        assert inspect.signature(wrapped) == inspect.signature(function)
        for kind in (inspect.iscoroutinefunction, inspect.isasyncgenfunction, inspect.isgeneratorfunction):
            assert kind(wrapped) == kind(function)


def test_tenacity_pr657_a_partial_over_an_async_callable_leaks_no_coroutine(retry, run, recwarn):
    class Service:
        async def __call__(self, x):
            return x

    wrapped = retry()(functools.partial(Service(), 3))

    async def main():
        return await wrapped()

    assert run(main) == 3 and not recwarn.list


def test_methods_static_methods_and_class_methods(retry):
    again = retry()

    class Service:
        @again
        def method(self):
            return self

        @again
        @classmethod
        def of_class(cls):
            return cls

        @again
        @staticmethod
        def static(x):
            return x

    service = Service()
    assert service.method() is service and service.of_class() is Service and Service.static(2) == 2


class PickledService:
    again = seawall.Retry(idempotent="yes", budget=seawall.RetryBudget())

    @again
    def method(self):
        return "done"


def test_tenacity_147_429_decorated_methods_and_their_policies_pickle():
    assert pickle.loads(pickle.dumps(PickledService().method))() == "done"
    policy = seawall.Policy(
        timeouts=seawall.Timeouts(connect=None, attempt="1500ms", total=7),
        retry=seawall.Retry(idempotent="by_key", attempts=4, backoff=seawall.Backoff(base=0.3, jitter="equal")),
        breaker=seawall.CircuitBreaker(name="b"),
        rate_limit=seawall.TokenBucket(rate=5, capacity=5),
        expected="1ms",
        name="p",
    )
    copy = pickle.loads(pickle.dumps(policy))
    assert (copy.name, copy.config, copy.breaker.name) == ("p", {"expected": 0.001}, "b")
    assert (copy.timeouts.connect, copy.timeouts.attempt, copy.timeouts.total) == (None, 1.5, 7)
    assert copy.retry.config == {"attempts": 4, "idempotent": "by_key"} and copy.call(int) == 0
    alone = pickle.loads(pickle.dumps(seawall.Retry(idempotent="yes").policy))
    assert alone.name == "retry" and alone.timeouts.total is None


def test_tenacity_182_every_exception_pickles_with_what_it_carries():
    for kind in (
        seawall.BudgetEmpty,
        seawall.DeadlineExceeded,
        seawall.WontFinish,
        seawall.TimedOut,
        seawall.RateLimited,
        seawall.CircuitOpen,
    ):
        error = pickle.loads(pickle.dumps(kind("what happened", "payments", "because", 7, 0.5)))
        assert type(error) is kind and str(error) == "what happened"
        assert (error.policy, error.reason, error.at_ns, error.retry_after) == ("payments", "because", 7, 0.5)
    with pytest.raises(ConnectionError) as raised:
        seawall.Retry(idempotent="no").call(Flaky(ConnectionError("refused")))
    copy = pickle.loads(pickle.dumps(raised.value))
    assert seawall.ending_of(copy) == seawall.ending_of(raised.value) != seawall.ending_of(ValueError())


def test_backoff_221_a_retry_is_logged_with_its_number_cause_and_wait(retry, caplog):
    caplog.set_level("INFO", "seawall")
    retry(name="search").call(Flaky(*transient(1)))
    assert "search: attempt 2, after a failure (transient) and 0.100 s" in caplog.text


def test_an_exception_in_a_group_is_judged_with_its_group(retry):
    group = getattr(__builtins__, "ExceptionGroup", None) or __builtins__.get("ExceptionGroup")
    if group is None:
        pytest.skip("groups are there from 3.11 on")
    flaky = Flaky(group("several", [ConnectionError(), ValueError()]))
    with pytest.raises(group):
        retry().call(flaky)
    assert flaky.calls == 1


def test_the_last_wait_is_never_slept(retry, clock):
    with pytest.raises(ConnectionError):
        retry(attempts=2).call(Flaky(ConnectionError(), ConnectionError(), ConnectionError()))
    assert clock.now() == pytest.approx(1000.1)


def test_a_manual_clock_of_its_own_is_needed_by_nobody():
    clock = ManualClock()
    assert seawall.call_with_retries(Flaky(*transient(1)), clock=clock) == "answer" and clock.now() <= 0.1


class WithStatus(Exception):
    """As aiohttp's ClientResponseError carries it."""

    def __init__(self, status):
        self.status = status


@pytest.mark.parametrize(
    ("error", "attempts"),
    [
        (WithStatus(503), 3),
        (WithStatus(404), 1),
        (WithStatus(1), 1),
        (urllib.error.HTTPError("http://example.invalid", 503, "", {}, None), 3),
        (urllib.error.HTTPError("http://example.invalid", 404, "", {}, None), 1),
        (urllib.error.URLError("unreachable"), 3),
    ],
)
def test_a_status_goes_before_the_class_of_the_exception(retry, error, attempts):
    asked = []

    def ask():
        asked.append(1)
        raise error

    with pytest.raises(type(error)):
        retry().call(ask)
    assert len(asked) == attempts
