import { ConfigError } from "./errors.js";
import { native } from "./native.js";
import type { Span } from "./options.js";

const NANOS_PER_MS = 1e6;
const NOT_NEGATIVE = "0 ns and more";
const LAST_INSTANT = 2n ** 64n - 1n;

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

function refused(said: string, value: unknown, field: string, allowed: string): ConfigError {
  return new ConfigError(`${field}: ${said} is not allowed; allowed are ${allowed}`, field, value, allowed);
}

/** A span in nanoseconds, rounded up. */
export function nanosOf(value: Span, field: string, allowed = NOT_NEGATIVE): number {
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
  throw refused(said, value, field, allowed);
}

/** @internal An instant in nanoseconds, of milliseconds or (bigint) nanoseconds; beyond the last one, the last. */
export function instantOf(value: number | bigint, field: string): bigint {
  if (typeof value === "bigint" && value >= 0n) return value < LAST_INSTANT ? value : LAST_INSTANT;
  if (typeof value !== "number") {
    throw refused(typeof value === "bigint" ? "a negative number" : wrong(value), value, field, NOT_NEGATIVE);
  }
  const nanos = nanosOf(value, field);
  return nanos < Number(LAST_INSTANT) ? BigInt(nanos) : LAST_INSTANT;
}

/** The longest that timers of JavaScript can wait: 2^31 - 1 ms, 24.8 days. */
export const LONGEST_TIMER = 2_147_483_647;

/** A timeout in whole milliseconds, at least 1. */
export function timeoutOf(value: Span): number {
  const allowed = "1 ms to 24.8 d";
  const milliseconds = Math.ceil(nanosOf(value, "timeout", allowed) / NANOS_PER_MS);
  if (milliseconds >= 1 && milliseconds <= LONGEST_TIMER) return milliseconds;
  const said = typeof value === "string" ? value : `${value} ms`;
  throw refused(said, value, "timeout", allowed);
}

/** @throws ConfigError the deadline is further off than timers reach, as one of `Date.now()` always is */
export function checkDeadline(deadline: number, present: number): void {
  // The difference is rounded up to whole milliseconds where it becomes a timer.
  if (!(deadline - present > LONGEST_TIMER)) return;
  const allowed = "instants up to 24.8 d from now() (milliseconds of the monotonic clock, not of Date.now())";
  throw refused(`${deadline} ms`, deadline, "deadline", allowed);
}
