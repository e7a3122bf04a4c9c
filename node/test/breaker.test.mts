// The circuit breaker, as its specification.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitBreaker, CircuitOpen, Closed, Permit, Refusal } from "seawall";
import type { BreakerOptions, RefusedEvent, Transition } from "seawall";
import { ManualClock } from "seawall/testing";

function breaker(options: BreakerOptions = {}): { breaker: CircuitBreaker; clock: ManualClock } {
  const clock = new ManualClock(1_000);
  const breaker = new CircuitBreaker({ clock, ...options });
  // From its first success on a breaker is clean, and may be decided without native code.
  if (options.failureRate === undefined) breaker.admit().success();
  return { breaker, clock };
}

function fail(breaker: CircuitBreaker, times: number): void {
  for (let i = 0; i < times; i++) breaker.admit().failure();
}

for (const cleanCheck of [true, false]) {
  describe(`with the clean check ${cleanCheck ? "on" : "off"}`, () => {
    const options = { cleanCheck };

    test("five failures in a row open it, and it says until when", () => {
      const { breaker: it, clock } = breaker({ ...options, name: "payments" });
      fail(it, 4);
      assert.equal(it.state, "closed");
      fail(it, 1);
      assert.equal(it.state, "open");
      const refusal = it.decide();
      assert.ok(refusal instanceof Refusal);
      assert.deepEqual([refusal.reason, refusal.when, refusal.policy], ["open", "at", "payments"]);
      assert.ok(refusal.retryAfter! >= 30_000 && refusal.retryAfter! <= 30_002, String(refusal.retryAfter));
      clock.advance(refusal.retryAfter!);
      assert.ok(it.decide() instanceof Permit, "after exactly that long the next call is the trial");
    });

    test("a success between failures starts the count anew", () => {
      const { breaker: it } = breaker(options);
      fail(it, 4);
      it.admit().success();
      fail(it, 4);
      assert.equal(it.state, "closed");
    });

    test("a token is a number; below 0 is a no that can be explained", () => {
      const { breaker: it } = breaker({ ...options, failureThreshold: 1 });
      const token = it.tryAdmit();
      assert.ok(token >= 0);
      assert.equal(it.fail(token), "counted");
      const code = it.tryAdmit();
      assert.ok(code < 0);
      assert.equal(it.refusal(code).reason, "open");
      assert.match(it.refusal(code).explain(), /^The circuit breaker is open; ask again in 30/);
    });

    test("a refusal that is settled, or what is no token at all, counts for nothing", () => {
      for (const state of ["closed", "open", "half-open", "clean"]) {
        const { breaker: it, clock } = breaker({ ...options, failureThreshold: 2, trials: 2 });
        if (state === "closed") fail(it, 1);
        if (state === "open" || state === "half-open") it.trip();
        if (state === "half-open") {
          clock.advance("31s");
          assert.ok(it.tryAdmit() >= 0 && it.tryAdmit() >= 0, "both trials are out");
        }
        const before = it.snapshot();
        const refused = it.tryAdmit();
        const odd = [-1, -0.5, 0.5, -(2 ** 40), 2 ** 33, 1e300, Number.NaN, Infinity, -Infinity, undefined, null, "1", 1n, {}];
        for (const no of [...(refused < 0 ? [refused] : []), ...odd] as number[]) {
          assert.equal(it.ok(no), "stale", `ok(${String(no)}), ${state}`);
          assert.equal(it.ok(no, 5), "stale", `ok(${String(no)}, 5), ${state}`);
          assert.equal(it.fail(no), "stale", `fail(${String(no)}), ${state}`);
          assert.equal(it.fail(no, { retryAfter: "1s" }), "stale", `fail(${String(no)}, told), ${state}`);
          assert.equal(it.ignore(no), "stale", `ignore(${String(no)}), ${state}`);
        }
        assert.deepEqual(it.snapshot(), before, state);
      }
    });

    test("the breaker that has done nothing yet is not failed by its own refusals", () => {
      const { breaker: it, clock } = breaker({ ...options, failureRate: 0.5, minimumCalls: 1 });
      // The first token of all is the number that a careless reading of a refusal would give.
      const first = it.snapshot();
      it.mode = "forced-open";
      for (let i = 0; i < 5; i++) it.fail(it.tryAdmit());
      it.mode = "normal";
      assert.deepEqual([it.state, it.snapshot().failed, it.snapshot().calls], ["closed", first.failed, first.calls]);
      clock.advance("1s");
      assert.ok(it.tryAdmit() >= 0);
    });

    test("a result from before a change of state is stale, whichever it is", () => {
      const { breaker: it, clock } = breaker({ ...options, failureThreshold: 1 });
      const [late, later, latest] = [it.tryAdmit(), it.tryAdmit(), it.tryAdmit()];
      it.fail(it.tryAdmit());
      assert.equal(it.ok(late!), "stale");
      clock.advance("31s");
      const trial = it.admit();
      assert.equal(it.ok(later!), "stale");
      assert.equal(it.fail(latest!), "stale");
      assert.equal(it.state, "half-open");
      assert.equal(trial.success(), "counted");
      assert.equal(it.state, "closed");
    });

    test("a success counts although the breaker was clean when it was admitted", () => {
      const { breaker: it } = breaker({ ...options, failureThreshold: 2 });
      const early = it.tryAdmit();
      fail(it, 1);
      assert.equal(it.ok(early), "counted");
      fail(it, 1);
      assert.equal(it.state, "closed", "the failures were not in a row");
    });

    test("half-open lets out as many trials as stated and no more", () => {
      const { breaker: it, clock } = breaker({ ...options, failureThreshold: 1, trials: 3 });
      fail(it, 1);
      clock.advance("31s");
      const trials = [it.admit(), it.admit(), it.admit()];
      assert.ok(trials.every((permit) => permit.trial));
      const refusal = it.decide();
      assert.ok(refusal instanceof Refusal);
      assert.deepEqual([refusal.reason, refusal.when], ["trials_busy", "depends"]);
      for (const permit of trials) permit.success();
      assert.equal(it.state, "closed");
    });
  });
}

