// What a call costs, beside cockatiel, opossum and rate-limiter-flexible in the same process.
//
//     npm run bench
//
// Each figure is the shortest of many short rounds: what the code costs when nothing else wants the machine.
// Compare figures of one run; between runs and machines only their ratios mean anything.

import { ConsecutiveBreaker, circuitBreaker, ExponentialBackoff, handleAll, retry } from "cockatiel";
import Opossum from "opossum";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { Backoff, CircuitBreaker, Policy, RetryBudget, TokenBucket } from "../dist/index.mjs";

const ROUNDS = 300;
const WARM_UP = 20;

async function once(count, loop) {
  const begun = process.hrtime.bigint();
  const pending = loop(count);
  if (pending !== undefined) await pending;
  return Number(process.hrtime.bigint() - begun) / count;
}

/** The shortest round of each loop, in nanoseconds per operation; the loops take turns, so that noise is shared. */
async function measure(count, ...loops) {
  const best = loops.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < ROUNDS + WARM_UP; round++) {
    for (const [place, loop] of loops.entries()) {
      const nanos = await once(count, loop);
      if (round >= WARM_UP) best[place] = Math.min(best[place], nanos);
    }
  }
  return best;
}

const rows = [];

function print(what, nanos, over, target) {
  rows.push({ what, figure: over ?? nanos, target });
  const above = over === undefined ? "" : `${over.toFixed(1).padStart(9)} above the bare await`;
  const goal = target === undefined ? "" : `  (target: at most ${target})`;
  console.log(`${what.padEnd(56)}${nanos.toFixed(1).padStart(8)} ns${above}${goal}`);
}

/** What `loop` costs. */
async function row(what, count, loop, target) {
  const [nanos] = await measure(count, loop);
  print(what, nanos, undefined, target);
}

/** What `loop` costs above `await fn()`. */
async function above(what, count, loop, target) {
  const [bare, nanos] = await measure(count, awaitBare, loop);
  print(what, nanos, nanos - bare, target);
}

let kept = 0;
const fn = async () => 1;
const forever = { failureThreshold: 1_000_000 };
const handle = { allowed: 0 };
async function awaitBare(n) {
  for (let i = 0; i < n; i++) await fn();
}
const same = (value) => value;
const rethrow = (error) => {
  throw error;
};

console.log(`Node ${process.version}, ${process.arch}; shortest of ${ROUNDS} rounds\n`);

console.log("Clocks, to compare with");
await row("process.hrtime.bigint()", 20_000, (n) => {
  for (let i = 0; i < n; i++) process.hrtime.bigint();
});
await row("performance.now()", 20_000, (n) => {
  for (let i = 0; i < n; i++) kept += performance.now();
});

console.log("\nRate limits (a million a second; admitted unless it says otherwise)");
const bucket = new TokenBucket({ rate: 1e9, capacity: 1e9 });
await row(
  "TokenBucket.tryAcquire()",
  20_000,
  (n) => {
    for (let i = 0; i < n; i++) if (bucket.tryAcquire()) handle.allowed++;
  },
  45,
);
await row("TokenBucket.decide()", 20_000, (n) => {
  for (let i = 0; i < n; i++) if (bucket.decide().allowed) handle.allowed++;
});
const empty = new TokenBucket({ rate: 1, period: "1d", capacity: 1, start: "empty" });
await row("TokenBucket.tryAcquire(), refused", 20_000, (n) => {
  for (let i = 0; i < n; i++) if (empty.tryAcquire()) handle.allowed++;
});
await row("TokenBucket.decide(), refused, with instant and wait", 20_000, (n) => {
  for (let i = 0; i < n; i++) if (empty.decide().allowed) handle.allowed++;
});
const flexible = new RateLimiterMemory({ points: 1e9, duration: 1_000 });
await row("rate-limiter-flexible: await consume(key)", 2_000, async (n) => {
  for (let i = 0; i < n; i++) await flexible.consume("key");
});

