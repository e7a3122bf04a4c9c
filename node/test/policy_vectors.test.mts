// The conformance vectors of whole calls: the native half's calls say the same, step by step, as in every other language.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { ManualClock } from "seawall/testing";

const require = createRequire(import.meta.url);
const { native } = require("../../dist/native.js");
const { clockHandle } = require("../../dist/testing.js");

type Fields = Record<string, string>;
type Step = { op: string; call?: number; now_ns: string; r?: string; expect: any; [key: string]: any };

const UNITS = new Map<RegExp, (value: string) => unknown>([
  [/_rate$|_jitter$|^ratio$|^spread$/, (value) => Number(value) / 1e6],
  [/factor$/, (value) => Number(value) / 1e3],
  [/^(mode|expired_trials|start|growth|jitter|late|idempotent|on_retry_after)$/, Number],
  [/_after$|_cap$|_span$|timeout$|^(period|base|cap|expected|max_wait|connect|attempt|total)$/, (value) => `${value}ns`],
]);

/** The options of one part, as native code takes them; `undefined` when none is given. */
function part(config: Fields, prefix: string): unknown[] | undefined {
  const list = Object.entries(config).flatMap(([key, value]) => {
    const [of, name] = key.split(".") as [string, string];
    if (of !== prefix) return [];
    const unit = [...UNITS].find(([pattern]) => pattern.test(name))?.[1] ?? BigInt;
    return [name, unit(value)];
  });
  return list.length === 0 ? undefined : list;
}

interface Parts {
  policy: number;
  breaker: number;
}

/** The parts and the policy around them; throws what refuses. */
function make(config: Fields, clock: number): Parts {
  const made = (of: string, create: (list: unknown[]) => unknown): number => {
    const list = part(config, of);
    if (list === undefined) return 0;
    const answer = create(list);
    if (typeof answer !== "number") throw new Error((answer as { error: string }).error);
    return answer;
  };
  const breaker = made("circuit_breaker", (list) => native.breakerNew(list, clock, undefined));
  const bucket = made("token_bucket", (list) => native.bucketNew(list, clock, undefined));
  const budget = made("retry_budget", (list) => native.budgetNew(list, clock, undefined));
  const list = (of: string): unknown[] => part(config, of) ?? [];
  const retry = part(config, "retry");
  const policy = native.policyNew(list("policy"), list("timeouts"), retry, list("backoff"), breaker, bucket, budget, clock);
  if (typeof policy !== "number") throw new Error(policy.error);
  return { policy, breaker };
}

const ms = (nanos: string | null): number | undefined => (nanos === null ? undefined : Number(BigInt(nanos)) / 1e6);

/** What the files say of a step, in the units of this face. */
function expected(step: any): object {
  const [[kind, said]] = Object.entries<any>(step) as [[string, any]];
  switch (kind) {
    case "run":
      return { step: kind, attempt: said.attempt, until: ms(said.until_ns), waited: ms(said.waited_ns), after: said.after ?? undefined };
    case "cancel":
      return { step: kind, ...said };
    case "wait":
      return { step: kind, until: ms(said.until_ns), ticket: said.ticket, pause: said.pause };
    case "changed": {
      const { at_ns, until_ns, ...rest } = said;
      return { step: kind, ...rest, at_ns, until_ns };
    }
    default: {
      const { refused, failure, told_ns, ...rest } = said;
      const no = refused && { layer: refused.layer, reason: refused.reason, when: refused.when, at: ms(refused.at_ns), sentence: refused.explain };
      return { step: kind, ...rest, refused: no ?? undefined, failure: failure ?? undefined, told: ms(told_ns) };
    }
  }
}

function said(step: any): object {
  switch (step.step) {
    case "run":
      return { after: undefined, until: undefined, ...step };
    case "wait": {
      const { wait: _, ...rest } = step;
      return { until: undefined, ...rest };
    }
    case "changed": {
      const { at: _, until: __, atNanos, untilNanos, ...rest } = native.takeTransition();
      return { step: "changed", ...rest, at_ns: String(atNanos), until_ns: untilNanos === undefined ? null : String(untilNanos) };
    }
    case "done": {
      const { wait: _, at: __, refused, ...rest } = step;
      const no = refused && { at: undefined, ...refused };
      if (no) delete no.wait;
      return { failure: undefined, told: undefined, ...rest, refused: no };
    }
    default:
      return step;
  }
}

function polled(policy: number, call: number): object[] {
  const steps: object[] = [];
  for (let turn = 0; turn < 64; turn++) {
    const step = native.callPoll(policy, call);
    steps.push(said(step));
    if (step.step === "wait" || step.step === "done") return steps;
  }
  throw new Error("it never comes to rest");
}

const folder = new URL("../../../core/vectors/policy/", import.meta.url);
let replayed = 0;

for (const name of readdirSync(folder)) {
  const file = JSON.parse(readFileSync(new URL(name, folder), "utf8"));
  assert.equal(file.format, 1);
  for (const { config, error } of file.config_errors) {
    test(`${name} refuses ${JSON.stringify(config)}`, () => assert.throws(() => make(config, 0), { message: error }));
  }
  for (const scenario of file.scenarios) {
    test(`${name} ${scenario.name}`, () => {
      const clock = new ManualClock(BigInt(scenario.start_ns));
      const { policy, breaker } = make(scenario.config, clockHandle(clock));
      const calls = new Map<number, { number: number; over: boolean }>();
      for (const step of scenario.steps as Step[]) {
        clock.set(BigInt(step.now_ns));
        clock.random = BigInt(step.r ?? 0);
        const place = step.call ?? 0;
        let call = calls.get(place);
        const receipt = (taken: boolean): void => assert.equal(taken ? "taken" : "stale", step.expect.receipt, step.op);
        switch (step.op) {
          case "start":
            if (call === undefined || call.over) {
              const deadline = step["deadline_ns"] === undefined ? undefined : BigInt(step["deadline_ns"]);
              call = { number: native.callStart(policy, deadline), over: false };
              calls.set(place, call);
              receipt(true);
            } else {
              // A call of this face is started when it is made.
              receipt(false);
            }
            break;
          case "poll": {
            if (call === undefined) break;
            const steps = polled(policy, call.number);
            assert.deepEqual(steps, step.expect.steps.map(expected));
            call.over = (steps.at(-1) as { step: string }).step === "done";
            replayed++;
            break;
          }
          case "finished": {
            const { failure, retryable, breaker, told_ns, stop } = step["result"];
            const told = stop ? -1 : told_ns === null ? undefined : Number(told_ns);
            const verdict = failure === null ? [] : [retryable ? 1 : 0, breaker];
            const taken = call !== undefined && native.callFinished(policy, call.number, step["attempt"], failure ?? "success", told, ...verdict);
            receipt(taken === true);
            break;
          }
          case "woken":
            receipt(call !== undefined && native.callWoken(policy, call.number, step["ticket"]));
            break;
          case "cancelled":
            receipt(call !== undefined && native.callCancelled(policy, call.number));
            break;
          case "fail":
            native.breakerFail(breaker, native.breakerAdmit(breaker));
            break;
          default:
            assert.fail(`no operation ${step.op}`);
        }
      }
    });
  }
}

test("the vectors were there", () => assert.ok(replayed > 50, String(replayed)));