test("a permit is settled once", () => {
  const { breaker: it } = breaker({ failureThreshold: 2 });
  const permit = it.admit();
  assert.equal(permit.failure(), "counted");
  assert.equal(permit.failure(), "stale");
  assert.equal(it.state, "closed", "the second failure did not count");
});

test("admit throws CircuitOpen with reason, instant, wait and policy", () => {
  const { breaker: it, clock } = breaker({ name: "search", failureThreshold: 1, resetAfter: "2s" });
  fail(it, 1);
  assert.throws(
    () => it.admit(),
    (error: unknown) => {
      assert.ok(error instanceof CircuitOpen);
      assert.equal(error.name, "CircuitOpen");
      assert.deepEqual([error.reason, error.when, error.policy], ["open", "at", "search"]);
      assert.ok(error.retryAfter! >= 2_000 && error.at! >= clock.now + 2_000 && error.at! < clock.now + 2_003);
      assert.match(error.message, /^search: The circuit breaker is open; ask again in 2 s|2.1 s$/);
      return true;
    },
  );
});

test("a dependency that says when it is back is asked then", () => {
  const { breaker: it, clock } = breaker();
  it.admit().failure({ retryAfter: "7s" });
  assert.equal(it.state, "open");
  clock.advance(7_003);
  assert.equal(it.state, "half-open");
  it.admit().failure({ until: clock.nanos + 3_000_000_000n });
  assert.equal(it.state, "open");
  clock.advance(3_003);
  it.admit().failure({ until: clock.now + 500 });
  clock.advance(499);
  assert.equal(it.state, "open");
  clock.advance(3);
  assert.equal(it.state, "half-open");
});

test("told text of digits alone is seconds, as the header Retry-After has it; a number is milliseconds", () => {
  for (const [retryAfter, milliseconds] of [["120", 120_000], ["0120", 120_000], ["5", 5_000], [120, 120], ["120ms", 120]] as const) {
    for (const open of [
      (it: CircuitBreaker) => it.admit().failure({ retryAfter }),
      (it: CircuitBreaker) => it.fail(it.tryAdmit(), { retryAfter }),
      (it: CircuitBreaker) => it.trip({ retryAfter }),
    ]) {
      const { breaker: it, clock } = breaker();
      open(it);
      clock.advance(milliseconds - 1);
      assert.equal(it.state, "open", `${retryAfter}`);
      clock.advance(4);
      assert.equal(it.state, "half-open", `${retryAfter}`);
    }
  }
  assert.throws(() => new CircuitBreaker({ resetAfter: "120" }), { name: "ConfigError" }, "an option states its unit");
});

test("shadow mode counts what it would have refused, however it was asked", async () => {
  const it = new CircuitBreaker({ mode: "shadow" });
  assert.equal(await it.run(() => 1), 1);
  assert.equal(it.bypassed, 0);
  it.trip();
  it.admit().success();
  it.tryAdmit();
  assert.equal(await it.run(() => 1), 1);
  assert.deepEqual([it.bypassed, it.refused], [3, {}]);
});

