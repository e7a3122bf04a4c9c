import { alive, hold } from "./holding.js";
import { type Handle, native } from "./native.js";
import type { Span } from "./options.js";
import { nanosOf } from "./time.js";

const NANOS_PER_MS = 1e6;

interface Timer {
  readonly due: bigint;
  readonly run: () => void;
}

/**
 * A clock that stands still until told otherwise: `new CircuitBreaker({ clock })`. Decisions go by it, and so
 * do the timeouts of `run`. The randomness of operations is 0, which means none, until it is set.
 */
export class ManualClock {
  readonly #handle: Handle;
  #timers: Timer[] = [];

  /** @param start the first instant: milliseconds, or (bigint) nanoseconds */
  constructor(start: number | bigint = 0n) {
    this.#handle = alive(native.clockNew(instant(start)), "clock");
    hold(this, this.#handle);
  }

  /** Now, in milliseconds. */
  get now(): number {
    return Number(this.nanos) / NANOS_PER_MS;
  }

  /** Now, in nanoseconds. */
  get nanos(): bigint {
    return alive(native.clockNow(this.#handle), "clock");
  }

  /** Moves on, and lets every timeout run that falls due, each at its own instant. */
  advance(span: Span): void {
    const end = this.nanos + BigInt(nanosOf(span, "span"));
    for (;;) {
      const next = this.#timers.reduce<Timer | undefined>(
        (first, timer) => (timer.due <= end && (first === undefined || timer.due < first.due) ? timer : first),
        undefined,
      );
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      if (next.due > this.nanos) this.set(next.due);
      next.run();
    }
    this.set(end);
  }

  /** Shows this instant, backwards too; no timeout runs. */
  set(to: number | bigint): void {
    native.clockSet(this.#handle, instant(to));
  }

  /** What operations get as randomness from now on; 0 for none. */
  set random(random: bigint) {
    native.clockRandom(this.#handle, BigInt.asUintN(64, random));
  }

  /** How many timeouts wait. */
  get timers(): number {
    return this.#timers.length;
  }

  /** @internal */
  timer(milliseconds: number, run: () => void): { cancel(): void } {
    const timer = { due: this.nanos + BigInt(milliseconds) * BigInt(NANOS_PER_MS), run };
    this.#timers.push(timer);
    return {
      cancel: () => {
        this.#timers = this.#timers.filter((other) => other !== timer);
      },
    };
  }

  /** @internal */
  static handle(clock: ManualClock): Handle {
    return clock.#handle;
  }
}

/** The handle of the clock that is given; 0, the system's, when none is. */
export function clockHandle(clock: ManualClock | undefined): Handle {
  if (clock === undefined) return 0;
  if (clock instanceof ManualClock) return ManualClock.handle(clock);
  throw new TypeError("clock: a ManualClock of seawall/testing");
}

function instant(at: number | bigint): bigint {
  return BigInt.asUintN(64, typeof at === "bigint" ? at : BigInt(nanosOf(at, "instant")));
}
