/** How outcomes are judged, and what a dependency may say about when it will be back. */

import { ConfigError, Refused } from "./errors.js";
import type { Span } from "./options.js";
import { instantOf, nanosOf } from "./time.js";
import { parseRetryAfter } from "./wire.js";

/**
 * How long a dependency says it will be away: milliseconds, or text such as "30s". Text of digits alone is
 * whole seconds and that of an HTTP date is a date, as the header `Retry-After` means them; a `Date` is that
 * time by the wall clock. A time that
 * is over tells nothing: the failure is a plain one.
 */
export type RetryAfter = Span | Date;

/** When a dependency said it will be back: an instant (bigint: nanoseconds), or a span from now. */
export type RetryAt = { readonly until: number | bigint } | { readonly retryAfter: RetryAfter };

/**
 * How outcomes of `run` are judged. A refusal of seawall's own counts for nothing, and so does a group of
 * nothing else (the `AggregateError` of `Promise.any`, groups within it too); a group with any other error in
 * it is a failure. An error's `cause` is not looked at: who wraps a refusal says so with `ignore`. A function
 * that throws counts as if it were not there, and a process warning says so: the run ends as its call did.
 */
export interface Judgement {
  /** Errors that say nothing about the dependency (a 4xx, say). All others are failures. */
  ignore?: (error: any) => boolean;
  /** Values that are failures although nothing was thrown (a response with status 503, say). */
  isFailure?: (value: any) => boolean;
  /**
   * How long a failure (an error, or a value that `isFailure` chose) says the dependency will be away. What is
   * no span and no `Date` makes it a plain failure.
   */
  retryAfterOf?: (failure: any) => RetryAfter | undefined;
}

/** As native code takes it: an instant, or nanoseconds from now. */
export function untilOf(told: RetryAt): bigint | number {
  return "retryAfter" in told ? nanosOf(spanOf(told.retryAfter), "retryAfter") : instantOf(told.until, "until");
}

function spanOf(told: RetryAfter): Span {
  if (told instanceof Date) return Math.max(0, told.getTime() - Date.now());
  // More digits than a number holds are still a span: the breaker cuts it to `maxRetryAfter`.
  if (typeof told === "string" && /^\d+$/.test(told)) return Math.min(Number(told) * 1_000, Number.MAX_SAFE_INTEGER);
  // The header's other form. Blanks and signs are no reason to take text for a date.
  if (typeof told === "string" && /^[A-Z][a-z]{2}/.test(told)) return parseRetryAfter(told) ?? told;
  return told;
}

/**
 * @internal The same of what a dependency said. It may say anything, and the call has failed all the same: what is no
 * instant and no span was not said.
 */
export function heard(told: RetryAt): bigint | number | undefined {
  try {
    return untilOf(told);
  } catch {
    return undefined;
  }
}

/** @internal Whether an error is a refusal of seawall's own, or a group of nothing else. */
export function refusedByUs(error: unknown): boolean {
  try {
    return error instanceof Refused || onlyRefusals(error);
  } catch {
    // Something that cannot even be looked at is not ours.
    return false;
  }
}

/** Whether every leaf of a group is a refusal; a group that is its own member has no leaf there. */
function onlyRefusals(group: unknown): boolean {
  const groups = new Set<unknown>();
  const left = [group];
  let refusals = 0;
  for (const one of left) {
    if (one instanceof Refused) {
      refusals++;
    } else if (!groups.has(one)) {
      const errors = (one as { errors?: unknown } | null | undefined)?.errors;
      if (!Array.isArray(errors) || errors.length === 0) return false;
      groups.add(one);
      for (const inner of errors) left.push(inner);
    }
  }
  return refusals > 0;
}

/** The functions among the options, checked to be such. */
export function judgementOf({ ignore, isFailure, retryAfterOf }: Judgement): Judgement {
  for (const [field, judge] of Object.entries({ ignore, isFailure, retryAfterOf })) {
    if (judge !== undefined && typeof judge !== "function") {
      throw new ConfigError(`${field}: this value is not allowed; allowed is a function`, field, judge, "a function");
    }
  }
  return { ...(ignore && { ignore }), ...(isFailure && { isFailure }), ...(retryAfterOf && { retryAfterOf }) };
}

/** @internal Reports a function of the user's that threw. The run ends as its call did, so nobody else would. */
export function judgementFailed(policy: string | undefined, name: string, error: unknown): void {
  const whose = policy === undefined ? name : `${policy}: ${name}`;
  let detail = "";
  try {
    detail = String((error instanceof Error && error.stack) || error);
  } catch {
    // Anything can be thrown, what has no text too.
  }
  process.emitWarning(`${whose} threw; it counts as if it were not there`, { type: "SeawallWarning", detail });
}
