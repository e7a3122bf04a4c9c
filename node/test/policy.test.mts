// One call under a policy: attempts, pauses, who says no, and what becomes of the caller's signal.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { createRequire } from "node:module";
import { describe, test } from "node:test";
import {
  callWithRetries,
  CircuitBreaker, CircuitOpen, DeadlineExceeded, endingOf, httpStatus, Policy, RateLimited, RetryBudget,
  TimedOut, TokenBucket, TransientError, WontFinish,
} from "seawall";
import type { PolicyOptions } from "seawall";
import { ManualClock } from "seawall/testing";

const { native } = createRequire(import.meta.url)("../../dist/native.js");

const RETRY = { retry: { idempotent: "yes" }, backoff: { jitter: "none" } } as const;

/** A policy in virtual time: three attempts, pauses of 100 and 200 ms, unless something else is said. */
function policy(options: Partial<PolicyOptions> = {}): { policy: Policy; clock: ManualClock } {
  const clock = options.clock ?? new ManualClock(1_000);
  return { policy: new Policy({ timeouts: "none", ...RETRY, clock, ...options }), clock };
}

/** Lets everything run that waits for no clock. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Moves the clock on until `call` has ended, from one thing that waits for it to the next. */
async function through<T>(clock: ManualClock, call: Promise<T>): Promise<PromiseSettledResult<T>> {
  let ended = false;
  const settled = Promise.allSettled([call]).then(([result]) => {
    ended = true;
    return result!;
  });
  for (let turn = 0; turn < 10_000 && !ended; turn++) {
    await settle();
    if (!ended) clock.advance(1);
  }
  assert.ok(ended, "the call has an end");
  return settled;
}

const never = (): Promise<never> => new Promise(() => {});
const transient = (): never => {
  throw new TransientError("down");
};

// Without limits a clean call's first attempt goes out without native code; all must do the same.
const ways = [
  { way: "plain", options: {} },
  { way: "limited", options: { timeouts: { connect: 0, attempt: 0, total: "1h" } } },
  { way: "guarded", options: {}, breaker: {} },
  { way: "guarded, native", options: {}, breaker: { cleanCheck: false } },
] as const;

for (const { way, options, ...rest } of ways) {
  const made = (more: Partial<PolicyOptions> = {}): { policy: Policy; clock: ManualClock } => {
    const clock = new ManualClock(1_000);
    const breaker = "breaker" in rest ? { breaker: new CircuitBreaker({ clock, ...rest.breaker }) } : {};
    breaker.breaker?.admit().success();
    return policy({ clock, ...options, ...breaker, ...more });
  };

  describe(`a ${way} call`, () => {
    test("answers what the function answers, promised or not", async () => {
      const { policy: it } = made();
      assert.equal(await it.run(async () => "later"), "later");
      assert.equal(await it.run(() => "now"), "now");
      assert.deepEqual(it.ended, {});
    });

    test("is tried again after its pauses, and numbers its attempts", async () => {
      const { policy: it, clock } = made();
      const sent: [number, number][] = [];
      const result = await through(clock, it.run(({ attempt }) => {
        sent.push([attempt, clock.now]);
        return attempt < 3 ? transient() : "at last";
      }));
      assert.deepEqual(result, { status: "fulfilled", value: "at last" });
      assert.deepEqual(sent, [[1, 1_000], [2, 1_100], [3, 1_300]]);
    });

    test("ends with the last error as it is, which knows why", async () => {
      const { policy: it, clock } = made();
      const errors = [1, 2, 3].map((n) => new TransientError(`down ${n}`));
      let calls = 0;
      const result = await through(clock, it.run(() => Promise.reject(errors[calls++])));
      assert.equal(result.status === "rejected" && result.reason, errors[2]);
      const ending = endingOf(errors[2]);
      assert.deepEqual([ending?.end, ending?.attempts, ending?.failure], ["attempts_used_up", 3, "transient"]);
      assert.equal(clock.now, 1_300, "no pause after the last attempt");
      assert.deepEqual(it.ended, { attempts_used_up: 1 });
    });

    test("is not tried again when nobody says that it may go away", async () => {
      const { policy: it } = made();
      const error = new TypeError("cannot read properties of undefined");
      let calls = 0;
      await assert.rejects(it.run(() => { calls++; throw error; }), (raised) => raised === error);
      assert.deepEqual([calls, endingOf(error)?.end], [1, "not_retryable"]);
    });

    test("leaves no call behind", async () => {
      const before = native.liveCalls();
      const { policy: it, clock } = made();
      await through(clock, it.run(transient));
      await it.run(() => 1);
      assert.equal(native.liveCalls(), before + 1, "the policy alone");
    });
  });
}

