// Impossible options: field, value and what is allowed, in the same words as in every language.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker, ConfigError, TokenBucket } from "seawall";

function refused(make: () => unknown): ConfigError {
  try {
    make();
  } catch (error) {
    assert.ok(error instanceof ConfigError && error instanceof RangeError, String(error));
    return error;
  }
  assert.fail("it was taken");
}

for (const [options, field, message] of [
  [{ trials: 0 }, "trials", "circuit_breaker.trials: 0 is not allowed; allowed are 1 to 15"],
  [{ trials: 1.5 }, "trials", "circuit_breaker.trials: a fraction is not allowed; allowed are 1 to 15"],
  [
    { failureRate: Number.NaN },
    "failureRate",
    "circuit_breaker.failureRate: nan is not allowed; allowed are 0.000001 to 1".replace("failureRate", "failure_rate"),
  ],
  [
    { minimumCalls: 11, window: 10 },
    "minimumCalls",
    "circuit_breaker.minimum_calls: 11 is not allowed; allowed are 1 to 10 (at most window)",
  ],
  [
    { closeAfter: 3, trials: 2 },
    "closeAfter",
    "circuit_breaker.close_after: 3 is not allowed; allowed are 1 to 2 (at most trials)",
  ],
  [
    { resetAfter: "soon" },
    "resetAfter",
    "circuit_breaker.reset_after: text that is no span of time (write 250ms, 30s, 1.5h) is not allowed; allowed are 1 ms to 7 d",
  ],
  [
    { resetAfter: null },
    "resetAfter",
    "circuit_breaker.reset_after: a value of this type is not allowed; allowed are 1 ms to 7 d",
  ],
  [
    { mode: "ajar" },
    "mode",
    "circuit_breaker.mode: an unknown name is not allowed; allowed are normal, forced-open, disabled, shadow",
  ],
] as [object, string, string][]) {
  test(message, () => {
    const error = refused(() => new CircuitBreaker(options));
    assert.equal(error.message, message);
    assert.equal(error.name, "ConfigError");
    assert.equal(error.field, field);
    assert.ok(Object.is(error.value, (options as Record<string, unknown>)[field]));
    assert.equal(`${message.split(" is not allowed; ")[1]}`, error.allowed);
  });
}

test("rate and capacity must be stated", () => {
  assert.match(refused(() => new TokenBucket({} as never)).message, /^token_bucket\.rate: nothing is not allowed/);
  assert.equal(refused(() => new TokenBucket({ rate: 1 } as never)).field, "capacity");
  assert.equal(refused(() => new TokenBucket({ rate: 0, capacity: 1 })).field, "rate");
});

test("a rate that names its own period takes no other", () => {
  const error = refused(() => new TokenBucket({ rate: "100/min", period: 1_000, capacity: 100 }));
  assert.equal(
    error.message,
    "token_bucket.period: 1 s is not allowed; it must be left out (the rate names its own period)",
  );
  assert.deepEqual([error.field, error.value], ["period", 1_000]);
});

test("an unknown option is refused, with those that there are", () => {
  const error = refused(() => new CircuitBreaker({ resetTimeout: 5 } as never));
  assert.match(error.message, /^CircuitBreaker has no option resetTimeout; it has failureThreshold, /);
  assert.equal(error.field, "resetTimeout");
  refused(() => new CircuitBreaker({ reset_after: 5 } as never));
  refused(() => new TokenBucket({ rate: 1, capacity: 1, burst: 2 } as never));
  refused(() => new CircuitBreaker().configure({ name: "x" } as never));
});

test("an option that is undefined was not given", () => {
  assert.equal(new CircuitBreaker({ trials: undefined } as never).snapshot().trials, 1);
});

test("options are read, not kept", () => {
  const options = { failureThreshold: 1 };
  const breaker = new CircuitBreaker(options);
  options.failureThreshold = 100;
  breaker.admit().failure();
  assert.equal(breaker.state, "open");
});

test("spans are milliseconds or text, and mean the same", () => {
  const until = (resetAfter: number | string): number => {
    const breaker = new CircuitBreaker({ resetAfter });
    breaker.trip();
    return breaker.snapshot().until! - breaker.snapshot().changedAt!;
  };
  for (const [a, b] of [[250, "250ms"], [30_000, "30s"], [5_400_000, "1.5 h"]] as const) {
    assert.ok(Math.abs(until(a) - until(b)) < 3 && Math.abs(until(a) - a) < 3, `${a} and ${b}`);
  }
});

test("names, judgement and clock have their types checked too", () => {
  assert.equal(refused(() => new CircuitBreaker({ name: 5 } as never)).field, "name");
  assert.equal(refused(() => new CircuitBreaker({ shared: "" })).field, "shared");
  assert.equal(refused(() => new CircuitBreaker({ ignore: "x" } as never)).field, "ignore");
  assert.throws(() => new CircuitBreaker({ clock: {} } as never), TypeError);
  assert.throws(() => new CircuitBreaker(null as never), TypeError);
  assert.throws(() => new TokenBucket(undefined as never), TypeError);
});

test("costs are whole numbers from 0", () => {
  const bucket = new TokenBucket({ rate: 1, capacity: 10 });
  for (const cost of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "1", null, {}, 1n]) {
    assert.equal(refused(() => bucket.tryAcquire(cost as never)).field, "cost");
    assert.equal(refused(() => bucket.peek(cost as never)).field, "cost");
  }
  assert.equal(bucket.remaining, 10, "nothing was taken");
  assert.equal(refused(() => bucket.reserve(1, -1)).field, "maxWait");
});
