/** Header text to values and back; the engine reads it, as it does in every language. */

import { native } from "./native.js";
import type { Span } from "./options.js";
import { nanosOf } from "./time.js";

const NANOS_PER_MS = 1e6;

/**
 * How long the header `Retry-After` says to wait, in milliseconds: whole seconds, or one of the three forms of
 * an HTTP date (one that is over is 0). `undefined` for anything else, which is as if the header were not there.
 *
 * @param now what time it is by the wall clock, in milliseconds; as `Date.now()` where it is not given
 */
export function parseRetryAfter(text: string | null | undefined, now = Date.now()): number | undefined {
  if (typeof text !== "string") return undefined;
  const nanos = native.parseRetryAfter(text, Math.floor(now / 1_000));
  return nanos === undefined ? undefined : nanos / NANOS_PER_MS;
}

/**
 * The header `Retry-After` for a wait: whole seconds, rounded up, at least 1.
 *
 * @param now the wall clock in milliseconds: then it is written as an HTTP date
 */
export function formatRetryAfter(wait: Span, now?: number): string {
  return native.formatRetryAfter(nanosOf(wait, "wait"), now === undefined ? undefined : Math.floor(now / 1_000));
}
