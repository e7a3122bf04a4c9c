import type { ManualClock } from "./testing.js";
import type { Span } from "./options.js";

/** What the function that is run gets to know. */
export class Attempt {
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  /** When the attempt must have ended, in milliseconds of the clock that `now` reads. */
  readonly deadline: number | undefined;
  #controller: AbortController | undefined = undefined;

  constructor(deadline: number | undefined, attempt = 1) {
    this.attempt = attempt;
    this.deadline = deadline;
  }

  /** A fresh signal of this attempt alone, made when first asked for. Its reason is why the attempt ended. */
  get signal(): AbortSignal {
    return (this.#controller ??= new AbortController()).signal;
  }

  /** @internal Ends the attempt; a signal that was never asked for is not made. */
  static abort(attempt: Attempt, reason: unknown): void {
    // A signal that is asked for only afterwards is aborted from the start.
    (attempt.#controller ??= new AbortController()).abort(reason);
  }
}

export interface RunOptions {
  /** The caller's signal. When it is aborted, the run ends at once with its reason and counts for nothing. */
  signal?: AbortSignal;
  /** How long the attempt may take. One that is cut by it counts as a failure. Not set: as long as it takes. */
  timeout?: Span;
  /**
   * The caller's own deadline: an instant in milliseconds of the monotonic clock that `now()` reads, that of
   * `process.hrtime` (`now() + 500`; of the `ManualClock`, where the breaker has one). Neither `Date.now()` nor
   * `performance.now()`, which count from elsewhere. At most 24.8 days off, or the run is rejected with
   * `ConfigError`. An attempt cut by it before its timeout is over counts for nothing.
   */
  deadline?: number;
}

/** @internal What a run needs of its breaker. */
export interface Settler {
  readonly clock: ManualClock | undefined;
  succeeded(value: unknown): void;
  failed(error: unknown): void;
  timedOut(): void;
  neutral(): void;
}

/** @internal Waits until an attempt is over, or cut. At most one of the ways to end it is taken. */
export class Cut {
  #timer: { cancel(): void } | undefined;
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;
  over = false;

  after(milliseconds: number, clock: ManualClock | undefined, cut: () => void): void {
    if (clock !== undefined) {
      this.#timer = clock.timer(milliseconds, cut);
      return;
    }
    const timer = setTimeout(cut, milliseconds);
    // Nobody's process lives on for the sake of a timeout.
    timer.unref();
    this.#timer = { cancel: () => clearTimeout(timer) };
  }

  when(signal: AbortSignal, cut: () => void): void {
    this.#signal = signal;
    this.#onAbort = cut;
    signal.addEventListener("abort", cut, { once: true });
  }

  /** True for the first who ends it; timer and listener are gone then. */
  end(): boolean {
    if (this.over) return false;
    this.over = true;
    this.#timer?.cancel();
    if (this.#onAbort !== undefined) this.#signal?.removeEventListener("abort", this.#onAbort);
    return true;
  }
}
