// What broke in other people's libraries (FIELD.md), one test per report that concerns one breaker, one
// bucket, or running a function in Node.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { spawnSync } from "node:child_process";
import { getEventListeners } from "node:events";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { CircuitBreaker, type CircuitBreakerOptions, CircuitOpen, Refusal, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

const never = (): Promise<never> => new Promise(() => {});

function open(options: CircuitBreakerOptions = {}): { breaker: CircuitBreaker; clock: ManualClock } {
  const clock = new ManualClock(1_000);
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1, ...options });
  breaker.admit().failure();
  return { breaker, clock };
}

// --- opossum ---

test("opossum 10: a call that started while closed does not succeed for half-open", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
  let answer: () => void = () => {};
  const early = breaker.run(() => new Promise<void>((resolve) => (answer = resolve)));
  await assert.rejects(breaker.run(() => Promise.reject(new Error("down"))));
  clock.advance("31s");
  answer();
  await early;
  assert.equal(breaker.state, "half-open", "no trial ran, so it is not closed");
});

test("opossum 10: refusals of our own do not feed the statistics", async () => {
  const { breaker, clock } = open();
  for (let i = 0; i < 50; i++) await assert.rejects(breaker.run(never), CircuitOpen);
  clock.advance("31s");
  assert.equal(await breaker.run(() => "up"), "up");
  assert.equal(breaker.state, "closed");
});

test("opossum 10: the exported instant is that of the opening, not of the construction", () => {
  const clock = new ManualClock(1_000);
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
  clock.advance("5s");
  breaker.admit().failure();
  assert.ok(Math.abs(breaker.snapshot().changedAt! - 6_000) < 0.01);
});

test("opossum 9: a failure costs the same however many calls there were", () => {
  const breaker = new CircuitBreaker({ failureRate: 1, window: 20 });
  for (let i = 0; i < 50_000; i++) breaker.admit().success();
  const begun = process.hrtime.bigint();
  for (let i = 0; i < 1_000; i++) breaker.admit()[i % 2 === 0 ? "failure" : "success"]();
  const each = Number(process.hrtime.bigint() - begun) / 1_000;
  assert.ok(each < 100_000, `${each} ns; it was 2.8 ms there`);
});

test("opossum#119: half-open is not flooded", () => {
  const { breaker, clock } = open();
  clock.advance("31s");
  const answers = Array.from({ length: 50 }, () => breaker.tryAdmit());
  assert.equal(answers.filter((token) => token >= 0).length, 1);
});

test("opossum#385: simultaneous failures do not keep it from half-opening", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock });
  await Promise.allSettled(Array.from({ length: 6 }, () => breaker.run(() => Promise.reject(new Error()))));
  assert.equal(breaker.state, "open");
  clock.advance("31s");
  assert.equal(breaker.state, "half-open");
});

test("opossum#388: an ignored error does not wedge half-open", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1, ignore: (error) => error === "filtered" });
  breaker.trip();
  clock.advance("31s");
  for (let i = 0; i < 5; i++) await assert.rejects(breaker.run(() => Promise.reject("filtered")));
  assert.equal(breaker.state, "half-open");
  assert.equal(await breaker.run(() => 1), 1);
  assert.equal(breaker.state, "closed");
});

test("opossum#484: the state stays closed under load", async () => {
  const breaker = new CircuitBreaker();
  await Promise.all(Array.from({ length: 10_000 }, (_, i) => breaker.run(async () => i)));
  assert.deepEqual([breaker.state, breaker.snapshot().failed], ["closed", 0]);
});

test("opossum#276, #57, #658: without any timer it is due as soon as the time has come", () => {
  const { breaker, clock } = open();
  clock.advance("7d");
  assert.equal(breaker.state, "half-open");
  assert.ok(breaker.admit().trial);
});

test("opossum#780, #861: a fresh signal per call, also after an abort", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureThreshold: 100 });
  const signals: AbortSignal[] = [];
  const calls = [1, 2].map((k) =>
    breaker.run(({ signal }) => {
      signals.push(signal);
      return k === 1 ? never() : "fine";
    }, { timeout: 10 }),
  );
  assert.equal(await calls[1], "fine");
  clock.advance(10);
  await assert.rejects(calls[0]!);
  assert.deepEqual(signals.map((signal) => signal.aborted), [true, false]);
  await breaker.run(({ signal }) => assert.equal(signal.aborted, false), { timeout: 10 });
});

