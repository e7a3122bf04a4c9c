/** How outcomes are judged, and what a dependency may say about when it will be back. */

import { ConfigError } from "./errors.js";
import type { Span } from "./options.js";
import { nanosOf } from "./time.js";

/** When a dependency said it will be back: an instant (bigint: nanoseconds), or a span from now. */
export type RetryAt = { readonly until: number | bigint } | { readonly retryAfter: Span };

/** How outcomes of `run` are judged. Refusals of seawall's own never count as failures. */
export interface Judgement {
  /** Errors that say nothing about the dependency (a 4xx, say). All others are failures. */
  ignore?: (error: unknown) => boolean;
  /** Values that are failures although nothing was thrown (a response with status 503, say). */
  isFailure?: (value: never) => boolean;
  /** How long a failure (an error, or a value that `isFailure` chose) says the dependency will be away. */
  retryAfterOf?: (failure: never) => Span | undefined;
}

/** As native code takes it: an instant, or nanoseconds from now. */
export function untilOf(told: RetryAt): bigint | number {
  if ("retryAfter" in told) return nanosOf(told.retryAfter, "retryAfter");
  if (typeof told.until === "bigint") return told.until;
  return BigInt(nanosOf(told.until, "until"));
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