test("a told Date is that time by the wall clock; one that is over tells nothing", (context) => {
  context.mock.timers.enable({ apis: ["Date"], now: 1_700_000_000_000 });
  const { breaker: it, clock } = breaker();
  it.admit().failure({ retryAfter: new Date(Date.now() + 7_000) });
  clock.advance(6_999);
  assert.equal(it.state, "open");
  clock.advance(4);
  assert.equal(it.state, "half-open");

  for (const after of [0, -1, -60_000]) {
    const { breaker: plain } = breaker({ failureThreshold: 2 });
    plain.admit().failure({ retryAfter: new Date(Date.now() + after) });
    assert.deepEqual([plain.state, plain.snapshot().failed], ["closed", 1], "a plain failure");
  }
});

test("ignored trials are neutral: the breaker stays half-open", () => {
  const { breaker: it, clock } = breaker();
  it.trip();
  clock.advance("31s");
  for (let trial = 0; trial < 5; trial++) it.admit().ignore();
  assert.deepEqual([it.state, it.snapshot().trialsInFlight], ["half-open", 0]);
});

test("a threshold beside a window opens at so many failures of the last calls", () => {
  const { breaker: it } = breaker({ failureThreshold: 3, window: 10 });
  for (const outcome of ["F", "F", "S", "S", "S", "S", "S", "S", "S"]) {
    if (outcome === "F") it.admit().failure();
    else it.admit().success();
  }
  assert.equal(it.state, "closed");
  it.admit().failure();
  assert.equal(it.state, "open", "three of the last ten");

  it.reset();
  it.admit().failure();
  it.admit().failure();
  for (let call = 0; call < 9; call++) it.admit().success();
  it.admit().failure();
  assert.equal(it.state, "closed", "the first two have left the window");
});

/** What a server may say, and is neither a span nor an instant. */
const NOTHING_TOLD: readonly unknown[] = [
  ...[-1, -0.001, Number.NaN, Infinity, "soon", "-1s", "", "-5", " 5", "5.5", new Date(Number.NaN), null, undefined, {}, -1n].map((retryAfter) => ({ retryAfter })),
  ...[-1, Number.NaN, Infinity, -1n, -(2n ** 80n), "soon", null, undefined, {}].map((until) => ({ until })),
  ...[{}, null, 5, "soon", { get until() { throw new Error("getter"); } }],
];

test("what was told and says nothing leaves a plain failure: it is settled, and nothing is thrown", () => {
  for (const told of NOTHING_TOLD as { until: number }[]) {
    for (const settle of [
      (it: CircuitBreaker) => it.admit().failure(told),
      (it: CircuitBreaker) => it.fail(it.tryAdmit(), told),
      (it: CircuitBreaker) => it.fail(it.tryAdmit(), told, 5),
    ]) {
      const { breaker: it, clock } = breaker({ failureThreshold: 2 });
      assert.equal(settle(it), "counted");
      assert.deepEqual([it.state, it.snapshot().failed], ["closed", 1], "nothing was told, so it does not open");
      it.trip();
      clock.advance("31s");
      assert.equal(settle(it), "counted");
      assert.deepEqual([it.state, it.snapshot().trialsInFlight], ["open", 0], "the trial is over");
      assert.equal(it.snapshot().cause, "trial_failed");
    }
  }
});

test("an instant beyond all instants is as late as maxRetryAfter allows", () => {
  const beyond = [2n ** 64n - 1n, 2n ** 64n, 2n ** 200n, 2 ** 64, 1e14, 1e300, Number.MAX_VALUE];
  const spans = [1e300, Number.MAX_VALUE, "9".repeat(20), "9".repeat(1_000), new Date(8.64e15)];
  for (const told of [...beyond.map((until) => ({ until })), ...spans.map((retryAfter) => ({ retryAfter }))]) {
    for (const open of [
      (it: CircuitBreaker) => it.trip(told),
      (it: CircuitBreaker) => it.admit().failure(told),
      (it: CircuitBreaker) => it.fail(it.tryAdmit(), told),
    ]) {
      const { breaker: it, clock } = breaker({ resetAfter: "1s", maxRetryAfter: "2h" });
      open(it);
      clock.advance(7_199_000);
      assert.equal(it.state, "open", JSON.stringify(told, (_, value: unknown) => String(value)));
      clock.advance(1_003);
      assert.equal(it.state, "half-open");
    }
  }
});