test("opossum#648, #635: memory does not grow with the calls", async () => {
  const breaker = new CircuitBreaker({ failureRate: 0.5 });
  const run = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) await breaker.run(() => i);
  };
  await run(20_000);
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  await run(200_000);
  globalThis.gc!();
  const grown = process.memoryUsage().heapUsed - before;
  assert.ok(grown < 2_000_000, `${grown} bytes`);
});

test("opossum PR#830: the largest window does not overflow the stack", () => {
  assert.equal(new CircuitBreaker({ window: 20 }).state, "closed");
});

test("opossum#181: running a function again and again does not wrap it deeper", async () => {
  const breaker = new CircuitBreaker();
  const depth = (): number => new Error().stack!.split("\n").length;
  await breaker.run(depth);
  const first = await breaker.run(depth);
  for (let i = 0; i < 100; i++) await breaker.run(depth);
  assert.equal(await breaker.run(depth), first);
});

test("opossum#213, #237, #643: the types come with the package", () => {
  const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  for (const entry of Object.values<Record<string, { types: string }>>(manifest.exports)) {
    if (typeof entry === "string") continue;
    for (const { types } of Object.values(entry)) {
      assert.ok(readFileSync(new URL(`../../${types}`, import.meta.url), "utf8").length > 0);
    }
  }
});

// --- cockatiel ---

test("cockatiel#69, 3.2: listeners are gone when a call has ended", async () => {
  const breaker = new CircuitBreaker({ failureThreshold: 1_000 });
  const { signal } = new AbortController();
  for (let i = 0; i < 100; i++) await breaker.run(() => i, { signal, timeout: 1_000 });
  assert.equal(getEventListeners(signal, "abort").length, 0);
});

test("cockatiel#112: the signal is passed in half-open too", async () => {
  const { breaker, clock } = open();
  clock.advance("31s");
  const controller = new AbortController();
  let inside: AbortSignal | undefined;
  const pending = breaker.run(({ signal }) => {
    inside = signal;
    return never();
  }, { signal: controller.signal });
  controller.abort("why");
  await assert.rejects(pending, (error) => error === "why");
  assert.equal(inside?.aborted, true);
});

test("cockatiel#101, #104: the reason of an abort is kept", async () => {
  const breaker = new CircuitBreaker();
  const controller = new AbortController();
  const reason = { why: "shutting down" };
  let inside: AbortSignal | undefined;
  const pending = breaker.run(({ signal }) => {
    inside = signal;
    return never();
  }, { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(pending, (error) => error === reason);
  assert.equal(inside?.reason, reason);
});

test("cockatiel#91: one that is due reads half-open, without a call", () => {
  const { breaker, clock } = open();
  clock.advance("29s");
  assert.equal(breaker.state, "open");
  clock.advance("1.1s");
  assert.equal(breaker.state, "half-open");
});

test("cockatiel#64: a failed trial reopens, whatever the rate of the window", () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureRate: 0.5, window: 20, trials: 1 });
  while (breaker.state === "closed") breaker.admit().failure();
  clock.advance("31s");
  breaker.admit().failure();
  assert.equal(breaker.state, "open");
  clock.advance("31s");
  breaker.admit().success();
  assert.equal(breaker.state, "closed");
});

test("cockatiel#73, pybreaker#96: one lucky success does not close it when more are asked for", () => {
  const { breaker, clock } = open({ trials: 3, closeAfter: 2 });
  clock.advance("31s");
  breaker.admit().success();
  assert.equal(breaker.state, "half-open");
  breaker.admit().success();
  assert.equal(breaker.state, "closed");
});

test("cockatiel 4 retry, p-retry#97: an abort ends the wait at once, and nothing is called again", async () => {
  const breaker = new CircuitBreaker();
  const controller = new AbortController();
  let calls = 0;
  const pending = breaker.run(() => {
    calls++;
    return never();
  }, { signal: controller.signal });
  controller.abort("now");
  await assert.rejects(pending, (error) => error === "now");
  assert.equal(calls, 1);
});

