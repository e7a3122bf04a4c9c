// The conformance vectors of one operation each (core/vectors/README.md): backoff and its helpers, retry budget,
// deadlines, header text. Left out by name: what a policy alone decides here (classification, the pause after a told
// wait; policy_vectors.test.mts replays it), a budget's peek (`balance` tells), and header text that only other faces read.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { Deadline, DeadlineExceeded, formatRetryAfter, parseRetryAfter, RetryBudget, WontFinish } from "seawall";
import { ManualClock } from "seawall/testing";

const require = createRequire(import.meta.url);
const { native } = require("../../dist/native.js");
const { clockHandle } = require("../../dist/testing.js");

type Fields = Record<string, string>;
type Step = { op: string; expect: any; [key: string]: any };
type File = { format: number; primitive: string; scenarios: Scenario[]; config_errors: { config: Fields; error: string }[] };
type Scenario = { name: string; config: Fields; start_ns: string; steps: Step[] };

const LEFT_OUT = new Set([
  ...["peek", "pause", "may_repeat", "status", "failure", "timeouts", "parse_date", "write_date", "parse_grpc_timeout"],
  ...["write_grpc_timeout", "parse_pushback", "parse_deadline_ms", "write_deadline_ms"],
]);

const CHOICES: Record<string, string[]> = {
  growth: ["exponential", "linear", "constant"],
  jitter: ["full", "equal", "decorrelated", "proportional", "none"],
};
const PPM = new Set(["ratio", "spread"]);
const SPANS = new Set(["base", "cap"]);

/** A configuration as native code takes it. */
function list(config: Fields): unknown[] {
  return Object.entries(config).flatMap(([name, value]) => [name, unit(name, value)]);
}

function unit(name: string, value: string): unknown {
  if (CHOICES[name]) return CHOICES[name][Number(value)] ?? Number(value);
  if (PPM.has(name)) return Number(value) / 1e6;
  if (name === "factor") return Number(value) / 1e3;
  return SPANS.has(name) ? `${value}ns` : BigInt(value);
}

const ms = (nanos: string | null): number | undefined => (nanos === null ? undefined : Number(BigInt(nanos)) / 1e6);

/** What a scenario works with. */
class Parts {
  readonly clock = new ManualClock();
  readonly #backoff: bigint[] | undefined;
  readonly #budget: RetryBudget | undefined;
  #link: bigint[] = [];

  constructor(primitive: string, { config, start_ns }: Scenario) {
    this.clock.set(BigInt(start_ns));
    if (primitive === "backoff") this.#backoff = native.backoffNew(list(config));
    if (primitive === "retry_budget") this.#budget = new RetryBudget({ ...budgetOptions(config), clock: this.clock });
  }

