import { ConfigError, DeadlineExceeded, WontFinish } from "./errors.js";
import { native } from "./native.js";
import type { Span } from "./options.js";
import { clockHandle, type ManualClock } from "./testing.js";
import { instantOf, nanosOf } from "./time.js";

const NANOS_PER_MS = 1e6;

/**
 * The instant by which a whole request must be done: what is handed from call to call, so that each gets what
 * remains and none works on for a caller who has given up. A value; nothing in it changes.
 *
 * @example
 * const deadline = Deadline.after("300ms");
 * await payments.run(pay, { deadline: deadline.at });
 */
export class Deadline {
  /** When, in milliseconds of the clock. */
  readonly at: number;
  readonly #nanos: bigint;
  readonly #clock: ManualClock | undefined;

  private constructor(nanos: bigint, clock: ManualClock | undefined) {
    this.#nanos = nanos;
    this.#clock = clock;
    this.at = Number(nanos) / NANOS_PER_MS;
  }

  /** So long from now. */
  static after(span: Span, clock?: ManualClock): Deadline {
    return new Deadline(native.deadlineAfter(nanosOf(span, "span"), clockHandle(clock)), clock);
  }

  /** At an instant: milliseconds of the monotonic clock that `now()` reads, or (bigint) nanoseconds. */
  static at(instant: number | bigint, clock?: ManualClock): Deadline {
    return new Deadline(instantOf(instant, "instant"), clock);
  }

  /** How much time remains, in milliseconds; 0 when it is over. */
  get remaining(): number {
    return Math.max(0, native.deadlineCheck(this.#nanos, 0, clockHandle(this.#clock)) / NANOS_PER_MS);
  }

  /**
   * What remains, in milliseconds, if work that takes about `expected` may begin: ask before starting it, not after.
   *
   * @throws DeadlineExceeded it is over
   * @throws WontFinish less remains than is expected
   */
  check(expected: Span = 0): number {
    const left = native.deadlineCheck(this.#nanos, nanosOf(expected, "expected"), clockHandle(this.#clock));
    if (left >= 0) return left / NANOS_PER_MS;
    throw left === -1 ? new DeadlineExceeded() : new WontFinish("less time remains than is expected");
  }

  /** So much earlier, for what the way back takes. */
  shrunkBy(margin: Span): Deadline {
    return new Deadline(native.deadlineShrunk(this.#nanos, nanosOf(margin, "margin")), this.#clock);
  }

  /** The earlier of the two; both must be of one clock. */
  earlier(other: Deadline): Deadline {
    if (other.#clock !== this.#clock) {
      throw new ConfigError("deadline: that of another clock is not allowed", "deadline", other, "one of the same clock");
    }
    return other.#nanos < this.#nanos ? other : this;
  }
}