test("p-retry#37, #51: no guess is made from an error's type", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1 });
  await assert.rejects(breaker.run(() => Promise.reject(new TypeError("parse"))), TypeError);
  assert.equal(breaker.state, "open", "a TypeError is a failure like any other");
});

// --- processes, timers, contexts ---

function child(code: string): { status: number | null; took: number; stderr: string } {
  const begun = Date.now();
  const entry = new URL("../../dist/index.mjs", import.meta.url).href;
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module", "-e", `import * as seawall from ${JSON.stringify(entry)};${code}`],
    { encoding: "utf8", timeout: 20_000 },
  );
  return { status, took: Date.now() - begun, stderr };
}

test("p-queue#163: no timer keeps the process alive", () => {
  const { status, took, stderr } = child(
    `const b = new seawall.CircuitBreaker(); b.trip();
     new seawall.CircuitBreaker().run(() => new Promise(() => {}), { timeout: "1h" });`,
  );
  assert.equal(status, 0, stderr);
  assert.ok(took < 15_000);
});

test("napi-rs#1732, node#58484: exit is clean in the middle of anything; there is no thread of ours", () => {
  const { status, stderr } = child(
    `const bs = Array.from({ length: 3000 }, () => new seawall.CircuitBreaker());
     bs.forEach((b) => b.run(() => new Promise(() => {}), { timeout: 5 })); process.exit(7);`,
  );
  assert.equal(status, 7, stderr);
  const threads = child(
    `import { readdirSync } from "node:fs";
     const before = readdirSync("/proc/self/task").length;
     for (let i = 0; i < 300; i++) new seawall.TokenBucket({ rate: 1, capacity: 1 }).tryAcquire();
     process.exitCode = readdirSync("/proc/self/task").length - before;`,
  );
  assert.equal(threads.status, 0, "pyrate-limiter: +1 thread per limiter");
});

test("p-queue#200, bottleneck#211: no other caller's AsyncLocalStorage is seen inside", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureThreshold: 1_000 });
  const storage = new AsyncLocalStorage<number>();
  const seen = await Promise.all(
    Array.from({ length: 20 }, (_, k) =>
      storage.run(k, () =>
        breaker.run(async () => {
          await null;
          return storage.getStore();
        }, k % 2 === 0 ? undefined : { timeout: 10 }),
      ),
    ),
  );
  assert.deepEqual(seen, Array.from({ length: 20 }, (_, k) => k));
});

test("nestjs/throttler#2629: a decision sets no timer that would pin anything", () => {
  const bucket = new TokenBucket({ rate: 1, capacity: 10 });
  const before = process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
  for (let i = 0; i < 100; i++) bucket.tryAcquire();
  assert.equal(process.getActiveResourcesInfo().filter((name) => name === "Timeout").length, before);
});

test("RLF#71, #231: 24.8 days do not overflow", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: "1/d", capacity: 40, clock });
  bucket.drain();
  const no = bucket.decide(30);
  assert.ok(no instanceof Refusal);
  assert.equal(no.retryAfter, 30 * 86_400_000);
  clock.advance(no.retryAfter!);
  assert.equal(bucket.tryAcquire(30), true);
});

test("RLF#238: what is late is decided by reading, never by a timer", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1, capacity: 3, clock });
  bucket.drain();
  clock.advance("400d");
  assert.deepEqual([bucket.remaining, bucket.resetAfter], [3, 0]);
});

test("ERL#648: options are checked when it is made, not on the first request", () => {
  assert.throws(() => new TokenBucket({ rate: 1, capacity: 0 }), { name: "ConfigError" });
});

// --- rate limits ---

test("redis-cell#56, dragonfly#1008: after waiting exactly as told, it is a yes; a millisecond less, a no", () => {
  for (const rate of [3, 7, 30, 999, "7/min"]) {
    const clock = new ManualClock(5);
    const bucket = new TokenBucket({ rate, capacity: 2, start: "empty", clock });
    const no = bucket.decide();
    assert.ok(no instanceof Refusal);
    clock.advance(no.retryAfter! - 1);
    assert.equal(bucket.tryAcquire(), false, `${rate}: told too long`);
    clock.advance(1);
    assert.equal(bucket.tryAcquire(), true, `${rate}: told too short`);
  }
});

