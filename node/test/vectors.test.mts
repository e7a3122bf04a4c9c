// The conformance vectors of core/vectors: the same decisions as in every other language, with the clean
// check on and off, by permits and by bare tokens.
//
// What this face hides, and the replay therefore checks another way: instants of refusals are milliseconds
// (compared as such), a yes of a token bucket carries no figures (they are asked for), and a permit that is
// settled a second time is answered "stale" by its own once-flag. Bare tokens are settled as often as stated.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { CircuitBreaker, type CircuitBreakerOptions, ConfigError, Permit, Refusal, TokenBucket } from "seawall";
import type { Mode, Reservation, Settlement, Snapshot, TokenBucketOptions, Transition } from "seawall";
import { ManualClock } from "seawall/testing";

type Fields = Record<string, string>;
// The shapes are what core/vectors/README.md says.
type Step = { op: string; now_ns: string; r?: string; expect: any; [key: string]: any };
interface Scenario {
  name: string;
  config: Fields;
  start_ns: string;
  misuse?: boolean;
  steps: Step[];
}
interface File {
  format: number;
  scenarios: Scenario[];
  config_errors: { config: Fields; error: string }[];
}

const SPANS = new Set(
  ["window_span", "slow_after", "reset_after", "reset_cap", "max_retry_after", "trial_timeout", "period"],
);
const RATIOS = new Set(["failure_rate", "slow_rate", "reset_jitter"]);
const THOUSANDTHS = new Set(["reset_factor"]);
const CHOICES = new Set(["mode", "expired_trials", "start"]);

const camel = (name: string): string => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());

function options(config: Fields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => {
      if (SPANS.has(name)) return [camel(name), `${value}ns`];
      if (RATIOS.has(name)) return [camel(name), Number(value) / 1e6];
      if (THOUSANDTHS.has(name)) return [camel(name), Number(value) / 1e3];
      if (CHOICES.has(name)) return [camel(name), Number(value)];
      return [camel(name), BigInt(value)];
    }),
  );
}

const ms = (nanos: string | null | undefined): number | undefined =>
  nanos === null || nanos === undefined ? undefined : Number(BigInt(nanos)) / 1e6;
const text = (nanos: bigint | undefined): string | null => (nanos === undefined ? null : String(nanos));
const ppm = (rate: number | undefined): number | null => (rate === undefined ? null : Math.round(rate * 1e6));

function checkRefusal(refusal: Refusal, expected: Step["expect"], now: bigint): void {
  const { reason, when, at_ns, explain } = expected;
  assert.equal(refusal.reason, reason);
  assert.equal(refusal.when, when);
  assert.equal(refusal.at, ms(at_ns));
  assert.equal(refusal.explain(), explain);
  if (at_ns === null) {
    assert.equal(refusal.retryAfter, undefined);
  } else {
    const wait = Number((BigInt(at_ns) - now + 999_999n) / 1_000_000n);
    assert.equal(refusal.retryAfter, Math.max(1, wait));
  }
}

function checkTransition(seen: Transition | undefined, expected: Step["expect"]): void {
  if (expected === null) {
    assert.equal(seen, undefined);
    return;
  }
  assert.ok(seen, "a transition");
  const { policy: _, at, atNanos, until, untilNanos, ...rest } = seen;
  assert.deepEqual({ ...rest, at_ns: text(atNanos), until_ns: text(untilNanos) }, expected);
  assert.deepEqual([at, until], [ms(expected.at_ns), ms(expected.until_ns)]);
}

function figures(snapshot: Snapshot): object {
  const { failureRate, slowRate, trialsInFlight, trialsSucceeded, until: _, untilNanos, changedAt: __ } = snapshot;
  const { state, mode, generation, calls, failed, slow, trials, reopened, cause, changedAtNanos } = snapshot;
  return {
    ...{ state, mode, generation, calls, failed, slow, trials, reopened, cause: cause ?? null },
    failure_rate_ppm: ppm(failureRate),
    slow_rate_ppm: ppm(slowRate),
    trials_in_flight: trialsInFlight,
    trials_succeeded: trialsSucceeded,
    until_ns: text(untilNanos),
    changed_at_ns: text(changedAtNanos),
  };
}

/** A permit as the replay keeps it: a `Permit`, or a bare token and when it was granted. */
interface Kept {
  once: boolean;
  kind: string;
  bypassed: Refusal | undefined;
  settle(op: string, until: bigint | undefined): Settlement;
}