describe("what an error means", () => {
  const attempts = async (error: unknown, options: Partial<PolicyOptions> = {}): Promise<number> => {
    const { policy: it, clock } = policy(options);
    let calls = 0;
    await through(clock, it.run(() => { calls++; return Promise.reject(error); }));
    return calls;
  };

  test("is said by its status, its code or its type, by the engine's one table", async () => {
    const coded = (code: string): Error => Object.assign(new Error(code), { code });
    for (const [error, expected] of [
      [{ status: 503 }, 3], [{ status: 500 }, 1], [{ status: 404 }, 1], [{ response: { status: 502 } }, 3],
      [{ statusCode: 429 }, 3], [coded("ECONNRESET"), 3], [coded("UND_ERR_HEADERS_TIMEOUT"), 3],
      [new TypeError("fetch failed", { cause: coded("ECONNREFUSED") }), 3],
      [new DOMException("late", "TimeoutError"), 3], [new DOMException("gone", "AbortError"), 1],
      [undefined, 1], [null, 1], ["text", 1], [new Proxy({}, { get: transient, getPrototypeOf: transient }), 1],
    ] as const) {
      assert.equal(await attempts(error), expected);
    }
  });

  test("can be overruled; a classifier that throws or says nonsense has no opinion", async () => {
    assert.equal(await attempts("mine", { classify: (error) => error === "mine" }), 3);
    assert.equal(await attempts({ status: 503 }, { classify: () => 404 }), 1);
    assert.equal(await attempts("x", { classify: () => ({ retryable: true, breaker: "ignored" }) }), 3);
    const warnings: string[] = [];
    const warned = (warning: Error): unknown => warnings.push(`${warning.name}: ${warning.message}`);
    process.on("warning", warned);
    assert.equal(await attempts({ status: 503 }, { name: "pay", classify: transient }), 3);
    assert.equal(await attempts("x", { classify: () => "perhaps" as never }), 1);
    process.off("warning", warned);
    assert.equal(warnings[0], "SeawallWarning: pay: classify threw; it counts as if it were not there");
    assert.equal(warnings.length, 4);
  });

  test("a value can be a failure: it is tried again, and the last one is the answer", async () => {
    const { policy: it, clock } = policy({ classifyResult: httpStatus });
    let calls = 0;
    const last = await through(clock, it.run(() => ({ status: 503, call: ++calls })));
    assert.deepEqual(last, { status: "fulfilled", value: { status: 503, call: 3 } });
    assert.deepEqual(it.ended, { attempts_used_up: 1 });
  });
});

describe("what the dependency tells", () => {
  const started = async (headers: unknown, retry: object = {}): Promise<number[]> => {
    const { policy: it, clock } = policy({ retry: { idempotent: "yes", attempts: 2, ...retry } });
    const at: number[] = [];
    await through(clock, it.run(() => { at.push(clock.now - 1_000); return Promise.reject({ status: 503, headers }); }));
    return at;
  };

  test("is waited for: Retry-After as seconds, in an object or in Headers", async () => {
    assert.deepEqual(await started({ "retry-after": "2" }), [0, 2_000]);
    assert.deepEqual(await started(new Headers({ "Retry-After": "3" })), [0, 3_000]);
    assert.deepEqual(await started(new Headers({ "Retry-After": "0" })), [0, 100], "the usual pause");
  });

  test("ends the call when it is too long, or is not to be waited for, or says not again", async () => {
    assert.deepEqual(await started({ "retry-after": "61" }), [0]);
    assert.deepEqual(await started({ "retry-after": "1" + "0".repeat(30) }), [0]);
    assert.deepEqual(await started({ "retry-after": "1" }, { onRetryAfter: "fail" }), [0]);
    assert.deepEqual(await started({ "seawall-retry": "no" }), [0]);
  });

  test("what cannot be read was not told", async () => {
    for (const text of ["-1", "soon", "", "1.5", "NaN"]) {
      assert.deepEqual(await started({ "retry-after": text }), [0, 100], text);
    }
  });
});

