// The shortest way to retry, and what keeps many clients apart: backoff, reconnect, ttl, schedule; header text.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  Backoff, callWithRetries, ConfigError, formatRetryAfter, parseRetryAfter, Reconnect, RetryBudget, schedule,
  TransientError, ttl,
} from "seawall";
import { ManualClock } from "seawall/testing";

describe("callWithRetries", () => {
  test("tries TransientError again, three times in all", async () => {
    let calls = 0;
    const answer = await callWithRetries(() => (++calls < 3 ? Promise.reject(new TransientError()) : calls), { base: 1, cap: 1 });
    assert.equal(answer, 3);
    const last = new TransientError("still down");
    await assert.rejects(callWithRetries(() => Promise.reject(last), { base: 1, cap: 1 }), (error) => error === last);
  });

  test("lets any other error through at once", async () => {
    let calls = 0;
    const error = new TypeError("a bug");
    await assert.rejects(callWithRetries(() => { calls++; throw error; }), (raised) => raised === error);
    assert.equal(calls, 1);
  });

  test("refuses what cannot be before the first attempt", async () => {
    let calls = 0;
    for (const options of [{ attempts: 0 }, { base: 100, cap: 50 }, { base: Infinity }, { base: -1 }, { attempts: Number.NaN }]) {
      await assert.rejects(callWithRetries(() => calls++, options), ConfigError);
    }
    assert.equal(calls, 0);
  });

  test("ends in a pause when the caller gives up", async () => {
    const clock = new ManualClock();
    const controller = new AbortController();
    const call = callWithRetries(() => Promise.reject(new TransientError()), { clock, signal: controller.signal });
    await new Promise(setImmediate);
    controller.abort("enough");
    await assert.rejects(call, (reason) => reason === "enough");
  });
});

describe("backoff", () => {
  test("doubles up to its cap; without randomness it is the longest", () => {
    const backoff = new Backoff();
    assert.deepEqual([0, 1, 2, 3, 4, 5, 1e9].map((n) => backoff.ceiling(n)), [100, 200, 400, 800, 1_600, 2_000, 2_000]);
    assert.equal(backoff.delay(1, 0, 0n), 200);
    assert.deepEqual([backoff.delay(1, 0, 7n), backoff.delay(1, 0, 7n)], new Array(2).fill(backoff.delay(1, 0, 7n)));
  });

  test("spreads 1 000 clients over the whole range", () => {
    const backoff = new Backoff({ base: "1s" });
    const tenths = new Array<number>(10).fill(0);
    for (let client = 0; client < 1_000; client++) tenths[Math.min(9, Math.floor(backoff.delay(0) / 100))]!++;
    assert.ok(tenths.every((count) => count > 40 && count < 200), String(tenths));
  });

  test("refuses what cannot be", () => {
    for (const options of [{ base: 0 }, { cap: 50 }, { base: Infinity }, { factor: 0.5 }, { jitter: "some" as never }]) {
      assert.throws(() => new Backoff(options), ConfigError);
    }
    for (const retry of [-1, 0.5, Number.NaN, "1" as never]) assert.throws(() => new Backoff().delay(retry), ConfigError);
  });
});

test("a connection that held is forgiven all before it, one that was dropped at once is not", () => {
  const clock = new ManualClock();
  const link = new Reconnect({ stableAfter: "1min", backoff: { jitter: "none" }, clock });
  assert.equal(link.lost(), 100);
  link.connected();
  clock.advance(10);
  assert.equal(link.lost(), 200);
  link.connected();
  clock.advance("1min");
  assert.equal(link.lost(), 100);
});

test("1 000 reconnecting clients, cached values and schedules are spread out", () => {
  const thousand = Array.from({ length: 1_000 }, (_, client) => client);
  const spread = (values: number[], low: number, high: number): void => {
    const tenths = new Array<number>(10).fill(0);
    for (const value of values) {
      assert.ok(value >= low && value <= high, String(value));
      tenths[Math.min(9, Math.floor(((value - low) / (high - low)) * 10))]!++;
    }
    assert.ok(tenths.every((count) => count > 40 && count < 200), String(tenths));
  };
  spread(thousand.map(() => new Reconnect({ stableAfter: 1 }).lost()), 0, 100);
  spread(thousand.map(() => ttl("1h", 0.1)), 3_240_000, 3_600_000);
  spread(thousand.map((client) => schedule("1h", 1, BigInt(client)).phase), 0, 3_600_000);
});

test("a schedule keeps its phase, and a spread outside 0 to 1 is refused", () => {
  const hourly = schedule("1h", 1, 42n);
  assert.equal(schedule("1h", 1, 42n).phase, hourly.phase);
  assert.equal(hourly.next(0), hourly.phase);
  assert.equal(Math.round(hourly.next(hourly.phase) - hourly.phase), 3_600_000);
  assert.equal(ttl("1h", 0.1, 0n), 3_600_000);
  for (const spread of [-0.1, 1.1, Number.NaN, "1" as never]) {
    assert.throws(() => ttl(1, spread), ConfigError);
    assert.throws(() => schedule(1, spread, 1n), ConfigError);
  }
});

test("Retry-After: seconds and three forms of dates; anything else was not said", () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 30);
  for (const [text, wait] of [
    ["120", 120_000], [" 7 ", 7_000], ["0", 0],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 7_000], ["Sunday, 06-Nov-94 08:49:37 GMT", 7_000], ["Sun Nov  6 08:49:37 1994", 7_000],
    ["Sun, 06 Nov 1994 08:49:00 GMT", 0],
    ["-1", undefined], ["soon", undefined], ["1.5", undefined], ["", undefined], [null, undefined], [undefined, undefined],
  ] as const) {
    assert.equal(parseRetryAfter(text, now), wait, String(text));
  }
  assert.ok(parseRetryAfter("1" + "0".repeat(30))! > 1e12, "as long as can be");
  assert.deepEqual([formatRetryAfter(1), formatRetryAfter("2s"), formatRetryAfter(2_001), formatRetryAfter(0)], ["1", "2", "3", "1"]);
  assert.equal(formatRetryAfter("7s", now), "Sun, 06 Nov 1994 08:49:37 GMT");
  assert.throws(() => formatRetryAfter(-1), ConfigError);
});

test("a retry budget: a tenth per request, and no more than it holds", () => {
  const clock = new ManualClock();
  const budget = new RetryBudget({ capacity: 1, name: "pay", clock });
  assert.equal(budget.withdraw(), true);
  const refusal = budget.withdraw();
  assert.ok(refusal !== true && refusal.reason === "budget_empty" && refusal.policy === "pay" && refusal.when === "depends");
  assert.match(refusal.explain(), /budget/);
  for (let request = 0; request < 10; request++) budget.deposit();
  assert.equal(budget.balance, 1);
  assert.equal(budget.withdraw(), true);
  budget.refund();
  assert.equal(budget.balance, 1);
  budget.configure({ capacity: 5 });
  budget.reset();
  assert.equal(budget.balance, 5);
  assert.throws(() => new RetryBudget({ ratio: 2 }), /retry_budget.ratio: 2 is not allowed/);
  budget.close();
  assert.throws(() => budget.deposit(), { name: "Closed" });
});
