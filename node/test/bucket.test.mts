// The token bucket, as its specification.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type BucketOptions, Closed, RateLimited, Refusal, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

function bucket(options: Partial<BucketOptions> = {}): { bucket: TokenBucket; clock: ManualClock } {
  const clock = new ManualClock(1_000);
  return { bucket: new TokenBucket({ rate: 10, capacity: 5, clock, ...options }), clock };
}

test("it admits exactly its capacity at once, then the rate", () => {
  const { bucket: it, clock } = bucket();
  const at_once = Array.from({ length: 9 }, () => it.tryAcquire());
  assert.deepEqual(at_once, [true, true, true, true, true, false, false, false, false]);
  clock.advance(99);
  assert.equal(it.tryAcquire(), false);
  clock.advance(1);
  assert.equal(it.tryAcquire(), true);
});

test("a no says why and when; after exactly that long it is a yes", () => {
  const { bucket: it, clock } = bucket({ name: "orders" });
  it.drain();
  const no = it.decide(3);
  assert.ok(no instanceof Refusal);
  assert.deepEqual(
    [no.allowed, no.reason, no.when, no.retryAfter, no.at, no.policy],
    [false, "rate_limited", "at", 300, 1_300, "orders"],
  );
  assert.equal(no.explain(), "The rate limit is used up for now; ask again in 300 ms");
  clock.advance(no.retryAfter!);
  assert.equal(it.decide(3).allowed, true);
});

test("yes is one shared object", () => {
  const { bucket: it } = bucket();
  assert.equal(it.decide(), it.decide());
  assert.throws(() => Object.assign(it.decide(), { allowed: false }), TypeError);
});

test("a cost above the capacity can never be: no instant, and nothing to wait for", () => {
  const { bucket: it } = bucket();
  const no = it.decide(6);
  assert.ok(no instanceof Refusal);
  assert.deepEqual([no.reason, no.when, no.retryAfter, no.at], ["exceeds_capacity", "never", undefined, undefined]);
  assert.throws(() => it.acquire(1e300), { reason: "exceeds_capacity" });
});

test("acquire throws RateLimited", () => {
  const { bucket: it } = bucket({ name: "orders" });
  it.acquire(5);
  assert.throws(() => it.acquire(), (error: unknown) => {
    assert.ok(error instanceof RateLimited);
    assert.deepEqual([error.reason, error.retryAfter, error.at, error.policy], ["rate_limited", 100, 1_100, "orders"]);
    return true;
  });
});

test("a cost of 0 and a peek take nothing", () => {
  const { bucket: it } = bucket();
  assert.equal(it.tryAcquire(0), true);
  assert.equal(it.peek(5).allowed, true);
  assert.equal(it.remaining, 5);
  it.drain();
  assert.equal(it.peek().allowed, false);
  assert.deepEqual(it.refused, {}, "a peek is no refusal");
});

test("remaining and resetAfter", () => {
  const { bucket: it, clock } = bucket();
  it.tryAcquire(3);
  assert.deepEqual([it.remaining, it.resetAfter], [2, 300]);
  clock.advance("50.5ms");
  assert.deepEqual([it.remaining, it.resetAfter], [2, 250], "whole milliseconds, rounded up");
});

test("a reservation is good from its instant on, and comes back when cancelled", () => {
  const { bucket: it, clock } = bucket();
  it.drain();
  const reservation = it.reserve(2, "1s");
  assert.ok(!(reservation instanceof Refusal));
  assert.deepEqual([reservation.cost, reservation.at, reservation.wait], [2, 1_200, 200]);
  const second = it.reserve(1, 1_000);
  assert.ok(!(second instanceof Refusal) && second.wait === 300, "first reserved, first served");
  assert.equal(second.cancel(), "full");
  const third = it.reserve(1, 1_000);
  assert.ok(!(third instanceof Refusal) && third.wait === 300);
  assert.equal(second.cancel(), "nothing", "once: what it took was the third's afterwards");
  assert.equal(third.cancel(), "full");
  const far = it.reserve(5, 100);
  assert.ok(far instanceof Refusal && far.reason === "rate_limited", "further off than the caller would wait");
  clock.advance(300);
  assert.equal(it.remaining, 1);
});

test("rates as people write them", () => {
  const clock = new ManualClock();
  const wait = (rate: number | string, more: object = {}): number => {
    const it = new TokenBucket({ rate, capacity: 1, start: "empty", clock, ...more });
    const no = it.decide();
    assert.ok(no instanceof Refusal);
    return no.retryAfter!;
  };
  assert.equal(wait(4), 250);
  assert.equal(wait("100/s"), 10);
  assert.equal(wait("30/min"), 2_000);
  assert.equal(wait("1 / 250ms"), 250);
  assert.equal(wait(1, { period: "1d" }), 86_400_000);
  assert.equal(wait(0.5), 2_000);
});

test("start empty, reset, drain, configure", () => {
  const { bucket: it, clock } = bucket({ start: "empty" });
  assert.equal(it.remaining, 0);
  it.reset();
  assert.equal(it.remaining, 5);
  it.drain();
  clock.advance(200);
  it.configure({ rate: 1, capacity: 5 });
  assert.equal(it.remaining, 2, "what flowed in did so at the old rate");
  clock.advance(1_000);
  assert.equal(it.remaining, 3);
  assert.throws(() => it.configure({ rate: 0, capacity: 5 }), { name: "ConfigError", field: "rate", value: 0 });
});

test("refusals are counted by reason", () => {
  const { bucket: it } = bucket({ name: "x" });
  const seen: string[] = [];
  const stop = it.onRefused(({ reason, policy }) => seen.push(`${policy} ${reason}`));
  it.drain();
  it.tryAcquire();
  it.decide(6);
  stop();
  it.tryAcquire();
  assert.deepEqual(it.refused, { rate_limited: 2, exceeds_capacity: 1 });
  assert.deepEqual(seen, ["x rate_limited", "x exceeds_capacity"]);
});

test("a closed bucket throws Closed", () => {
  const { bucket: it } = bucket();
  const reservation = it.reserve(1, 0);
  it.close();
  for (const use of [() => it.tryAcquire(), () => it.decide(2), () => it.peek(), () => it.remaining, () => it.drain()]) {
    assert.throws(use, Closed);
  }
  assert.ok(reservation.allowed);
  assert.equal(reservation.cancel(), "nothing");
});
