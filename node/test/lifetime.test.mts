// Objects come and go; their places in native memory are used again, and views stay where they are.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker, Closed, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

const { native } = (await import("../../dist/native.js" as string).then((module) => module.default ?? module)) as {
  native: { liveObjects(): number; failOnPurpose(): void; breakerState(handle: number): unknown; release(handle: number): void };
};

/** Collects, and lets the finalizers run. */
async function collect(): Promise<void> {
  for (let i = 0; i < 10; i++) {
    globalThis.gc!();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test("100 000 objects that are dropped leak no place", async () => {
  await collect();
  const before = native.liveObjects();
  for (let round = 0; round < 10; round++) {
    for (let i = 0; i < 5_000; i++) {
      new CircuitBreaker().tryAdmit();
      new TokenBucket({ rate: 1, capacity: 1 }).tryAcquire();
    }
    await collect();
  }
  assert.ok(native.liveObjects() <= before + 10, `${native.liveObjects()} of ${before}`);
});

test("100 000 objects that are closed use one place each time", () => {
  const before = native.liveObjects();
  for (let i = 0; i < 100_000; i++) new TokenBucket({ rate: 1, capacity: 1 }).close();
  assert.equal(native.liveObjects(), before);
});

test("a new object in an old place has learnt nothing, and the old one does not reach it", () => {
  const old = Array.from({ length: 3_000 }, () => new CircuitBreaker({ failureThreshold: 1 }));
  for (const breaker of old) {
    breaker.trip();
    breaker.close();
  }
  const fresh = Array.from({ length: 3_000 }, () => new CircuitBreaker({ failureThreshold: 1 }));
  assert.ok(fresh.every((breaker) => breaker.state === "closed" && breaker.tryAdmit() >= 0));
  for (const breaker of old) assert.throws(() => breaker.trip(), Closed);
  assert.ok(fresh.every((breaker) => breaker.state === "closed"));
  for (const breaker of fresh) breaker.close();
});

test("the clean check looks at the right place, wherever a breaker lies", () => {
  const breakers = Array.from({ length: 3_000 }, () => new CircuitBreaker({ failureThreshold: 1 }));
  for (const breaker of breakers) {
    breaker.configure({ failureThreshold: 1 });
    breaker.admit().success();
  }
  // What is read carries the number of the configuration's slot, 1 by now; a native token does not.
  const slot = (breaker: CircuitBreaker): number => Math.floor(breaker.tryAdmit() / 2 ** 28) % 4;
  assert.ok(breakers.every((breaker) => slot(breaker) === 1));
  assert.equal(slot(new CircuitBreaker({ cleanCheck: false })), 0);
  for (const [place, breaker] of breakers.entries()) if (place % 3 === 0) breaker.trip();
  for (const [place, breaker] of breakers.entries()) assert.equal(breaker.tryAdmit() < 0, place % 3 === 0, `${place}`);
  for (const breaker of breakers) breaker.close();
});

test("a permit keeps its breaker; a breaker keeps its clock", async () => {
  const permit = (() => {
    const clock = new ManualClock(5);
    return new CircuitBreaker({ clock, failureThreshold: 1 }).admit();
  })();
  await collect();
  assert.equal(permit.failure(), "counted");
});

test("a number that is no handle is answered, not followed", () => {
  for (const handle of [0, -1, 2 ** 31, 2 ** 32 - 1, 1.5, Number.NaN, "x", null, undefined, {}, 2 ** 29, 2 ** 29 + 2 ** 20 - 1]) {
    const known = native.breakerState(handle as number);
    assert.ok(known === undefined || typeof known === "number");
    if (known === undefined) native.release(handle as number);
  }
});

test("a fault inside native code is thrown; the process lives", () => {
  const { stderr } = process;
  const write = stderr.write;
  stderr.write = () => true;
  try {
    assert.throws(() => native.failOnPurpose(), /seawall: internal error/);
  } finally {
    stderr.write = write;
  }
  assert.equal(new CircuitBreaker().state, "closed");
});