test("redis-cell#80: more than a thousand a second", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1e10, capacity: 1_000, start: "empty", clock });
  clock.set(50n);
  assert.equal(bucket.remaining, 499, "a rate is rounded down, never up");
});

test("kumomta PR#282, FFI: a wait below a microsecond is no yes", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1e10, capacity: 1, start: "empty", clock });
  const no = bucket.decide();
  assert.ok(no instanceof Refusal && no.retryAfter === 1);
});

test("governor#249: never more than the burst after any idle time", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 2, capacity: 5, clock });
  for (const idle of ["2s", "1h", "300d"]) {
    bucket.drain();
    clock.advance(idle);
    let admitted = 0;
    while (bucket.tryAcquire()) admitted++;
    assert.ok(admitted <= 5, `${admitted} after ${idle}`);
  }
});

test("governor#299, juju/ratelimit#26: a clock that steps back neither admits more nor blocks", () => {
  const clock = new ManualClock(100_000);
  const bucket = new TokenBucket({ rate: 10, capacity: 5, clock });
  bucket.drain();
  clock.set(95_000);
  assert.equal(bucket.tryAcquire(), false);
  clock.set(100_100);
  assert.equal(bucket.tryAcquire(), true);
});

test("governor: a period of 20 000 000 000 s is refused, not accepted and then a crash", () => {
  for (const period of ["20000000000s", "99999999999999999999d", 2e22]) {
    assert.throws(() => new TokenBucket({ rate: 1, period, capacity: 1 }), { name: "ConfigError", field: "period" });
  }
});

test("rustcommon#135: a capacity lowered below what is there cuts it, and nothing wraps", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1, capacity: 100, clock });
  bucket.configure({ rate: 1, capacity: 3 });
  assert.equal(bucket.remaining, 3);
  clock.advance("1h");
  assert.equal(bucket.remaining, 3);
});

test("rigtorp/TokenBucket PR#6: it is full at boot, when the clock shows less than the time to fill", () => {
  const bucket = new TokenBucket({ rate: 1, capacity: 1_000, clock: new ManualClock(0n) });
  assert.equal(bucket.tryAcquire(1_000), true);
});

test("leaky-bucket: more than the capacity is refused with a reason, rather than waited for", () => {
  const bucket = new TokenBucket({ rate: 10, capacity: 10 });
  const no = bucket.reserve(25, "1h");
  assert.ok(no instanceof Refusal && no.reason === "exceeds_capacity");
});

test("fastify-rate-limit#321: asking while refused changes nothing", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1, capacity: 1, clock });
  bucket.drain();
  for (let i = 0; i < 1_000; i++) bucket.tryAcquire();
  clock.advance("1s");
  assert.equal(bucket.tryAcquire(), true);
});

test("resilience4j (int permits): a rate of 10^9 does not wrap into admitting", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1e9, capacity: 1e9, clock });
  let granted = 0;
  for (let i = 0; i < 10; i++) if (bucket.tryAcquire(1e9)) granted++;
  assert.equal(granted, 1);
});

test("golang/go#47221: a rate of 0 is refused, not infinite", () => {
  assert.throws(() => new TokenBucket({ rate: 0, capacity: 1 }), { name: "ConfigError", field: "rate" });
  assert.throws(() => new TokenBucket({ rate: "0/s", capacity: 1 }), { name: "ConfigError", field: "rate" });
});

test("sentinel WarmUp: NaN cannot get in", () => {
  for (const rate of [Number.NaN, "NaN/s"]) {
    assert.throws(() => new TokenBucket({ rate, capacity: 1 }), { name: "ConfigError" });
  }
});

test("golang time PR 52584, cadence PR 6030: a cancelled reservation delays nobody", () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ rate: 1, capacity: 1, clock });
  bucket.drain();
  const before = bucket.peek();
  const reservation = bucket.reserve(1, "10s");
  assert.ok(reservation.allowed);
  reservation.cancel();
  const after = bucket.peek();
  assert.ok(before instanceof Refusal && after instanceof Refusal && before.at === after.at);
});