  answer(step: Step): unknown {
    const budget = this.#budget as RetryBudget;
    if (step["now_ns"] !== undefined) this.clock.set(BigInt(step["now_ns"]));
    const wait = (nanos: number | undefined) => ({ wait: nanos === undefined ? undefined : nanos / 1e6 });
    const r = BigInt(step["r"] ?? 0);
    const handle = clockHandle(this.clock);
    switch (step.op) {
      case "ceiling":
        return wait(native.backoffCeiling(this.#backoff, step["retry"]));
      case "delay":
        return wait(native.backoffDelay(this.#backoff, step["retry"], Number(step["previous_ns"]), r, 0));
      case "ttl":
        return wait(native.ttl(Number(step["span_ns"]), Math.min(1, step["spread_ppm"] / 1e6), r, 0));
      case "schedule": {
        const [period, spread] = [Number(step["period_ns"]), step["spread_ppm"] / 1e6];
        const phase = native.schedulePhase(period, spread, BigInt(step["seed"]));
        return { phase, at: native.scheduleNext(period, phase, BigInt(step["now_ns"])) };
      }
      case "reconnect":
        this.#link = native.reconnectNew(this.#backoff, Number(step["stable_after_ns"]));
        return {};
      case "connected":
        this.#link = native.reconnectConnected(this.#link, handle);
        return {};
      case "lost": {
        const { words, wait: nanos } = native.reconnectLost(this.#link, r, handle);
        this.#link = words;
        return wait(nanos);
      }
      case "deposit":
      case "refund":
      case "reset":
        budget[step.op]();
        return {};
      case "withdraw": {
        const answer = budget.withdraw();
        return answer === true ? {} : { reason: answer.reason, when: answer.when, at: answer.at };
      }
      case "balance":
        return { balance: budget.balance };
      case "configure":
        try {
          budget.configure(budgetOptions(step["config"]));
          return { error: null };
        } catch (error) {
          return { error: (error as Error).message };
        }
      case "check":
        return checked(step, this.clock);
      case "shrunk": {
        if (step["deadline_ns"] === null) return { deadline: undefined };
        return { deadline: Deadline.at(BigInt(step["deadline_ns"])).shrunkBy(`${step["margin_ns"]}ns`).at };
      }
      case "parse_retry_after":
        return { wait: parseRetryAfter(step["value"], step["now_unix"] * 1e3) };
      case "write_retry_after":
        return { text: formatRetryAfter(`${step["wait_ns"]}ns`) };
      default:
        throw new Error(`what is ${step.op}?`);
    }
  }
}

function checked(step: Step, clock: ManualClock): unknown {
  if (step["deadline_ns"] === null) return { remaining: undefined };
  try {
    return { remaining: Deadline.at(BigInt(step["deadline_ns"]), clock).check(`${step["expected_ns"]}ns`) };
  } catch (error) {
    if (!(error instanceof DeadlineExceeded)) throw error;
    return { reason: error instanceof WontFinish ? "wont_finish" : "deadline_exceeded", when: "never", at: undefined };
  }
}

function budgetOptions(config: Fields): object {
  const names: Record<string, string> = { ratio: "ratio", capacity: "capacity", min_per_second: "minPerSecond" };
  return Object.fromEntries(
    Object.entries(config).map(([name, value]) => [names[name], name === "ratio" ? Number(value) / 1e6 : Number(value)]),
  );
}

/** The same answer in the units of this face. */
function expected({ op, expect }: Step): unknown {
  if (expect.refused) return { reason: expect.refused.reason, when: expect.refused.when, at: ms(expect.refused.at_ns) };
  if (op === "schedule") return { phase: Number(expect.phase_ns), at: Number(expect.at_ns) };
  if ("wait_ns" in expect) return { wait: ms(expect.wait_ns) };
  if ("balance_ppm" in expect) return { balance: Number(expect.balance_ppm) / 1e6 };
  if ("remaining_ns" in expect) return { remaining: ms(expect.remaining_ns) };
  if ("deadline_ns" in expect) return { deadline: ms(expect.deadline_ns) };
  return expect;
}

const root = new URL("../../../core/vectors/", import.meta.url);
for (const primitive of ["backoff", "retry_budget", "deadline", "wire"]) {
  for (const name of readdirSync(new URL(`${primitive}/`, root)).sort()) {
    const file: File = JSON.parse(readFileSync(new URL(`${primitive}/${name}`, root), "utf8"));
    assert.deepEqual([file.format, file.primitive], [1, primitive]);
    for (const scenario of file.scenarios) {
      const steps = scenario.steps.filter(({ op }) => !LEFT_OUT.has(op));
      if (steps.length === 0) continue;
      test(`${primitive}/${name}: ${scenario.name}`, () => {
        const parts = new Parts(primitive, scenario);
        for (const [place, step] of steps.entries()) {
          assert.deepEqual(parts.answer(step), expected(step), `step ${place}: ${JSON.stringify(step)}`);
        }
      });
    }
    if (primitive === "deadline" || file.config_errors.length === 0) continue;
    test(`${primitive}/${name}: what is impossible`, () => {
      for (const { config, error } of file.config_errors) {
        const made = primitive === "backoff" ? native.backoffNew(list(config)) : native.budgetNew(list(config), 0, undefined);
        assert.equal((made as { error: string }).error, error, JSON.stringify(config));
      }
    });
  }
}