describe("who says no", () => {
  test("an operation that must not be done twice is not", async () => {
    const { policy: it } = policy({ retry: { idempotent: "no" } });
    const error = new TransientError("down");
    await assert.rejects(it.run(() => Promise.reject(error)), (raised) => raised === error);
    assert.equal(endingOf(error)?.end, "not_idempotent");
  });

  test("an empty budget: the error comes through at once, and says so", async () => {
    const clock = new ManualClock(1_000);
    const budget = new RetryBudget({ capacity: 1, ratio: 0, clock });
    const { policy: it } = policy({ clock, budget });
    const first = await through(clock, it.run(transient));
    assert.ok(first.status === "rejected");
    assert.deepEqual([endingOf(first.reason)?.end, endingOf(first.reason)?.reason], ["budget_empty", "budget_empty"]);
    assert.equal(endingOf(first.reason)?.attempts, 2);
    assert.equal(budget.balance, 0);
  });

  test("a clean call pays into the budget", async () => {
    const budget = new RetryBudget({ capacity: 2, ratio: 0.5 });
    budget.withdraw();
    const it = new Policy({ timeouts: "none", ...RETRY, budget });
    await it.run(() => 1);
    assert.equal(budget.balance, 1.5);
  });

  test("an open breaker: nothing is sent, and the breaker's own refusal is thrown", async () => {
    const clock = new ManualClock(1_000);
    const breaker = new CircuitBreaker({ clock, name: "pay", failureThreshold: 2, resetAfter: "30s" });
    const { policy: it } = policy({ clock, breaker });
    const seen: string[] = [];
    breaker.onTransition(({ from, to }) => seen.push(`${from} to ${to}`));
    let calls = 0;
    const opened = await through(clock, it.run(() => { calls++; transient(); }));
    assert.ok(opened.status === "rejected" && opened.reason instanceof TransientError);
    assert.equal(endingOf(opened.reason)?.end, "breaker_refused", "the second failure opened it, so there is no third");
    const refused = await through(clock, it.run(() => calls++));
    assert.ok(refused.status === "rejected" && refused.reason instanceof CircuitOpen);
    assert.equal(refused.reason.policy, "pay");
    assert.deepEqual([calls, seen], [2, ["closed to open"]]);
  });

  test("a rate limit that may be waited for is, and otherwise refuses", async () => {
    const clock = new ManualClock(1_000);
    const rateLimit = new TokenBucket({ clock, rate: 1, capacity: 1 });
    const { policy: it } = policy({ clock, rateLimit, maxWait: "1s" });
    assert.equal(await it.run(() => clock.now), 1_000);
    const second = it.run(() => clock.now);
    const third = it.run(() => clock.now);
    await assert.rejects(third, (error) => error instanceof RateLimited && error.retryAfter !== undefined);
    assert.deepEqual(await through(clock, second), { status: "fulfilled", value: 2_000 });
  });

  test("a refusal of our own inside the call is no evidence and is not tried again", async () => {
    const clock = new ManualClock(1_000);
    const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
    const inner = new CircuitBreaker({ clock });
    inner.trip();
    const { policy: it } = policy({ clock, breaker });
    await assert.rejects(it.run(() => inner.run(() => 1)), CircuitOpen);
    assert.deepEqual([it.ended, breaker.state], [{ not_retryable: 1 }, "closed"]);
  });
});