function byPermit(breaker: CircuitBreaker): Kept | Refusal {
  const permit = breaker.decide();
  if (permit instanceof Refusal) return permit;
  return {
    once: true,
    kind: kindOf(permit),
    bypassed: permit.bypassed,
    settle(op, until) {
      if (op === "success") return permit.success();
      if (op === "ignore") return permit.ignore();
      return until === undefined ? permit.failure() : permit.failure({ until });
    },
  };
}

function byToken(breaker: CircuitBreaker, clock: ManualClock): Kept | Refusal {
  const token = breaker.tryAdmit();
  if (token < 0) return breaker.refusal(token);
  const granted = clock.nanos;
  return {
    once: false,
    kind: kindOf({ token }),
    bypassed: undefined,
    settle(op, until) {
      if (op === "success") return breaker.ok(token, granted);
      if (op === "ignore") return breaker.ignore(token);
      return breaker.fail(token, until === undefined ? undefined : { until }, granted);
    },
  };
}

function kindOf({ token }: Pick<Permit, "token">): string {
  return ["call", "?", "trial", "bypass"][Math.floor(token / 2 ** 30) % 4]!;
}

function replayBreaker(scenario: Scenario, cleanCheck: boolean, permits: boolean): void {
  const clock = new ManualClock(BigInt(scenario.start_ns));
  const breaker = new CircuitBreaker({ ...options(scenario.config), clock, cleanCheck });
  let seen: Transition | undefined;
  breaker.onTransition((transition) => {
    assert.equal(seen, undefined, "told once");
    seen = transition;
  });
  const kept: Kept[] = [];
  const settled = new Set<Kept>();
  for (const [place, step] of scenario.steps.entries()) {
    const now = BigInt(step.now_ns ?? clock.nanos);
    clock.set(now);
    clock.random = BigInt(step.r ?? 0);
    seen = undefined;
    const { op, expect } = step;
    const until = step["until_ns"] == null ? undefined : BigInt(step["until_ns"]);
    try {
      switch (op) {
        case "admit": {
          const answer = permits ? byPermit(breaker) : byToken(breaker, clock);
          if (answer instanceof Refusal) {
            assert.ok(expect.refused, `it refused: ${answer.explain()}`);
            checkRefusal(answer, expect.refused, now);
          } else {
            assert.equal(answer.kind, expect.admitted);
            assert.equal(kept.push(answer) - 1, expect.permit);
            if (permits && expect.bypassed !== null) checkRefusal(answer.bypassed!, expect.bypassed, now);
            if (permits) assert.equal(answer.bypassed === undefined, expect.bypassed === null);
          }
          checkTransition(seen, expect.transition);
          break;
        }
        case "success":
        case "failure":
        case "failure_until":
        case "ignore": {
          const permit = kept[step["permit"]]!;
          const again = permit.once && settled.has(permit);
          settled.add(permit);
          assert.equal(permit.settle(op, until), again ? "stale" : expect.settlement);
          checkTransition(seen, expect.transition);
          break;
        }
        case "trip":
          breaker.trip(until === undefined ? undefined : { until });
          checkTransition(seen, expect.transition);
          break;
        case "half_open":
          breaker.halfOpen();
          checkTransition(seen, expect.transition);
          break;
        case "reset":
          breaker.reset();
          checkTransition(seen, expect.transition);
          break;
        case "configure":
          checkConfigure(() => breaker.configure(options(step["config"])), expect.error);
          break;
        case "set_mode":
          assert.equal(breaker.mode, expect.before);
          breaker.mode = step["mode"] as Mode;
          break;
        case "state":
          assert.equal(breaker.state, expect.state);
          break;
        case "snapshot": {
          const { explain, ...rest } = expect;
          assert.deepEqual(figures(breaker.snapshot()), rest);
          assert.equal(breaker.explain(), explain);
          break;
        }
        default:
          assert.fail(`an unknown operation: ${op}`);
      }
    } catch (error) {
      throw new Error(`step ${place} (${op})`, { cause: error });
    }
  }
  breaker.close();
}

