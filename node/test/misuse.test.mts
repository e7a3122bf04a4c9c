// Whatever is passed where: an answer or an ordinary error, never the end of the process, and no state
// beyond its bounds.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

/** A reproducible sequence (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ODD: readonly unknown[] = [
  undefined, null, true, false, 0, -0, 1, -1, 0.5, 5, 20, 2 ** 31, 2 ** 32, 2 ** 33, 2 ** 53, 1e300, -1e300,
  Number.NaN, Infinity, -Infinity, 0n, 1n, -1n, 2n ** 64n, 2n ** 63n, "", "x", "5", "30s", "100/s", "-1s", "\u0000",
  "\ud800", "9".repeat(1_000), Symbol("s"), {}, [], [1, 2], () => 1, new Date(), /x/, new Map(), new Uint8Array(4),
  { retryAfter: -1 }, { retryAfter: "1s" }, { until: 5 }, { until: 2n ** 70n }, { until: Number.NaN }, { until: null },
  { valueOf: () => { throw new Error("valueOf"); } }, Object.create(null), new Proxy({}, {}),
];

const FIELDS = [
  "failureThreshold", "failureRate", "window", "minimumCalls", "slowAfter", "slowRate", "trials", "closeAfter",
  "resetAfter", "resetFactor", "resetCap", "resetJitter", "maxRetryAfter", "trialTimeout", "expiredTrials", "mode",
  "rate", "capacity", "period", "start", "name", "cleanCheck", "ignore", "isFailure", "retryAfterOf", "__proto__",
];

test("options of every kind are taken or refused with an error", () => {
  const next = random(1);
  const pick = <T,>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
  let [taken, refused] = [0, 0];
  for (let i = 0; i < 20_000; i++) {
    const options = Object.fromEntries(Array.from({ length: 1 + Math.floor(next() * 3) }, () => [pick(FIELDS), pick(ODD)]));
    for (const Type of [CircuitBreaker, TokenBucket]) {
      try {
        const full = Type === TokenBucket && next() < 0.5 ? { rate: 5, capacity: 5, ...options } : options;
        new Type(full as never).close();
        taken++;
      } catch (error) {
        assert.ok(error instanceof Error, String(error));
        refused++;
      }
    }
  }
  assert.ok(taken > 500 && refused > 500, `${taken} taken, ${refused} refused`);
});

test("operations in any order with any arguments leave a working breaker", () => {
  const next = random(2);
  const pick = <T,>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
  const clock = new ManualClock(1_000);
  const breaker = new CircuitBreaker({ clock, failureRate: 0.5, trials: 2 });
  const tokens: unknown[] = [...ODD];
  const told: string[] = [];
  breaker.onTransition(({ to }) => told.push(to));
  const operations: (() => unknown)[] = [
    () => tokens.push(breaker.tryAdmit()),
    () => breaker.ok(pick(tokens) as never, pick(ODD) as never),
    () => breaker.ok(pick(tokens) as never),
    () => breaker.fail(pick(tokens) as never, pick(ODD) as never, pick(ODD) as never),
    () => breaker.fail(pick(tokens) as never),
    () => breaker.ignore(pick(tokens) as never),
    () => breaker.refusal(pick(tokens) as never),
    () => breaker.trip(pick(ODD) as never),
    () => breaker.halfOpen(),
    () => breaker.reset(),
    () => (breaker.mode = pick([...ODD, "normal", "shadow", "disabled"]) as never),
    () => breaker.configure(pick(ODD) as never),
    () => clock.set(pick(ODD) as never),
    () => (clock.random = pick(ODD) as never),
    () => clock.advance(Math.floor(next() * 60_000)),
    () => breaker.snapshot() && breaker.explain(),
    () => breaker.onTransition(pick(ODD) as never)?.(),
    () => CircuitBreaker.attach(pick(ODD) as never),
  ];
  for (let i = 0; i < 50_000; i++) {
    try {
      pick(operations)();
    } catch (error) {
      assert.ok(error instanceof Error, String(error));
    }
  }
  assert.ok(told.length > 100, `${told.length} transitions`);
  clock.set(1_000_000);
  breaker.configure({ failureThreshold: 1, mode: "normal" });
  breaker.reset();
  breaker.admit().failure();
  assert.equal(breaker.state, "open");
});

test("runs with any function and any options end", async () => {
  const next = random(3);
  const pick = <T,>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
  const breaker = new CircuitBreaker({ failureThreshold: 1_000_000 });
  const thenables = [
    { then: (done: (value: number) => void) => (done(1), done(2)) },
    { then: () => { throw new Error("then"); } },
    { get then() { throw new Error("getter"); } },
    { then: (_: unknown, no: (error: Error) => void) => no(new Error("rejected")) },
  ];
  for (let i = 0; i < 3_000; i++) {
    const outcome = pick([...ODD, ...thenables]);
    const fn = next() < 0.2 ? pick(ODD) : next() < 0.5 ? () => outcome : async () => outcome;
    const options = next() < 0.5 ? undefined : { timeout: pick(ODD), signal: pick([undefined, {}, AbortSignal.abort()]), deadline: pick(ODD) };
    const run = breaker.run(fn as never, options as never);
    assert.ok(run instanceof Promise);
    await run.then(() => {}, () => {});
  }
  assert.equal(breaker.state, "closed");
});

test("a bucket used in any way never holds more than its capacity", () => {
  const next = random(4);
  const pick = <T,>(of: readonly T[]): T => of[Math.floor(next() * of.length)]!;
  const clock = new ManualClock(1_000);
  const bucket = new TokenBucket({ rate: 10, capacity: 20, clock });
  const reservations: { cancel(): unknown }[] = [];
  const operations: (() => unknown)[] = [
    () => bucket.tryAcquire(pick(ODD) as never),
    () => bucket.decide(pick(ODD) as never),
    () => bucket.peek(pick(ODD) as never),
    () => {
      const made = bucket.reserve(pick(ODD) as never, pick(ODD) as never);
      if (made.allowed) reservations.push(made);
    },
    () => reservations.length > 0 && pick(reservations).cancel(),
    () => bucket.configure(pick(ODD) as never),
    () => bucket.drain(),
    () => clock.advance(Math.floor(next() * 3_000)),
    () => clock.set(Math.max(0, clock.now - next() * 1_000)),
    () => TokenBucket.attach(pick(ODD) as never),
  ];
  for (let i = 0; i < 50_000; i++) {
    try {
      pick(operations)();
    } catch (error) {
      assert.ok(error instanceof Error, String(error));
    }
    if (i % 100 === 0) assert.ok(bucket.remaining <= 20);
  }
});