describe("time", () => {
  const timeouts = { connect: 0, attempt: 100, total: 1_000 };

  test("an attempt is cut off by its timeout, with a fresh signal each, and tried again", async () => {
    const { policy: it, clock } = policy({ timeouts });
    const signals: AbortSignal[] = [];
    const result = await through(clock, it.run(({ signal, attempt, deadline }) => {
      assert.equal(deadline, clock.now + 100);
      signals.push(signal);
      return attempt < 3 ? never() : "answer";
    }));
    assert.deepEqual(result, { status: "fulfilled", value: "answer" });
    assert.equal(new Set(signals).size, 3);
    assert.deepEqual(signals.map(({ aborted }) => aborted), [true, true, false]);
    assert.ok(signals[0]!.reason instanceof TimedOut && signals[0]!.reason.timeout === 100);
  });

  test("the total includes attempts and pauses, and keeps the last error as the cause", async () => {
    const { policy: it, clock } = policy({ timeouts: { ...timeouts, total: 150 } });
    let calls = 0;
    const result = await through(clock, it.run(() => (++calls === 1 ? transient() : never())));
    assert.ok(result.status === "rejected" && result.reason instanceof TimedOut);
    assert.ok(result.reason.timeout === 150 && result.reason.cause instanceof TransientError);
    assert.deepEqual([clock.now, endingOf(result.reason)?.end], [1_150, "timed_out"]);
  });

  test("all attempts cut off: TimedOut, with the attempt's timeout", async () => {
    const { policy: it, clock } = policy({ timeouts });
    const result = await through(clock, it.run(never));
    assert.ok(result.status === "rejected" && result.reason instanceof TimedOut && result.reason.timeout === 100);
    assert.equal(endingOf(result.reason)?.end, "attempts_used_up");
  });

  test("a pause that would not end before the caller's deadline is not begun", async () => {
    const { policy: it, clock } = policy();
    const result = await through(clock, it.run(transient, { deadline: clock.now + 50 }));
    assert.ok(result.status === "rejected" && result.reason instanceof WontFinish);
    assert.ok(result.reason instanceof DeadlineExceeded && result.reason.cause instanceof TransientError);
    assert.equal(clock.now, 1_000);
  });

  test("the caller's deadline cuts an attempt off, and is no evidence", async () => {
    const clock = new ManualClock(1_000);
    const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
    const { policy: it } = policy({ clock, breaker, timeouts: { connect: 0, attempt: 500, total: 0 } });
    const result = await through(clock, it.run(never, { deadline: clock.now + 50 }));
    assert.ok(result.status === "rejected" && result.reason instanceof DeadlineExceeded);
    assert.equal(breaker.state, "closed");
    await assert.rejects(it.run(never, { deadline: clock.now - 1 }), DeadlineExceeded);
    await assert.rejects(it.run(never, { deadline: Date.now() }), RangeError, "another clock's instant");
  });

  test("a pause beyond what timers reach is waited for in full", async () => {
    const day = 86_400_000;
    const clock = new ManualClock(1_000);
    const { policy: it } = policy({ clock, backoff: { jitter: "none", base: "24h", cap: "24h" }, retry: { idempotent: "yes", attempts: 31 } });
    let calls = 0;
    const call = it.run(() => (++calls <= 30 ? transient() : clock.now));
    for (let turn = 0; turn < 30; turn++) { await settle(); clock.advance(day); }
    assert.equal(await call, 1_000 + 30 * day, "30 days in all, each pause once");
  });
});

describe("what broke elsewhere", () => {
  test("cockatiel, p-retry#97: an abort during a pause ends it at once, with its reason, and nothing more is sent", async () => {
    const { policy: it, clock } = policy();
    const controller = new AbortController();
    const reason = new Error("the user left");
    let calls = 0;
    const call = it.run(() => { calls++; transient(); }, { signal: controller.signal });
    await settle();
    assert.equal(clock.timers, 1);
    controller.abort(reason);
    await assert.rejects(call, (raised) => raised === reason);
    assert.deepEqual([clock.timers, calls], [0, 1]);
    clock.advance("1h");
    await settle();
    assert.equal(calls, 1);
  });

  test("cockatiel#69: no listener is left on the caller's signal", async () => {
    const { policy: it, clock } = policy({ timeouts: { connect: 0, attempt: 10, total: 0 } });
    const { signal } = new AbortController();
    await it.run(() => 1, { signal });
    await through(clock, it.run(never, { signal }));
    await through(clock, it.run(transient, { signal }));
    assert.equal(getEventListeners(signal, "abort").length, 0);
    assert.equal(clock.timers, 0);
  });

  test("cockatiel#101: the reason reaches the attempt's own signal", async () => {
    const { policy: it } = policy();
    const controller = new AbortController();
    let seen: AbortSignal | undefined;
    const call = it.run(({ signal }) => { seen = signal; return never(); }, { signal: controller.signal });
    controller.abort("why");
    await assert.rejects(call, (raised) => raised === "why");
    assert.equal(seen?.reason, "why");
    await assert.rejects(it.run(never, { signal: controller.signal }), (raised) => raised === "why");
  });

  test("the signal of an attempt that has failed by itself is left alone", async () => {
    const { policy: it, clock } = policy();
    const signals: AbortSignal[] = [];
    await through(clock, it.run(({ signal }) => { signals.push(signal); transient(); }));
    assert.ok(signals.length === 3 && signals.every(({ aborted }) => !aborted));
  });

  test("AsyncLocalStorage is kept in every attempt, whoever moves the clock", async () => {
    const storage = new AsyncLocalStorage<string>();
    const { policy: it, clock } = policy();
    const stores: (string | undefined)[] = [];
    const call = storage.run("request 7", () => it.run(() => { stores.push(storage.getStore()); transient(); }));
    await through(clock, call);
    assert.deepEqual(stores, ["request 7", "request 7", "request 7"]);
  });

  test("p-queue#163: no pause keeps the process alive, unless it is to", () => {
    const script = (ref: boolean): string =>
      `const { Policy, TransientError } = require("seawall");
       const policy = new Policy({ timeouts: "none", retry: { idempotent: "yes", attempts: 2 }, ref: ${ref},
         backoff: { base: 50, jitter: "none" } });
       policy.run(({ attempt }) => { process.stdout.write(String(attempt)); throw new TransientError("x"); })
         .catch(() => process.stdout.write("ended"));`;
    const run = (ref: boolean): string =>
      spawnSync(process.execPath, ["-e", script(ref)], { cwd: new URL("../..", import.meta.url), encoding: "utf8" }).stdout;
    assert.equal(run(false), "1");
    assert.equal(run(true), "12ended");
  });

  test("results that come after the end, or twice, change nothing", async () => {
    const clock = new ManualClock(1_000);
    const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
    const { policy: it } = policy({ clock, breaker, timeouts: { connect: 0, attempt: 100, total: 0 } });
    const late: ((value: string) => void)[] = [];
    const call = it.run(({ attempt }) => new Promise((resolve) => { late.push(resolve); if (attempt > 1) resolve("second"); }));
    const ended = await through(clock, call);
    // The timeout opened the breaker, so there was no second.
    assert.ok(ended.status === "rejected" && ended.reason instanceof CircuitOpen);
    assert.equal(endingOf(ended.reason)?.failure, "timeout");
    assert.equal(breaker.state, "open");
    late[0]!("too late");
    await settle();
    assert.equal(breaker.state, "open");
    assert.equal(breaker.snapshot().failed, 1);
  });

  test("what comes of an attempt that was cut off is not taken for the next one's end", async () => {
    const clock = new ManualClock(1_000);
    const breaker = new CircuitBreaker({ clock });
    const { policy: it } = policy({ clock, breaker, timeouts: { connect: 0, attempt: 100, total: 0 } });
    let fail!: (error: Error) => void;
    const call = it.run(() => new Promise((_, reject) => { fail = reject; }));
    clock.advance(100);
    fail(new Error("late"));
    await settle();
    breaker.trip();
    const ended = await through(clock, call);
    assert.ok(ended.status === "rejected" && ended.reason instanceof CircuitOpen);
  });
});