console.log("\nCircuit breakers, without running anything");
const clean = new CircuitBreaker(forever);
await row(
  "clean: tryAdmit() + ok()",
  200_000,
  (n) => {
    for (let i = 0; i < n; i++) {
      const token = clean.tryAdmit();
      if (token >= 0) clean.ok(token);
    }
  },
  5,
);
await row("clean: admit() + success(), a permit", 100_000, (n) => {
  for (let i = 0; i < n; i++) clean.admit().success();
});
const native = new CircuitBreaker({ ...forever, cleanCheck: false });
await row("clean check off: tryAdmit() + ok()", 20_000, (n) => {
  for (let i = 0; i < n; i++) {
    const token = native.tryAdmit();
    if (token >= 0) native.ok(token);
  }
});
const slow = new CircuitBreaker({ ...forever, slowAfter: "1s" });
await row("slowAfter set: admit() + success(), both with a clock", 10_000, (n) => {
  for (let i = 0; i < n; i++) slow.admit().success();
});
const opened = new CircuitBreaker({ resetAfter: "7d" });
opened.trip();
await row("open: tryAdmit(), refused", 20_000, (n) => {
  for (let i = 0; i < n; i++) if (opened.tryAdmit() >= 0) handle.allowed++;
});
await row("open: decide(), refused, with reason, instant and wait", 10_000, (n) => {
  for (let i = 0; i < n; i++) if (opened.decide().allowed) handle.allowed++;
});

console.log("\nRunning an async function");
await row("bare await fn()", 5_000, awaitBare);
await above("await fn().then(same, rethrow): the least a guard can add", 5_000, async (n) => {
  for (let i = 0; i < n; i++) await fn().then(same, rethrow);
});
const run = async (n) => {
  for (let i = 0; i < n; i++) await clean.run(fn);
};
await above("run(fn)", 5_000, run, 25);
await above("run(fn), clean check off", 2_000, async (n) => {
  for (let i = 0; i < n; i++) await native.run(fn);
});
const cockatiel = circuitBreaker(handleAll, { halfOpenAfter: 1e6, breaker: new ConsecutiveBreaker(1e6) });
await above("cockatiel: execute(fn)", 2_000, async (n) => {
  for (let i = 0; i < n; i++) await cockatiel.execute(fn);
});
const opossum = new Opossum(fn, { timeout: false, errorThresholdPercentage: 100, volumeThreshold: 1e9 });
await above("opossum: fire(), no timeout", 2_000, async (n) => {
  for (let i = 0; i < n; i++) await opossum.fire();
});

console.log("\nRetries, of a call that succeeds at once");
const rules = { timeouts: "none", retry: { idempotent: "yes" } };
const running = (policy) => async (n) => {
  for (let i = 0; i < n; i++) await policy.run(fn);
};
await above("policy: retry", 2_000, running(new Policy(rules)), 60);
await above("policy: retry, full budget", 2_000, running(new Policy({ ...rules, budget: new RetryBudget() })), 60);
const healthy = new CircuitBreaker(forever);
healthy.admit().success();
const guarded = new Policy({ ...rules, budget: new RetryBudget(), breaker: healthy });
await above("policy: retry, full budget, clean breaker", 2_000, running(guarded), 60);
const limited = new Policy({ ...rules, timeouts: { connect: 0, attempt: "1s", total: "3s" } });
await above("policy: retry, timeouts", 1_000, running(limited));
const again = retry(handleAll, { maxAttempts: 2, backoff: new ExponentialBackoff() });
await above("cockatiel: retry", 2_000, async (n) => {
  for (let i = 0; i < n; i++) await again.execute(fn);
});
const backoff = new Backoff();
await row("Backoff.delay()", 20_000, (n) => {
  for (let i = 0; i < n; i++) kept += backoff.delay(3);
});

console.log("\nA signal and a timeout");
await row("bare: new AbortController().signal", 2_000, (n) => {
  for (let i = 0; i < n; i++) if (!new AbortController().signal.aborted) kept++;
});
await above("run(({ signal }) => ...), the signal asked for", 1_000, async (n) => {
  for (let i = 0; i < n; i++) await clean.run(async ({ signal }) => signal);
});
await above("run(fn, { timeout }), no signal asked for", 1_000, async (n) => {
  for (let i = 0; i < n; i++) await clean.run(fn, { timeout: 1_000 });
});
const { signal } = new AbortController();
await above("run(fn, { signal }), the caller's", 1_000, async (n) => {
  for (let i = 0; i < n; i++) await clean.run(fn, { signal });
});
const timed = new Opossum(fn, { timeout: 1_000, errorThresholdPercentage: 100, volumeThreshold: 1e9 });
await above("opossum: fire(), with a timeout", 1_000, async (n) => {
  for (let i = 0; i < n; i++) await timed.fire();
});

opossum.shutdown();
timed.shutdown();

const missed = rows.filter(({ figure, target }) => figure > target);
console.log(
  missed.length === 0
    ? "\nall targets met"
    : `\nabove their target: ${missed.map(({ what }) => what).join("; ")} (is the machine busy?)`,
);