// --- breakers elsewhere ---

test("resilience4j#935, Polly 8.7, gobreaker: a trial that never settles expires", () => {
  const { breaker, clock } = open({ trialTimeout: "10s" });
  clock.advance("31s");
  breaker.admit();
  assert.ok(breaker.decide() instanceof Refusal);
  clock.advance("10.1s");
  const next = breaker.admit();
  assert.ok(next.trial);
  next.success();
  assert.equal(breaker.state, "closed");
});

test("resilience4j#544: a trial that is ignored returns its place", () => {
  const { breaker, clock } = open();
  clock.advance("31s");
  for (let i = 0; i < 20; i++) assert.equal(breaker.admit().ignore(), "neutral");
  breaker.admit().success();
  assert.equal(breaker.state, "closed");
});

test("resilience4j#547: old failures do not re-trip what has closed", () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ clock, failureRate: 0.5, window: 10, minimumCalls: 2, trials: 1 });
  while (breaker.state === "closed") breaker.admit().failure();
  clock.advance("31s");
  breaker.admit().success();
  breaker.admit().failure();
  assert.equal(breaker.state, "closed", "one call is below minimumCalls");
});

test("resilience4j#1443: below minimumCalls the rate is not there, rather than 0 or -1", () => {
  const breaker = new CircuitBreaker({ failureRate: 0.5, minimumCalls: 10 });
  for (let i = 0; i < 9; i++) breaker.admit().failure();
  assert.equal(breaker.snapshot().failureRate, undefined);
});

test("resilience4j#991: forced open stays open whatever is due", () => {
  const { breaker, clock } = open();
  breaker.mode = "forced-open";
  clock.advance("1h");
  assert.throws(() => breaker.admit(), { reason: "forced_open" });
});

test("resilience4j#2167, Polly#481: an open period that is over is seen without traffic", () => {
  const { breaker, clock } = open();
  clock.advance("3h");
  assert.deepEqual([breaker.state, breaker.snapshot().state], ["half-open", "half-open"]);
  assert.match(breaker.explain(), /^half-open: the next call is a trial/);
});

test("gobreaker#49: a refusal while the trials are out has its own reason, and an estimate that says so", () => {
  const { breaker, clock } = open();
  clock.advance("31s");
  breaker.admit();
  const refusal = breaker.decide();
  assert.ok(refusal instanceof Refusal);
  assert.deepEqual([refusal.reason, refusal.when], ["trials_busy", "depends"]);
});

test("resilience4j#2209: a predicate that throws does not leave the promise without an end", async () => {
  const breaker = new CircuitBreaker({
    isFailure: () => {
      throw new Error("predicate");
    },
  });
  assert.equal(await breaker.run(() => 1), 1);
  assert.equal(await breaker.run(() => 2, { timeout: 1_000 }), 2);
});

test("resilience4j#2243: a listener that is taken away is gone", () => {
  const breaker = new CircuitBreaker();
  let told = 0;
  for (let i = 0; i < 100; i++) breaker.onTransition(() => told++)();
  breaker.trip();
  assert.equal(told, 0);
});

test("Polly, juju: the system's wall clock does not matter", () => {
  const real = Date.now;
  const breaker = new CircuitBreaker({ failureThreshold: 1 });
  try {
    Date.now = () => 0;
    breaker.admit().failure();
    Date.now = () => Number.MAX_SAFE_INTEGER;
    assert.equal(breaker.state, "open");
  } finally {
    Date.now = real;
  }
});

test("pybreaker 1.4.1: calls that take long run side by side", async () => {
  const breaker = new CircuitBreaker();
  let inside = 0;
  let most = 0;
  const calls = Array.from({ length: 5 }, () =>
    breaker.run(async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    }),
  );
  await Promise.all(calls);
  assert.equal(most, 5);
});

test("hyx: a bucket and a breaker may be made at module level", () => {
  const { status, stderr } = child("new seawall.TokenBucket({ rate: 1, capacity: 1 }); new seawall.CircuitBreaker();");
  assert.equal(status, 0, stderr);
});
