// What the types say. The lines marked with an error are checked by the compiler: one that compiles fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CircuitBreaker, type CircuitBreakerOptions, Permit, Refusal, type Settlement, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const is = <T extends true>(): T | undefined => undefined;

const breaker = new CircuitBreaker({ failureRate: 0.5, resetAfter: "30s", clock: new ManualClock() });
const bucket = new TokenBucket({ rate: "100/s", capacity: 20 });

test("a decision tells yes from no", () => {
  const decision = breaker.decide();
  if (decision.allowed) is<Equal<typeof decision, Permit>>();
  else is<Equal<typeof decision, Refusal>>();
  const taken = bucket.decide();
  if (!taken.allowed) is<Equal<(typeof taken)["retryAfter"], number | undefined>>();
  is<Equal<ReturnType<CircuitBreaker["ok"]>, Settlement>>();
  assert.ok(decision.allowed);
});

test("run answers what its function answers", async () => {
  const promised = breaker.run(async ({ signal, attempt, deadline }) => [signal, attempt, deadline] as const);
  is<Equal<typeof promised, Promise<readonly [AbortSignal, number, number | undefined]>>>();
  const plain = breaker.run(() => 5);
  is<Equal<typeof plain, Promise<number>>>();
  const tried = breaker.tryRun(() => 5);
  is<Equal<typeof tried, Promise<number | Refusal>>>();
  assert.equal(await plain, 5);
});

test("judgements look into errors and values, annotated or not", () => {
  class Failed extends Error {
    status = 503;
  }
  const judged = new CircuitBreaker({
    ignore: (error) => error.status < 500,
    isFailure: (response) => response.status >= 500,
    retryAfterOf: (failure) => failure.headers.get("retry-after") ?? new Date(),
  });
  const annotated = new CircuitBreaker({
    ignore: (error: unknown) => error instanceof Failed,
    isFailure: (response: { status: number }) => response.status >= 500,
    retryAfterOf: (failure: Failed) => failure.status,
  });
  assert.ok(judged.decide().allowed && annotated.decide().allowed);
});

test("mistakes do not compile", () => {
  const mistakes = (): void => {
    // @ts-expect-error rate and capacity must be stated
    new TokenBucket({});
    // @ts-expect-error an unknown option
    new CircuitBreaker({ resetTimeout: 5 });
    // @ts-expect-error an unknown mode
    breaker.mode = "ajar";
    // @ts-expect-error a refusal has no settlement
    new CircuitBreaker().decide().success();
    // @ts-expect-error a reservation states how long it would wait
    bucket.reserve(1);
    // @ts-expect-error a transition cannot be changed
    breaker.onTransition((transition) => (transition.to = "open"));
    // @ts-expect-error the state is measured, not set
    breaker.state = "open";
  };
  assert.equal(typeof mistakes, "function");
  const options: CircuitBreakerOptions = { trials: 3, mode: "shadow" };
  assert.equal(new CircuitBreaker(options).mode, "shadow");
});
