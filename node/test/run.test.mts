// Running a function behind a breaker.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { getEventListeners } from "node:events";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpen, DeadlineExceeded, now, RateLimited, Refusal, TimedOut, TokenBucket } from "seawall";
import type { BreakerOptions } from "seawall";
import { ManualClock } from "seawall/testing";

function breaker(options: BreakerOptions = {}): { breaker: CircuitBreaker; clock: ManualClock } {
  const clock = new ManualClock(1_000);
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1, ...options });
  // From its first success on a breaker is clean, and may be decided without native code.
  breaker.admit().success();
  return { breaker, clock };
}

const never = (): Promise<never> => new Promise(() => {});
const failed = (it: CircuitBreaker): number => it.snapshot().failed;

// Clean, native (the check is off) and controlled (it has options) runs take three ways; all must do this.
const ways = [
  { way: "clean", options: {}, run: {} as { signal?: AbortSignal } | undefined },
  { way: "native", options: { cleanCheck: false }, run: undefined },
  { way: "controlled", options: {}, run: { signal: new AbortController().signal } },
];
ways[0]!.run = undefined;

for (const { way, options, run } of ways) {
  describe(`a ${way} run`, () => {
    test("answers what the function answers, promised or not", async () => {
      const { breaker: it } = breaker(options);
      assert.equal(await it.run(async () => "later", run), "later");
      assert.equal(await it.run(() => "now", run), "now");
      const thenable = { then: (resolve: (value: string) => void) => resolve("thenable") };
      assert.equal(await it.run(() => thenable as PromiseLike<string>, run), "thenable");
      assert.equal(it.state, "closed");
    });

    test("a rejection and a throw are failures, and come through as they are", async () => {
      for (const fn of [
        async () => Promise.reject(new Error("rejected")),
        (): never => {
          throw new Error("thrown");
        },
      ]) {
        const { breaker: it } = breaker(options);
        await assert.rejects(it.run(fn, run), /rejected|thrown/);
        assert.equal(it.state, "open");
      }
    });

    test("is rejected with CircuitOpen while open, and the function is not called", async () => {
      const { breaker: it } = breaker({ ...options, name: "pay" });
      it.trip();
      let calls = 0;
      const refused = it.run(() => calls++, run);
      await assert.rejects(refused, (error: unknown) => error instanceof CircuitOpen && error.policy === "pay");
      const value = await it.tryRun(() => calls++, run);
      assert.ok(value instanceof Refusal && value.reason === "open");
      assert.equal(calls, 0);
    });

    test("gets attempt, deadline and a signal of its own, made when first asked for", async () => {
      const { breaker: it } = breaker(options);
      const signals = await Promise.all([1, 2].map(() => it.run(({ signal }) => signal, run)));
      assert.ok(signals.every((signal) => signal instanceof AbortSignal && !signal.aborted));
      assert.notEqual(signals[0], signals[1]);
      await it.run((attempt) => {
        assert.equal(attempt.signal, attempt.signal);
        assert.deepEqual([attempt.attempt, attempt.deadline], [1, undefined]);
      }, run);
    });

    test("is settled late without harm when the state has changed meanwhile", async () => {
      const { breaker: it, clock } = breaker(options);
      let answer: (value: string) => void = () => {};
      const pending = it.run(() => new Promise<string>((resolve) => (answer = resolve)), run);
      it.trip();
      clock.advance("31s");
      answer("late");
      assert.equal(await pending, "late");
      assert.equal(it.state, "half-open", "the late success is no trial");
    });

    test("a success counts although another call has failed meanwhile", async () => {
      const { breaker: it } = breaker({ ...options, failureThreshold: 2 });
      let answer: (value: string) => void = () => {};
      const pending = it.run(() => new Promise<string>((resolve) => (answer = resolve)), run);
      await assert.rejects(it.run(() => Promise.reject(new Error("one")), run));
      answer("good");
      await pending;
      await assert.rejects(it.run(() => Promise.reject(new Error("two")), run));
      assert.equal(it.state, "closed", "the failures were not in a row");
    });

    test("a failure counts for the period it was admitted in, not for the one it ends in", async () => {
      const { breaker: it, clock } = breaker(options);
      for (let period = 0; period < 3; period++) {
        let end: (error: Error) => void = () => {};
        const pending = it.run(() => new Promise((_, reject) => (end = reject)), run);
        await it.run(() => "fine", run);
        await assert.rejects(it.run(() => Promise.reject(new Error("down")), run));
        assert.equal(it.state, "open", `period ${period}`);
        clock.advance("31s");
        await it.run(() => "trial", run);
        assert.equal(it.state, "closed");
        end(new Error("late"));
        await assert.rejects(pending, /late/);
        assert.equal(it.state, "closed", `period ${period}`);
      }
    });

    test("keeps AsyncLocalStorage", async () => {
      const { breaker: it } = breaker(options);
      const storage = new AsyncLocalStorage<string>();
      await storage.run("mine", async () => {
        const inside = await it.run(async () => {
          await null;
          return storage.getStore();
        }, run);
        assert.deepEqual([inside, storage.getStore()], ["mine", "mine"]);
      });
    });

    test("judges by ignore, isFailure and retryAfterOf", async () => {
      class NotFound extends Error {}
      const { breaker: it, clock } = breaker({
        ...options,
        ignore: (error) => error instanceof NotFound,
        isFailure: (response: { status: number }) => response.status >= 500,
        retryAfterOf: (failure: { retryAfter?: number }) => failure.retryAfter,
      });
      await assert.rejects(it.run(() => Promise.reject(new NotFound()), run), NotFound);
      await it.run(() => ({ status: 404 }), run);
      assert.equal(it.state, "closed");
      const response = { status: 503, retryAfter: 2_000 };
      assert.equal(await it.run(() => response, run), response, "the caller gets the value all the same");
      assert.equal(it.state, "open");
      clock.advance(2_003);
      assert.equal(it.state, "half-open");
    });

    test("a judgement that throws counts as if it were not there, and never hides what the call ended with", async () => {
      for (const [name, failures] of [["ignore", 1], ["isFailure", 0], ["retryAfterOf", 1]] as const) {
        const fault = (): never => {
          throw new Error("in the judgement");
        };
        const { breaker: it } = breaker({ ...options, failureThreshold: 5, [name]: fault });
        if (name === "isFailure") assert.equal(await it.run(() => "the answer", run), "the answer");
        else await assert.rejects(it.run(() => Promise.reject(new Error("the call's own")), run), /the call's own/);
        assert.equal(failed(it), failures, name);
      }
    });

    test("a judgement that throws is reported as a warning, once per call", async () => {
      const warnings: (Error & { detail?: string })[] = [];
      const listen = (warning: Error): unknown => warning.name === "SeawallWarning" && warnings.push(warning);
      await new Promise((resolve) => setImmediate(resolve)); // those of the tests before
      process.on("warning", listen);
      try {
        for (const [policy, name, thrown] of [
          ["pay", "ignore", new TypeError("fault of ignore")],
          [undefined, "isFailure", "fault of isFailure"],
          ["pay", "retryAfterOf", new Error("fault of retryAfterOf")],
          [undefined, "ignore", Object.create(null)],
        ] as const) {
          const fault = (): never => {
            throw thrown;
          };
          const { breaker: it } = breaker({ ...options, ...(policy && { name: policy }), [name]: fault });
          await it.run(name === "isFailure" ? () => 1 : () => Promise.reject(new Error("outcome")), run).catch(() => {});
          await new Promise((resolve) => setImmediate(resolve));
          const hasText = thrown instanceof Error || typeof thrown === "string";
          assert.deepEqual(
            warnings.splice(0).map(({ message, detail }) => [message, detail?.includes(`fault of ${name}`)]),
            [[`${policy ? "pay: " : ""}${name} threw; it counts as if it were not there`, hasText]],
          );
        }
      } finally {
        process.off("warning", listen);
      }
    });

    test("retryAfterOf hands on the header as it is: digits are seconds", async () => {
      const { breaker: it, clock } = breaker({ ...options, retryAfterOf: (failure) => failure.header });
      await assert.rejects(it.run(() => Promise.reject({ header: "120" }), run));
      clock.advance(119_999);
      assert.equal(it.state, "open");
      clock.advance(4);
      assert.equal(it.state, "half-open");
    });

    test("a refusal of our own inside is no evidence against the dependency", async () => {
      const { breaker: it } = breaker(options);
      const { breaker: inner } = breaker();
      const bucket = new TokenBucket({ rate: 1, capacity: 1, start: "empty" });
      inner.trip();
      await assert.rejects(it.run(() => inner.run(never), run), CircuitOpen);
      await assert.rejects(it.run(() => bucket.acquire(), run), RateLimited);
      assert.deepEqual([it.state, failed(it)], ["closed", 0]);
    });

    test("a group of nothing but such refusals is none either; one other error in it makes it a failure", async () => {
      const { breaker: inner } = breaker();
      inner.trip();
      const refusal = await inner.run(never).catch((error: unknown) => error);
      const limited = new TokenBucket({ rate: 1, capacity: 1, start: "empty" });
      const down = new Error("down");
      const group = (...errors: unknown[]): AggregateError => new AggregateError(errors);
      const own = group(refusal);
      own.errors.push(own);
      const neutral = [
        group(refusal),
        group(refusal, group(group(refusal), refusal)),
        Object.assign(new Error("as other libraries do"), { errors: [refusal] }),
        own,
      ];
      const empty = group();
      empty.errors.push(empty);
      const unseen = { get errors() { throw new Error("getter"); } };
      const failures = [
        group(refusal, down),
        group(group(refusal), group(refusal, down)),
        group(),
        group(refusal, group()),
        empty,
        group(refusal, undefined),
        Object.assign(new Error(), { errors: "none" }),
        unseen,
        new Error("wrapped", { cause: refusal }),
      ];
      for (const [errors, state] of [[neutral, "closed"], [failures, "open"]] as const) {
        for (const error of errors) {
          const { breaker: it } = breaker(options);
          await assert.rejects(it.run(() => Promise.reject(error), run), (thrown) => thrown === error);
          assert.deepEqual([it.state, failed(it)], [state, state === "open" ? 1 : 0], String(errors.indexOf(error as never)));
        }
      }
      const { breaker: it } = breaker(options);
      const any = it.run(() => Promise.any([inner.run(never), (async () => limited.acquire())()]), run);
      await assert.rejects(any, AggregateError);
      assert.deepEqual([it.state, failed(it)], ["closed", 0]);
    });

    test("a retryAfterOf that answers no span leaves a plain failure, and the caller gets what he would have", async () => {
      for (const said of [-1, Number.NaN, Infinity, "soon", "", null, {}, 1n, undefined]) {
        const { breaker: it } = breaker({ ...options, failureThreshold: 2, retryAfterOf: () => said as never });
        const down = new Error("down");
        await assert.rejects(it.run(() => Promise.reject(down), run), (error) => error === down);
        assert.deepEqual([it.state, failed(it)], ["closed", 1]);
      }
    });

    test("a breaker that is closed meanwhile does not spoil the answer", async () => {
      const { breaker: it } = breaker(options);
      const pending = it.run(async () => {
        it.close();
        return "mine";
      }, run);
      assert.equal(await pending, "mine");
    });
  });
}

describe("a caller's signal", () => {
  test("ends the run at once with its reason, and counts for nothing", async () => {
    const { breaker: it } = breaker();
    const controller = new AbortController();
    let inside: AbortSignal | undefined;
    const pending = it.run(({ signal }) => {
      inside = signal;
      return never();
    }, { signal: controller.signal });
    const reason = new Error("the user left");
    controller.abort(reason);
    await assert.rejects(pending, reason);
    assert.equal(inside?.reason, reason, "the function's own signal carries the same reason");
    assert.deepEqual([it.state, failed(it)], ["closed", 0]);
  });

  test("aborted before: nothing runs, no trial is used up", async () => {
    const { breaker: it, clock } = breaker();
    it.trip();
    clock.advance("31s");
    await assert.rejects(it.run(never, { signal: AbortSignal.abort("gone") }), (error) => error === "gone");
    assert.equal(it.snapshot().trialsInFlight, 0);
    assert.equal(it.state, "half-open");
  });

  test("an aborted trial gives its place back", async () => {
    const { breaker: it, clock } = breaker();
    it.trip();
    clock.advance("31s");
    const controller = new AbortController();
    const pending = it.run(never, { signal: controller.signal });
    assert.equal(it.snapshot().trialsInFlight, 1);
    controller.abort();
    await assert.rejects(pending, { name: "AbortError" });
    assert.equal(it.snapshot().trialsInFlight, 0);
    assert.equal(await it.run(() => "trial"), "trial");
    assert.equal(it.state, "closed");
  });

  test("aborted by who is told of the admission: nothing runs, the trial gives its place back", async () => {
    const { breaker: it, clock } = breaker();
    it.trip();
    clock.advance("31s");
    const controller = new AbortController();
    it.onTransition(() => controller.abort("gone"));
    let calls = 0;
    const pending = it.run(() => calls++, { signal: controller.signal, timeout: "1s" });
    await assert.rejects(pending, (error) => error === "gone");
    assert.deepEqual([calls, it.snapshot().trialsInFlight, it.state, clock.timers], [0, 0, "half-open", 0]);
  });

  test("that is none is refused before it costs a permit", async () => {
    const { breaker: it, clock } = breaker();
    it.trip();
    clock.advance("31s");
    for (const signal of [{}, null, "x", () => {}] as never[]) {
      await assert.rejects(it.run(never, { signal }), TypeError);
    }
    assert.equal(it.snapshot().trialsInFlight, 0);
  });

  test("keeps no listener, however the run ends", async () => {
    const { breaker: it, clock } = breaker({ failureThreshold: 100 });
    const { signal } = new AbortController();
    const count = (): number => getEventListeners(signal, "abort").length;
    await it.run(() => 1, { signal });
    await assert.rejects(it.run(() => Promise.reject(new Error()), { signal }));
    const slow = it.run(never, { signal, timeout: 5 });
    assert.equal(count(), 1);
    clock.advance(5);
    await assert.rejects(slow, TimedOut);
    it.trip();
    await assert.rejects(it.run(never, { signal }), CircuitOpen);
    assert.equal(count(), 0);
  });
});

describe("a timeout", () => {
  test("cuts the attempt, counts as a failure, and is the reason of the signal", async () => {
    const { breaker: it, clock } = breaker();
    let inside: AbortSignal | undefined;
    const pending = it.run(({ signal, deadline }) => {
      inside = signal;
      assert.equal(deadline, 1_800);
      return never();
    }, { timeout: "800ms" });
    clock.advance(799);
    assert.equal(it.state, "closed");
    clock.advance(1);
    await assert.rejects(pending, (error: unknown) => error instanceof TimedOut && error.timeout === 800);
    assert.equal(it.state, "open");
    assert.ok(inside?.reason instanceof TimedOut);
  });

  test("a signal that is asked for only afterwards is aborted already", async () => {
    const { breaker: it, clock } = breaker();
    let attempt: { readonly signal: AbortSignal } | undefined;
    const pending = it.run((given) => {
      attempt = given;
      return never();
    }, { timeout: 10 });
    clock.advance(10);
    await assert.rejects(pending, TimedOut);
    assert.ok(attempt!.signal.aborted && attempt!.signal.reason instanceof TimedOut);
  });

  test("what the function does after the cut changes nothing", async () => {
    const { breaker: it, clock } = breaker({ failureThreshold: 2 });
    let end: (error: Error) => void = () => {};
    const pending = it.run(() => new Promise((_, reject) => (end = reject)), { timeout: 10 });
    clock.advance(10);
    await assert.rejects(pending, TimedOut);
    end(new Error("too late"));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(failed(it), 1);
  });

  test("leaves no timer behind", async () => {
    const { breaker: it, clock } = breaker({ failureThreshold: 100 });
    await it.run(() => 1, { timeout: 10 });
    await assert.rejects(it.run(() => Promise.reject(new Error()), { timeout: 10 }));
    assert.equal(clock.timers, 0);
  });

  test("an inherited deadline that is shorter is not the dependency's fault; a longer one does not matter", async () => {
    const { breaker: it, clock } = breaker();
    const short = it.run(never, { timeout: 100, deadline: clock.now + 50 });
    clock.advance(50);
    await assert.rejects(short, DeadlineExceeded);
    assert.equal(failed(it), 0);
    const long = it.run(never, { timeout: 100, deadline: clock.now + 500 });
    clock.advance(100);
    await assert.rejects(long, TimedOut);
    assert.equal(it.state, "open");
    it.reset();
    await assert.rejects(it.run(never, { deadline: clock.now }), DeadlineExceeded);
    assert.equal(failed(it), 0);
  });

  test("an impossible one is refused, as is one beyond what timers can wait", async () => {
    const { breaker: it } = breaker();
    for (const timeout of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "25d", "soon", {} as never]) {
      await assert.rejects(it.run(() => 1, { timeout }), { name: "ConfigError", field: "timeout" });
    }
    assert.equal(await it.run(() => 1, { timeout: "24.8d" }), 1);
  });

  test("a deadline of another clock is refused before it costs a permit; 24.8 days are taken", async () => {
    const { breaker: it, clock } = breaker();
    it.trip();
    clock.advance("31s");
    for (const options of [{}, { timeout: 10 }]) {
      for (const deadline of [Date.now() + 500, clock.now + 2 ** 31, Number.POSITIVE_INFINITY]) {
        await assert.rejects(it.run(() => 1, { ...options, deadline }), {
          name: "ConfigError",
          field: "deadline",
          message: `deadline: ${deadline} ms is not allowed; allowed are instants up to 24.8 d from now() (milliseconds of the monotonic clock, not of Date.now())`,
        });
      }
    }
    assert.equal(it.snapshot().trialsInFlight, 0);
    assert.equal(await it.run(() => 1, { deadline: clock.now + 2 ** 31 - 1 }), 1);
  });

  test("a deadline goes by now(), the clock of process.hrtime", async () => {
    assert.ok(Math.abs(now() - Number(process.hrtime.bigint()) / 1e6) < 1_000);
    const it = new CircuitBreaker();
    assert.equal(await it.run(({ deadline }) => deadline! > now(), { deadline: now() + 60_000 }), true);
    await assert.rejects(it.run(() => 1, { deadline: Date.now() + 500 }), { name: "ConfigError", field: "deadline" });
  });

  test("by the system's clock, with a real timer", async () => {
    const it = new CircuitBreaker({ failureThreshold: 1 });
    const keep = setInterval(() => {}, 1_000);
    await assert.rejects(it.run(never, { timeout: 1 }), TimedOut).finally(() => clearInterval(keep));
    assert.equal(it.state, "open");
  });
});

test("diagnostics channels publish transitions and refusals while somebody subscribes", async () => {
  const { breaker: it } = breaker({ name: "pay" });
  const seen: unknown[] = [];
  const listen = (message: unknown, name: string | symbol): void => {
    const { policy, to, reason } = message as { policy?: string; to?: string; reason?: string };
    seen.push([name, policy, to ?? reason]);
  };
  subscribe("seawall:transition", listen);
  subscribe("seawall:refused", listen);
  it.trip();
  it.tryAdmit();
  new TokenBucket({ name: "rate", rate: 1, capacity: 1, start: "empty" }).tryAcquire();
  unsubscribe("seawall:transition", listen);
  unsubscribe("seawall:refused", listen);
  it.reset();
  assert.deepEqual(seen, [
    ["seawall:transition", "pay", "open"],
    ["seawall:refused", "pay", "open"],
    ["seawall:refused", "rate", "rate_limited"],
  ]);
});
