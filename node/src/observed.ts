import type { Mode } from "./options.js";

export type State = "closed" | "open" | "half-open";

/** What became of a settlement. A stale one came from before the last change of state, and changed nothing. */
export type Settlement = "counted" | "neutral" | "stale";

export type Cause =
  | "failure_threshold"
  | "failure_rate"
  | "slow_rate"
  | "retry_after"
  | "trial_failed"
  | "trials_succeeded"
  | "trials_expired"
  | "due"
  | "tripped"
  | "reset"
  | "half_opened";

/** A change of state, told once, to the thread whose operation made it. */
export interface Transition {
  /** The breaker's name. */
  readonly policy: string | undefined;
  readonly from: State;
  readonly to: State;
  readonly cause: Cause;
  /** When, in milliseconds of the breaker's clock; `atNanos` is exact. */
  readonly at: number;
  readonly atNanos: bigint;
  /** Until when it is open. */
  readonly until: number | undefined;
  readonly untilNanos: bigint | undefined;
  /** The generation after the change. */
  readonly generation: number;
  /** How many calls were judged, how many of them failed, and how many were slow. */
  readonly calls: number;
  readonly failed: number;
  readonly slow: number;
  /** How many times in a row it has reopened without closing, at most 15. */
  readonly reopened: number;
  /** Jitter was asked for, but the system had no randomness to give. */
  readonly unseeded: boolean;
}

/** All figures at one instant. */
export interface Snapshot {
  readonly state: State;
  readonly mode: Mode;
  readonly generation: number;
  /** Calls judged: in the window, failed in a row, or settled trials. While open: those that opened it. */
  readonly calls: number;
  readonly failed: number;
  readonly slow: number;
  /** `failed / calls`; not there below `minimumCalls` and in consecutive mode. */
  readonly failureRate: number | undefined;
  readonly slowRate: number | undefined;
  readonly trialsInFlight: number;
  readonly trialsSucceeded: number;
  /** The most trials of a half-open round. */
  readonly trials: number;
  readonly reopened: number;
  /** Open: until when. Half-open with trials out: when they expire. */
  readonly until: number | undefined;
  readonly untilNanos: bigint | undefined;
  /** Why it changed its state last, and when. */
  readonly cause: Cause | undefined;
  readonly changedAt: number | undefined;
  readonly changedAtNanos: bigint | undefined;
}
