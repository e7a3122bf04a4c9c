/** Pauses before retries, and the other places where many clients do the same at once. */

import { ConfigError } from "./errors.js";
import { optionList, thrown } from "./fields.js";
import { native } from "./native.js";
import type { BackoffOptions, Span } from "./options.js";
import { type ManualClock, clockHandle } from "./testing.js";
import { nanosOf, now } from "./time.js";

const NANOS_PER_MS = 1e6;
const NONE = new Set<string>();

/**
 * How long to wait before trying again. It has no state and no timer; all spans that it answers are
 * milliseconds, with fractions.
 *
 * @example
 * const backoff = new Backoff({ base: "100ms", cap: "2s" });
 * await setTimeout(backoff.delay(0));
 */
export class Backoff {
  readonly #words: bigint[];

  /**
   * @throws ConfigError an option is impossible: field, value and what is allowed
   */
  constructor(options: BackoffOptions = {}) {
    const made = native.backoffNew(optionList("Backoff", options, NONE));
    this.#words = Array.isArray(made) ? made : thrown(made, options);
  }

  /** The longest wait before retry `retry`, counted from 0. */
  ceiling(retry: number): number {
    return native.backoffCeiling(this.#words, counted(retry)) / NANOS_PER_MS;
  }

  /**
   * The wait before retry `retry`, counted from 0.
   *
   * @param previous the wait before that one; only decorrelated jitter looks at it
   * @param random 64 bits of randomness, 0 for none: then it is the longest; the system's where it is not given
   */
  delay(retry: number, previous: Span = 0, random?: bigint): number {
    const before = nanosOf(previous, "previous");
    return native.backoffDelay(this.#words, counted(retry), before, random, 0) / NANOS_PER_MS;
  }

  /** @internal */
  static words(backoff: Backoff): bigint[] {
    return backoff.#words;
  }
}

/** A number of retries: whole, and at most 2^32 - 1. */
function counted(retry: number): number {
  if (Number.isInteger(retry) && retry >= 0) return Math.min(retry, 2 ** 32 - 1);
  const allowed = "whole numbers from 0";
  throw new ConfigError(`retry: ${String(retry)} is not allowed; allowed are ${allowed}`, "retry", retry, allowed);
}

export interface ReconnectOptions {
  /** The pauses; the usual ones where it is not given. */
  backoff?: Backoff | BackoffOptions;
  /** A connection that held so long is forgiven all before it. */
  stableAfter: Span;
  /** A clock that stands still until told otherwise, for tests. */
  clock?: ManualClock;
}

/**
 * A connection that is made again whenever it is lost: a backoff that starts over once a connection has been
 * stable. A server that accepts and drops at once keeps the waits growing.
 */
export class Reconnect {
  readonly #clock: ManualClock | undefined;
  #words: bigint[];

  constructor(options: ReconnectOptions) {
    const { backoff, stableAfter, clock } = options;
    const pauses = backoff instanceof Backoff ? backoff : new Backoff(backoff);
    this.#clock = clock;
    clockHandle(clock);
    this.#words = native.reconnectNew(Backoff.words(pauses), nanosOf(stableAfter, "stableAfter"));
  }

  /** It was made. */
  connected(): void {
    this.#words = native.reconnectConnected(this.#words, clockHandle(this.#clock));
  }

  /** It was lost, or could not be made: how many milliseconds to wait before the next try. */
  lost(random?: bigint): number {
    const { words, wait } = native.reconnectLost(this.#words, random, clockHandle(this.#clock));
    this.#words = words;
    return wait / NANOS_PER_MS;
  }
}

/**
 * How many milliseconds a cached value may live: `span` less up to the share `spread` (0 to 1) of it, so that
 * what was cached together does not expire together. Never longer than `span`.
 */
export function ttl(span: Span, spread: number, random?: bigint): number {
  return native.ttl(nanosOf(span, "span"), share(spread), random, 0) / NANOS_PER_MS;
}

/**
 * Work that recurs every `period`, at a phase within the first `spread` (0 to 1) of it that is this client's
 * own: drawn from `seed`, which is something lasting, such as a hash of the host's name.
 */
export function schedule(period: Span, spread: number, seed: bigint): Schedule {
  return new Schedule(nanosOf(period, "period"), share(spread), BigInt.asUintN(64, seed));
}

export class Schedule {
  /** How many milliseconds after the beginning of a period its work is due. */
  readonly phase: number;
  readonly #period: number;
  readonly #phase: number;

  /** @internal */
  constructor(period: number, spread: number, seed: bigint) {
    this.#period = period;
    this.#phase = native.schedulePhase(period, spread, seed);
    this.phase = this.#phase / NANOS_PER_MS;
  }

  /** When it is due next after `at`, an instant in milliseconds of the clock that `now` reads. */
  next(at = now()): number {
    return native.scheduleNext(this.#period, this.#phase, BigInt(nanosOf(at, "at"))) / NANOS_PER_MS;
  }
}

function share(spread: number): number {
  if (typeof spread === "number" && spread >= 0 && spread <= 1) return spread;
  throw new ConfigError(`spread: ${String(spread)} is not allowed; allowed are 0 to 1`, "spread", spread, "0 to 1");
}