function replayBucket(scenario: Scenario): void {
  const clock = new ManualClock(BigInt(scenario.start_ns));
  const bucket = new TokenBucket({ ...(options(scenario.config) as unknown as TokenBucketOptions), clock });
  const reserved: Reservation[] = [];
  for (const [place, step] of scenario.steps.entries()) {
    const now = BigInt(step.now_ns);
    clock.set(now);
    const { op, expect } = step;
    try {
      switch (op) {
        case "try_acquire":
        case "peek": {
          const cost = Number(step["cost"]);
          const answer = op === "peek" ? bucket.peek(cost) : bucket.decide(cost);
          if (answer.allowed) {
            assert.ok(expect.granted, "it granted");
            assert.equal(op === "peek" ? bucket.remaining - cost : bucket.remaining, Number(expect.granted.remaining));
            const after = Number((BigInt(expect.granted.reset_after_ns) + 999_999n) / 1_000_000n);
            if (op !== "peek" || cost === 0) assert.equal(bucket.resetAfter, after);
          } else {
            assert.ok(expect.refused, `it refused: ${answer.explain()}`);
            checkRefusal(answer, expect.refused, now);
          }
          break;
        }
        case "reserve": {
          const answer = bucket.reserve(Number(step["cost"]), `${step["max_wait_ns"]}ns`);
          if (answer.allowed) {
            assert.equal(reserved.push(answer) - 1, expect.reserved.reservation);
            assert.equal(answer.at, ms(expect.reserved.at_ns));
          } else {
            assert.ok(expect.refused, `it refused: ${answer.explain()}`);
            checkRefusal(answer, expect.refused, now);
          }
          break;
        }
        case "cancel":
          assert.equal(reserved[step["reservation"]]!.cancel(), expect.refund);
          break;
        case "drain":
          bucket.drain();
          break;
        case "reset":
          bucket.reset();
          break;
        case "configure":
          checkConfigure(() => bucket.configure(options(step["config"]) as unknown as TokenBucketOptions), expect.error);
          break;
        default:
          assert.fail(`an unknown operation: ${op}`);
      }
    } catch (error) {
      throw new Error(`step ${place} (${op})`, { cause: error });
    }
  }
  bucket.close();
}

function checkConfigure(configure: () => void, error: string | null): void {
  if (error === null) configure();
  else assert.throws(configure, { name: "ConfigError", message: error });
}

const folder = fileURLToPath(new URL("../../../core/vectors/", import.meta.url));

function files(primitive: string): [name: string, file: File][] {
  const names = readdirSync(join(folder, primitive)).filter((name) => name.endsWith(".json"));
  assert.ok(names.length > 0, `there are vectors of ${primitive}`);
  return names.sort().map((name) => {
    const file = JSON.parse(readFileSync(join(folder, primitive, name), "utf8")) as File;
    assert.equal(file.format, 1);
    return [name, file];
  });
}

for (const [name, { scenarios, config_errors }] of files("circuit_breaker")) {
  for (const scenario of scenarios) {
    for (const cleanCheck of [true, false]) {
      const how = `clean check ${cleanCheck ? "on" : "off"}`;
      if (!scenario.misuse) {
        test(`${name} ${scenario.name}: by permits, ${how}`, () => replayBreaker(scenario, cleanCheck, true));
      }
      test(`${name} ${scenario.name}: by tokens, ${how}`, () => replayBreaker(scenario, cleanCheck, false));
    }
  }
  for (const { config, error } of config_errors) {
    test(`${name} refuses ${JSON.stringify(config)}`, () => {
      const make = (): CircuitBreaker => new CircuitBreaker(options(config) as CircuitBreakerOptions);
      assert.throws(make, (thrown: unknown) => thrown instanceof ConfigError && thrown.message === error);
    });
  }
}

for (const [name, { scenarios, config_errors }] of files("token_bucket")) {
  for (const scenario of scenarios.filter(({ misuse }) => !misuse)) {
    test(`${name} ${scenario.name}`, () => replayBucket(scenario));
  }
  for (const { config, error } of config_errors) {
    test(`${name} refuses ${JSON.stringify(config)}`, () => {
      const make = (): TokenBucket => new TokenBucket(options(config) as unknown as TokenBucketOptions);
      assert.throws(make, (thrown: unknown) => thrown instanceof ConfigError && thrown.message === error);
    });
  }
}

// A child of this test must not start children of its own.
if (process.env["SEAWALL_CLEAN_CHECK"] !== "off") {
  test("all of it again where the runtime allows no external buffers", () => {
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const child = spawnSync(process.execPath, ["--test-reporter=tap", fileURLToPath(import.meta.url)], {
      env: { ...environment, SEAWALL_CLEAN_CHECK: "off" },
      encoding: "utf8",
    });
    assert.equal(child.status, 0, child.stdout.split("\n").filter((line) => line.startsWith("not ok")).join("\n"));
    assert.match(child.stdout, /# pass [1-9]/);
  });
}