test("trip by hand refuses what is no span and no instant, and nothing has changed", () => {
  const { breaker: it } = breaker();
  for (const told of NOTHING_TOLD as { until: number }[]) {
    if (typeof told !== "object" || told === null) assert.throws(() => it.trip(told), TypeError);
    else if (Object.getOwnPropertyDescriptor(told, "until")?.get !== undefined) assert.throws(() => it.trip(told), /getter/);
    else assert.throws(() => it.trip(told), { name: "ConfigError", field: "retryAfter" in told ? "retryAfter" : "until" });
  }
  assert.throws(() => it.trip({ until: -1n }), {
    message: "until: a negative number is not allowed; allowed are 0 ns and more",
  });
  assert.equal(it.state, "closed");
});

test("slow successes count where slowAfter is set", () => {
  const { breaker: it, clock } = breaker({ failureThreshold: 2, slowAfter: 100 });
  for (let i = 0; i < 2; i++) {
    const permit = it.admit();
    clock.advance(101);
    permit.success();
  }
  assert.equal(it.state, "open");
  it.reset();
  const token = it.tryAdmit();
  it.ok(token, 101);
  it.ok(it.tryAdmit(), "100ms");
  assert.equal(it.snapshot().calls, 0, "100 ms is not slow, and starts the count anew");
});

test("every change of state is told once, after the operation, to who listens", () => {
  const { breaker: it, clock } = breaker({ name: "mail", failureThreshold: 1 });
  const seen: Transition[] = [];
  const stop = it.onTransition((transition) => {
    assert.equal(it.state, transition.to, "the operation is done");
    seen.push(transition);
  });
  fail(it, 1);
  clock.advance("31s");
  it.admit().success();
  it.trip({ retryAfter: 10 });
  it.halfOpen();
  it.reset();
  assert.deepEqual(
    seen.map(({ from, to, cause }) => [from, to, cause]),
    [
      ["closed", "open", "failure_threshold"],
      ["open", "half-open", "due"],
      ["half-open", "closed", "trials_succeeded"],
      ["closed", "open", "tripped"],
      ["open", "half-open", "half_opened"],
      ["half-open", "closed", "reset"],
    ],
  );
  assert.deepEqual([seen[0]!.policy, seen[0]!.calls, seen[0]!.failed], ["mail", 1, 1]);
  assert.equal(seen[0]!.at, 1_000);
  stop();
  it.trip();
  assert.equal(seen.length, 6);
});

test("a listener may use the breaker, and one that throws harms nobody but the process's own handler", async () => {
  const { breaker: it } = breaker({ failureThreshold: 1 });
  const states: string[] = [];
  it.onTransition(({ to }) => {
    if (to === "open") it.reset();
  });
  it.onTransition(() => {
    throw new Error("from a listener");
  });
  it.onTransition(({ to }) => states.push(to));
  const caught: string[] = [];
  const before = process.rawListeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.on("uncaughtException", (error) => caught.push(error.message));
  try {
    assert.equal(it.admit().failure(), "counted");
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of before) process.on("uncaughtException", listener as () => void);
  }
  assert.deepEqual(states.sort(), ["closed", "open"]);
  assert.deepEqual(caught, ["from a listener", "from a listener"]);
});

test("listeners that use other objects do not touch the answer that is being given", () => {
  const clock = new ManualClock(1_000);
  const other = new CircuitBreaker({ clock, resetAfter: "7d" });
  other.trip();
  const { breaker: it } = breaker({ clock, failureThreshold: 1, resetAfter: "1s", mode: "shadow", expiredTrials: "open" });
  const use = (): unknown => other.decide();
  it.onRefused(use);
  it.onTransition(use);
  it.trip();
  assert.ok(it.admit().bypassed!.at! < 2_003);
  it.mode = "normal";
  const refusal = it.decide();
  assert.ok(refusal instanceof Refusal && refusal.at! < 2_003, "not the other's");
  clock.advance("2s");
  it.tryAdmit();
  clock.advance("2s");
  it.mode = "shadow";
  const permit = it.admit();
  assert.ok(permit.bypassed!.at! > 6_000 && permit.bypassed!.at! < 6_003, "the trial has expired, which opened it");
});

