import { ConfigError } from "./errors.js";
import { native } from "./native.js";
import type { Span } from "./options.js";

const NANOS_PER_MS = 1e6;

/**
 * Now, in milliseconds of the operating system's monotonic clock: the clock of all instants here (`at`,
 * `until`, `deadline`), the same in every thread and every process of a host. Not `performance.now()`,
 * which begins anew in every worker.
 */
export function now(): number {
  return native.now();
}

function wrong(value: unknown): string {
  if (typeof value !== "number") return "a value of this type";
  if (Number.isNaN(value)) return "nan";
  return value < 0 ? "a negative number" : "an infinite number";
}

/** A span in nanoseconds, rounded up. */
export function nanosOf(value: Span, field: string, allowed = "0 ns and more"): number {
  let said: string;
  if (typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY) {
    return Math.ceil(value * NANOS_PER_MS);
  } else if (typeof value === "string") {
    const nanos = native.span(value);
    if (typeof nanos === "number") return nanos;
    said = nanos;
  } else {
    said = wrong(value);
  }
  throw new ConfigError(`${field}: ${said} is not allowed; allowed are ${allowed}`, field, value, allowed);
}

/** The longest that timers of JavaScript can wait: 2^31 - 1 ms, 24.8 days. */
export const LONGEST_TIMER = 2_147_483_647;

/** A timeout in whole milliseconds, at least 1. */
export function timeoutOf(value: Span): number {
  const allowed = "1 ms to 24.8 d";
  const milliseconds = Math.ceil(nanosOf(value, "timeout", allowed) / NANOS_PER_MS);
  if (milliseconds >= 1 && milliseconds <= LONGEST_TIMER) return milliseconds;
  const said = typeof value === "string" ? value : `${value} ms`;
  throw new ConfigError(`timeout: ${said} is not allowed; allowed are ${allowed}`, "timeout", value, allowed);
}
