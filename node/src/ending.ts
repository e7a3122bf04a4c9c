import type { FailureClass } from "./classify.js";
import type { Reason } from "./refusal.js";

/** Why a call ended without an answer. */
export type End =
  | "not_retryable"
  | "not_idempotent"
  | "attempts_used_up"
  | "budget_empty"
  | "told_to_stop"
  | "told_too_long"
  | "breaker_refused"
  | "rate_limited"
  | "deadline_exceeded"
  | "timed_out"
  | "wont_finish"
  | "cancelled"
  | "unconfigured";

/** How a call ended that has no answer. */
export interface Ending {
  readonly end: End;
  /** How many attempts were sent. */
  readonly attempts: number;
  /** How the last one failed. */
  readonly failure: FailureClass | undefined;
  /** Why a layer of our own refused, where one did. */
  readonly reason: Reason | undefined;
  /** When it is worth asking again, in milliseconds of the policy's clock, where somebody told. */
  readonly at: number | undefined;
  /** How long until then, in whole milliseconds, rounded up. */
  readonly retryAfter: number | undefined;
}

const endings = new WeakMap<object, Ending>();

/** How the call ended that `error` came from; `undefined` when it came from no policy. */
export function endingOf(error: unknown): Ending | undefined {
  return typeof error === "object" && error !== null ? endings.get(error) : undefined;
}

/** @internal Errors come through as they are; what is said of them stands beside them. */
export function tellEnding(error: unknown, ending: Ending): void {
  if (typeof error === "object" && error !== null) endings.set(error, ending);
}