test("refusals are counted by reason, and told to who listens", () => {
  const { breaker: it, clock } = breaker({ name: "x", failureThreshold: 1 });
  const seen: RefusedEvent[] = [];
  it.onRefused((event) => seen.push(event));
  fail(it, 1);
  it.tryAdmit();
  it.tryAdmit();
  it.mode = "forced-open";
  it.tryAdmit();
  it.mode = "normal";
  clock.advance("31s");
  it.tryAdmit();
  it.tryAdmit();
  assert.deepEqual(it.refused, { open: 2, forced_open: 1, trials_busy: 1 });
  assert.deepEqual(seen.map(({ reason }) => reason), ["open", "open", "forced_open", "trials_busy"]);
  assert.equal(seen[0]!.policy, "x");
});

test("modes: forced open keeps what it learnt, disabled records nothing, shadow never refuses", () => {
  const { breaker: it } = breaker({ failureThreshold: 3 });
  fail(it, 2);
  it.mode = "forced-open";
  assert.throws(() => it.admit(), { reason: "forced_open" });
  it.mode = "disabled";
  fail(it, 9);
  it.mode = "shadow";
  assert.equal(it.snapshot().failed, 2);
  fail(it, 1);
  assert.equal(it.state, "open");
  const permit = it.admit();
  assert.equal(permit.bypassed?.reason, "open");
  assert.equal(permit.success(), "neutral");
  assert.throws(() => (it.mode = "ajar" as never), { name: "ConfigError", field: "mode" });
});

test("the configuration changes while it runs, and what was learnt stays", () => {
  const { breaker: it } = breaker({ failureThreshold: 5 });
  fail(it, 2);
  it.configure({ failureThreshold: 3 });
  fail(it, 1);
  assert.equal(it.state, "open");
  assert.throws(() => it.configure({ trials: 0 }), { name: "ConfigError", field: "trials", value: 0 });
});

test("a new configuration leaves the mode as it is, unless it states one", () => {
  const { breaker: it } = breaker({ trials: 3 });
  it.mode = "forced-open";
  it.configure({});
  assert.deepEqual([it.mode, it.snapshot().trials], ["forced-open", 1], "all else that is not stated is as by default");
  it.mode = "shadow";
  it.configure({ failureThreshold: 2 });
  assert.equal(it.mode, "shadow");
  it.configure({ mode: "normal" });
  assert.equal(it.mode, "normal");
});

test("slowAfter may be turned on while calls are in flight; those count as fast", () => {
  const { breaker: it, clock } = breaker({ failureThreshold: 1 });
  const before = it.admit();
  it.configure({ failureThreshold: 1, slowAfter: 10 });
  clock.advance(50);
  before.success();
  assert.equal(it.state, "closed");
  const after = it.admit();
  clock.advance(50);
  after.success();
  assert.equal(it.state, "open");
});

test("explain and snapshot say what is, with figures", () => {
  const { breaker: it, clock } = breaker({ failureRate: 0.5, window: 20, resetAfter: "30s" });
  for (let i = 0; i < 20; i++) {
    const permit = it.admit();
    if (i < 9) permit.success();
    else permit.failure();
    if (it.state === "open") break;
  }
  assert.match(it.explain(), /^open: \d+ of the last \d+ calls failed; next trial in 30(\.\d)? s$/);
  const { state, mode, calls, failed, cause, until, changedAt } = it.snapshot();
  assert.deepEqual([state, mode, calls, failed, cause], ["open", "normal", 18, 9, "failure_rate"]);
  assert.ok(until! >= clock.now + 30_000 && Math.abs(changedAt! - clock.now) < 0.01);
});

test("a closed object: everything but a settlement throws Closed; closing twice is fine", () => {
  const { breaker: it } = breaker();
  const permit = it.admit();
  const token = it.tryAdmit();
  it.close();
  it.close();
  assert.equal(permit.success(), "stale");
  assert.equal(it.fail(token), "stale");
  for (const use of [
    () => it.tryAdmit(),
    () => it.decide(),
    () => it.state,
    () => it.snapshot(),
    () => it.explain(),
    () => it.mode,
    () => it.trip(),
    () => it.reset(),
    () => it.configure({}),
  ]) {
    assert.throws(use, Closed);
  }
});

test("without a manual clock it goes by the system's", () => {
  const it = new CircuitBreaker({ failureThreshold: 1, resetAfter: "1d", resetJitter: 0.5, resetCap: "2d" });
  it.admit().failure();
  const refusal = it.decide();
  assert.ok(refusal instanceof Refusal);
  const until = Number(process.hrtime.bigint()) / 1e6 + refusal.retryAfter!;
  assert.ok(Math.abs(refusal.at! - until) < 10_000, "instants are those of process.hrtime");
});