describe("impossible options", () => {
  const refused = (options: unknown, message: RegExp): void => {
    assert.throws(() => new Policy(options as PolicyOptions), (error: Error) => error instanceof RangeError && message.test(error.message));
  };

  test("are refused with field, value and what is allowed", () => {
    refused({}, /timeouts.connect/);
    refused({ timeouts: "none", retry: {} }, /retry.idempotent/);
    refused({ timeouts: "none", retry: { idempotent: "yes", attempts: 0 } }, /retry.attempts: 0 is not allowed; allowed are 1 to/);
    refused({ timeouts: "none", ...RETRY, backoff: { base: 100, cap: 50 } }, /backoff.cap/);
    refused({ timeouts: { connect: 0, attempt: Infinity, total: 0 } }, /timeouts.attempt: an infinite number/);
    refused({ timeouts: { connect: 0, attempt: "2s", total: "1s" } }, /an attempt lies within the total/);
    refused({ timeouts: "none", backoff: {} }, /pauses without retry/);
    refused({ timeouts: "none", breaker: {} }, /policy.breaker/);
    refused({ timeouts: "none", classify: "yes" }, /policy.classify/);
    refused({ timeouts: "none", retries: 3 }, /Policy has no option retries/);
  });

  test("parts of several clocks do not go together", () => {
    const breaker = new CircuitBreaker({ clock: new ManualClock() });
    assert.throws(() => new Policy({ timeouts: "none", breaker, budget: new RetryBudget() }), /go by one clock/);
  });

  test("a part lives as long as its policy", async () => {
    const breaker = new CircuitBreaker();
    const it = new Policy({ timeouts: "none", breaker });
    breaker.close();
    assert.equal(await it.run(() => 1), 1);
    assert.throws(() => new Policy({ timeouts: "none", breaker }), /was closed/);
  });
});

test("an option that there is not is refused, and the function is not called", async () => {
  const policy = new Policy({ timeouts: "none" });
  const fn = () => assert.fail("it must not be called");
  await assert.rejects(policy.run(fn, { timeout: 30 } as object), {
    name: "ConfigError",
    message: "run has no option timeout; it has signal, deadline",
  });
  await assert.rejects(callWithRetries(fn, { retries: 9 } as object), { name: "ConfigError", field: "retries" });
});
