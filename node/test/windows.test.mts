// Windows of more than 20 calls, and of time.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { CircuitBreaker, ConfigError } from "seawall";
import type { BreakerOptions } from "seawall";
import { ManualClock } from "seawall/testing";

for (const cleanCheck of [true, false]) {
  describe(`with the clean check ${cleanCheck ? "on" : "off"}`, () => {
    function made(options: BreakerOptions): { breaker: CircuitBreaker; clock: ManualClock } {
      const clock = new ManualClock(1_000);
      return { breaker: new CircuitBreaker({ clock, cleanCheck, ...options }), clock };
    }

    function calls(breaker: CircuitBreaker, good: number, bad: number): void {
      for (let i = 0; i < good; i++) breaker.admit().success();
      for (let i = 0; i < bad; i++) breaker.admit().failure();
    }

    function counts(breaker: CircuitBreaker): [number, number] {
      const { calls, failed } = breaker.snapshot();
      return [calls, failed];
    }

    test("the last hundred calls are judged, and a window full of successes is clean", () => {
      const { breaker } = made({ window: 100, minimumCalls: 100 });
      calls(breaker, 150, 0);
      assert.deepEqual(counts(breaker), [100, 0]);
      // Half of it after fifty more; what was decided without native code has missed nothing.
      calls(breaker, 0, 49);
      assert.equal(breaker.state, "closed");
      assert.deepEqual(counts(breaker), [100, 49]);
      calls(breaker, 0, 1);
      assert.equal(breaker.state, "open");
    });

    test("the calls of ten seconds are judged, every success included", () => {
      const { breaker, clock } = made({ window: "10s" });
      calls(breaker, 7, 0);
      clock.advance("5s");
      calls(breaker, 3, 6);
      assert.deepEqual(counts(breaker), [16, 6]);
      clock.advance("5s");
      assert.deepEqual(counts(breaker), [9, 6], "the first seven have left");
      assert.equal(breaker.state, "closed", "no call has been judged since");
      calls(breaker, 1, 0);
      assert.equal(breaker.state, "open", "six of ten");
    });

    test("it changes from one window to any other while it runs", () => {
      const { breaker } = made({ window: 1_024, minimumCalls: 1_000 });
      calls(breaker, 30, 10);
      breaker.configure({ window: 200, minimumCalls: 200 });
      assert.deepEqual(counts(breaker), [40, 10]);
      breaker.configure({ windowSpan: 60_000, buckets: 60, minimumCalls: 100 });
      calls(breaker, 2, 1);
      assert.deepEqual(counts(breaker), [3, 1]);
      breaker.configure({ window: "1 d", minimumCalls: 100 });
      assert.deepEqual(counts(breaker), [0, 0], "buckets of another width begin anew");
    });
  });
}

test("a window is a number of calls or a span, within bounds", () => {
  const refused = (options: BreakerOptions): string => {
    try {
      new CircuitBreaker(options);
    } catch (error) {
      assert.ok(error instanceof ConfigError);
      return error.message;
    }
    return "it was taken";
  };
  assert.match(refused({ window: 1_025 }), /window: 1025 is not allowed; allowed are 2 to 1024$/);
  assert.match(refused({ window: "5ms" }), /window_span: 5 ms is not allowed; allowed are 10 ms to 24 h$/);
  assert.match(refused({ window: "soon" }), /window_span: text that is no span of time/);
  assert.match(refused({ window: 20, windowSpan: "1s" }), /window: 20 is not allowed; it must be left out/);
  assert.match(refused({ window: 20, buckets: 10 }), /buckets: 10 is not allowed; it must be left out/);
});
