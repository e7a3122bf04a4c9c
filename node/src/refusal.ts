import { native, type RefusalDetails } from "./native.js";

export type Reason =
  | "unconfigured"
  | "open"
  | "trials_busy"
  | "forced_open"
  | "rate_limited"
  | "exceeds_capacity"
  | "budget_empty"
  | "deadline_exceeded"
  | "wont_finish"
  | "timed_out";

export type When = "at" | "never" | "depends";

/** A breaker's codes, the lowest three bits of its refusals: reason, and whether there is an instant. */
const CODES: readonly [reason: Reason, when: When, timed: boolean][] = [
  ["unconfigured", "never", false],
  ["open", "at", true],
  ["open", "at", true],
  ["trials_busy", "depends", false],
  ["trials_busy", "depends", true],
  ["forced_open", "depends", false],
  ["unconfigured", "never", false],
];
export const CODES_BITS = 8;

/** The code of a breaker's refusal whose question changed the state. */
export const OPENED = 2;

const NANOS_PER_MS = 1e6;

/** Whole milliseconds, rounded up: timers cut fractions off, and would wake too early. */
export function wholeMilliseconds(nanos: number): number {
  return Math.ceil(nanos / NANOS_PER_MS);
}

/** A no, as a value: who, why and when. */
export class Refusal {
  readonly allowed = false as const;
  /** The stable reason, the same in every language. */
  readonly reason: Reason;
  /** Whether `at` is exact (`"at"`), an estimate (`"depends"`), or there is none (`"never"`). */
  readonly when: When;
  /** When to ask again, in milliseconds of the object's clock (see `now`). */
  readonly at: number | undefined;
  /** How long until then, in whole milliseconds, rounded up, at least 1; good for a timer. */
  readonly retryAfter: number | undefined;
  /** The name of what refused. */
  readonly policy: string | undefined;
  readonly #layer: 1 | 2;
  readonly #details: RefusalDetails | undefined;
  readonly #code: number;

  /** @internal */
  constructor(
    layer: 1 | 2,
    code: number,
    reason: Reason,
    when: When,
    nanos: number | undefined,
    policy: string | undefined,
    details?: RefusalDetails,
  ) {
    this.reason = reason;
    this.when = when;
    this.at = details !== undefined ? details.at : nanos === undefined ? undefined : native.refusedAt();
    this.retryAfter = nanos === undefined ? undefined : Math.max(1, wholeMilliseconds(nanos));
    this.policy = policy;
    this.#details = details;
    this.#layer = layer;
    this.#code = code;
  }

  /** The refusal as a sentence, as of the instant it was made. */
  explain(): string {
    return this.#details?.sentence ?? native.explainRefusal(this.#layer, this.#code);
  }
}

/** @internal What an object says of a refusal. */
export function refusalOf(details: RefusalDetails, policy: string | undefined): Refusal {
  return new Refusal(1, 0, details.reason as Reason, details.when, details.wait, policy, details);
}

/** What a breaker's number says. To be called right after the operation that gave it. */
export function breakerRefusal(code: number, policy: string | undefined): Refusal {
  const [reason, when, timed] = CODES[-code % CODES_BITS] ?? CODES[0]!;
  const nanos = timed ? Math.floor(-code / CODES_BITS) : undefined;
  return new Refusal(1, code, reason, when, nanos, policy);
}

/** The reason in a breaker's number. */
export function breakerReason(code: number): Reason {
  return (CODES[-code % CODES_BITS] ?? CODES[0]!)[0];
}

/** What a token bucket's number says. To be called right after the operation that gave it. */
export function bucketRefusal(code: number, policy: string | undefined): Refusal {
  if (code === Number.NEGATIVE_INFINITY) {
    return new Refusal(2, code, "exceeds_capacity", "never", undefined, policy);
  }
  return new Refusal(2, code, "rate_limited", "at", -code, policy);
}
