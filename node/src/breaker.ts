import { Attempt, type RunOptions, type Settler } from "./attempt.js";
import { limitsOf, runControlled } from "./controlled.js";
import { CircuitOpen, ConfigError } from "./errors.js";
import { aside, Listeners, type RefusedEvent, refusals, transitions } from "./events.js";
import { nameOf, optionList, thrown } from "./fields.js";
import { alive, hold, letGo } from "./holding.js";
import { heard, type Judgement, judgementFailed, judgementOf, refusedByUs, type RetryAt, untilOf } from "./judgement.js";
import { type Handle, native } from "./native.js";
import type { Settlement, Snapshot, State, Transition } from "./observed.js";
import type { CircuitBreakerOptions, Mode, Span } from "./options.js";
import { Permit } from "./permit.js";
import { breakerReason, breakerRefusal, CODES_BITS, OPENED, type Reason, type Refusal } from "./refusal.js";
import { type ManualClock, clockHandle } from "./testing.js";
import { nanosOf } from "./time.js";
import { CLEAN_MASK, CLEAN_VALUE, placeOf, UNSEEN } from "./words.js";

export interface BreakerAttachOptions extends Judgement {
  /** What events and errors call it. */
  name?: string;
  /** Off: every decision goes through native code. Default on. */
  cleanCheck?: boolean;
}

export interface BreakerOptions extends CircuitBreakerOptions, BreakerAttachOptions {
  /** One breaker for all threads that state this name and the same options. */
  shared?: string;
  /** A clock that stands still until told otherwise, for tests. */
  clock?: ManualClock;
}

const OWN = new Set(["name", "shared", "clock", "cleanCheck", "ignore", "isFailure", "retryAfterOf"]);

const MASK = CLEAN_MASK;
const VALUE = CLEAN_VALUE;

/** Above a token's 32 bits: slowness counts; asking changed the state. */
const TIMED = 2 ** 32;
const CHANGED = 2 ** 33;
/** In a settlement: it changed the state. */
const SETTLED_CHANGED = 4;
const SETTLEMENTS: readonly Settlement[] = ["stale", "counted", "neutral", "stale"];
const { breakerAdmit, breakerOk } = native;
const { states: STATES, modes: MODES } = native.constants() as unknown as { states: State[]; modes: Mode[] };
const BYPASS = 3;
const KIND = 2 ** 30;

/** What `attach` gives to the constructor in place of options. */
class Attached {
  constructor(
    readonly handle: Handle,
    readonly options: BreakerOptions,
  ) {}
}

/**
 * A circuit breaker: stops calling what is down, and finds out when it is up again.
 *
 * Consecutive mode by default (5 failures in a row open it); rate mode when one of `failureRate`, `window`,
 * `minimumCalls` and `slowRate` is given. There is no timer: a breaker that is due reads half-open, and the
 * next call is the trial.
 *
 * @example
 * const payments = new CircuitBreaker({ name: "payments", failureRate: 0.5, resetAfter: "10s" });
 * const receipt = await payments.run(({ signal }) => fetch(url, { signal }), { timeout: 800 });
 */
export class CircuitBreaker {
  /** What events and errors call it. */
  readonly name: string | undefined;
  readonly #clock: ManualClock | undefined;
  readonly #judgement: Judgement;
  readonly #transitions = new Listeners<Transition>();
  readonly #refusals = new Listeners<RefusedEvent>();
  readonly #counts = new Array<number>(CODES_BITS).fill(0);
  #bypasses = 0;
  #handle: Handle;
  #words: Int32Array;
  #index: number;
  // The two handlers of a clean run, made anew when the clean half changes: once per open period.
  #bound = 0;
  #onValue: (value: never) => unknown = same;
  #onError: (error: unknown) => never = rethrow;

  /**
   * @throws ConfigError an option is impossible: field, value and what is allowed
   */
  constructor(options: BreakerOptions = {}) {
    const attached = (options as unknown) instanceof Attached ? (options as unknown as Attached) : undefined;
    const mine = attached?.options ?? options;
    if (attached === undefined) {
      const list = optionList("CircuitBreaker", options, OWN);
      const shared = nameOf(options.shared, "shared");
      const made = native.breakerNew(list, clockHandle(options.clock), shared);
      this.#handle = typeof made === "number" ? made : thrown(made, options);
    } else {
      this.#handle = attached.handle;
    }
    hold(this, this.#handle);
    this.name = nameOf(mine.name, "name") ?? mine.shared;
    this.#clock = mine.clock;
    this.#judgement = judgementOf(mine);
    ({ words: this.#words, index: this.#index } = placeOf(this.#handle, mine.cleanCheck !== false));
  }

  /**
   * The breaker that another thread shares under this name; what it has learnt is untouched. Listeners,
   * counts and judgement are this thread's own.
   *
   * @throws Error there is none
   */
  static attach(shared: string, options: BreakerAttachOptions = {}): CircuitBreaker {
    const handle = native.breakerAttach(shared);
    if (handle === undefined) throw new Error(`there is no shared circuit breaker called ${shared}`);
    return new CircuitBreaker(new Attached(handle, { ...options, shared }) as unknown as BreakerOptions);
  }

  // --- tokens: no object, no throw ---

  /**
   * Asks to make a call. A token (0 or more) is a yes, to be settled with `ok`, `fail` or `ignore`, once; a
   * number below 0 is a no, which `refusal` explains; settling one counts for nothing (`"stale"`). About 1 ns
   * while healthy.
   */
  tryAdmit(): number {
    const half = this.#words[this.#index]!;
    return (half & MASK) === VALUE ? half : this.#admit();
  }

  /**
   * The call worked. Nothing is written while the breaker is healthy.
   *
   * @param took how long it took, or (bigint) the instant it was admitted at in nanoseconds; matters where
   *   `slowAfter` is set, since a number does not know when it was given out. Permits and `run` do.
   */
  ok(token: number, took?: Span | bigint): Settlement {
    if (took !== undefined) return this.#settle(token, 0, took, undefined);
    if (token === this.#words[this.#index] && (token & MASK) === VALUE) return "counted";
    return this.#settled(breakerOk(this.#handle, token));
  }

  /**
   * The dependency failed; `told` is what it said about when it will be back. What is no instant and no span
   * (negative, NaN, text like `soon`) makes it a plain failure.
   */
  fail(token: number, told?: RetryAt, took?: Span | bigint): Settlement {
    if (told === undefined && took === undefined) return this.#settled(native.breakerFail(this.#handle, token));
    return this.#settle(token, 1, took, told === undefined ? undefined : heard(told));
  }

  /** No verdict: cancelled, the caller's own mistake, refused by another layer. */
  ignore(token: number): Settlement {
    return this.#settled(native.breakerIgnore(this.#handle, token));
  }

  /** What a number below 0 from `tryAdmit` means; to be asked right after it. */
  refusal(code: number): Refusal {
    if (!(code < 0)) throw new RangeError("only a number below 0 from tryAdmit is a refusal");
    return breakerRefusal(code, this.name);
  }

  // --- permits ---

  /** A permit, or why there is none; nothing is thrown. */
  decide(): Permit | Refusal {
    const token = this.tryAdmit();
    return token >= 0 ? this.#permit(token) : breakerRefusal(token, this.name);
  }

  /**
   * A permit.
   *
   * @throws CircuitOpen why there is none, and when to ask again
   */
  admit(): Permit {
    const token = this.tryAdmit();
    if (token < 0) throw new CircuitOpen(breakerRefusal(token, this.name));
    return this.#permit(token);
  }

  // --- running ---

  /**
   * Runs `fn` when the breaker lets it, and settles by what becomes of it. The promise is rejected with
   * `CircuitOpen` when it does not. A thrown error or a rejection is a failure unless `ignore` says
   * otherwise; the caller's abort is neutral; a `timeout` is a failure.
   */
  run<T>(fn: (attempt: Attempt) => T | PromiseLike<T>, options?: RunOptions): Promise<T> {
    const half = this.#words[this.#index]!;
    if (options !== undefined || (half & MASK) !== VALUE) return this.#run(fn, options, reject);
    if (half !== this.#bound) this.#bind(half);
    return watched(fn, this.#onValue as (value: T) => T, this.#onError);
  }

  /** As `run`, with a refusal as a value. */
  tryRun<T>(fn: (attempt: Attempt) => T | PromiseLike<T>, options?: RunOptions): Promise<T | Refusal> {
    return this.#run<T, Refusal>(fn, options, (refusal) => Promise.resolve(refusal));
  }

  // --- by hand ---

  /**
   * Opens it: for the configured period, or until what is told, at most `maxRetryAfter`.
   *
   * @throws ConfigError what is told is no instant and no span; nothing has changed then
   */
  trip(told?: RetryAt): void {
    this.#byHand(native.breakerTrip(this.#handle, told === undefined ? undefined : untilOf(told)));
  }

  /** Half-opens it: the next calls are trials. */
  halfOpen(): void {
    this.#byHand(native.breakerHalfOpen(this.#handle));
  }

  /** Closes it and forgets everything learnt; what is in flight becomes stale. */
  reset(): void {
    this.#byHand(native.breakerReset(this.#handle));
  }

  /**
   * Changes the whole configuration while it runs: what is not stated goes back to its default, except that
   * the mode stays. What was learnt is kept as far as it fits.
   *
   * @throws ConfigError as the constructor; nothing has changed then
   */
  configure(options: CircuitBreakerOptions): void {
    const list = optionList("CircuitBreaker", options, new Set());
    const done = alive(native.breakerConfigure(this.#handle, list), "circuit breaker");
    if (done !== true) thrown(done, options);
  }

  /** The chosen mode. Setting it keeps what was learnt. */
  get mode(): Mode {
    return MODES[alive(native.breakerMode(this.#handle), "circuit breaker")]!;
  }

  set mode(mode: Mode) {
    const number = MODES.indexOf(mode);
    if (number < 0) {
      const allowed = MODES.join(", ");
      throw new ConfigError(
        `circuit_breaker.mode: an unknown name is not allowed; allowed are ${allowed}`,
        "mode",
        mode,
        allowed,
      );
    }
    const before = alive(native.breakerSetMode(this.#handle, number), "circuit breaker");
    if (typeof before !== "number") thrown(before, { mode });
  }

  // --- looking ---

  /** The measured state. One whose open period is over reads half-open; no timer is needed for that. */
  get state(): State {
    return STATES[alive(native.breakerState(this.#handle), "circuit breaker")]!;
  }

  /** All figures at once. */
  snapshot(): Snapshot {
    return alive(native.breakerSnapshot(this.#handle), "circuit breaker") as Snapshot;
  }

  /** State and figures as a sentence: `open: 11 of the last 20 calls failed; next trial in 17.7 s`. */
  explain(): string {
    return alive(native.breakerExplain(this.#handle), "circuit breaker");
  }

  /** How many calls this object refused, by reason, since it was made. Other threads count their own. */
  get refused(): Partial<Record<Reason, number>> {
    const sums: Partial<Record<Reason, number>> = {};
    this.#counts.forEach((count, code) => {
      if (count > 0) {
        const reason = breakerReason(-code);
        sums[reason] = (sums[reason] ?? 0) + count;
      }
    });
    return sums;
  }

  /** How many calls of this object shadow mode let through that would have been refused. */
  get bypassed(): number {
    return this.#bypasses;
  }

  /** Calls `listener` after every operation of this thread that changed the state; returns how to stop that. */
  onTransition(listener: (transition: Transition) => void): () => void {
    return this.#transitions.add(listener);
  }

  /** Calls `listener` after every refusal by this object; returns how to stop that. */
  onRefused(listener: (event: RefusedEvent) => void): () => void {
    return this.#refusals.add(listener);
  }

  /**
   * Lets go of it. A shared breaker lives on while others hold it. Afterwards everything but a settlement
   * throws `Closed`; a settlement is answered `"stale"`. An object that is dropped is closed when it is
   * collected.
   */
  close(): void {
    letGo(this, this.#handle);
    this.#handle = 0;
    this.#bound = 0;
    ({ words: this.#words, index: this.#index } = UNSEEN);
  }

  // --- for policies ---

  /** @internal Its handle and its clock. */
  static parts(breaker: CircuitBreaker): { handle: Handle; clock: ManualClock | undefined } {
    return { handle: alive(breaker.#handle || undefined, "circuit breaker"), clock: breaker.#clock };
  }

  /** @internal The token of a clean breaker; below 0, native code decides. */
  static clean(breaker: CircuitBreaker): number {
    const half = breaker.#words[breaker.#index]!;
    return (half & MASK) === VALUE ? half : -1;
  }

  /** @internal A call under a policy has changed its state. */
  static changed(breaker: CircuitBreaker): void {
    breaker.#changed();
  }

  // --- what happens out of the common way ---

  #admit(): number {
    const answer = alive(breakerAdmit(this.#handle), "circuit breaker");
    if (answer < 0) {
      this.#refuse(answer);
      return answer;
    }
    if (Math.floor(answer / KIND) % 4 === BYPASS) this.#bypasses++;
    if (answer < CHANGED) return answer;
    this.#changed();
    return answer - CHANGED;
  }

  #refuse(answer: number): void {
    const code = -answer % CODES_BITS;
    this.#counts[code]!++;
    if (code === OPENED) this.#changed();
    if (!this.#refusals.any && !refusals.hasSubscribers) return;
    const event = { policy: this.name, reason: breakerReason(answer) };
    aside(() => {
      this.#refusals.emit(event);
      if (refusals.hasSubscribers) refusals.publish(event);
    });
  }

  #permit(token: number): Permit {
    const granted = token >= TIMED ? native.breakerNow(this.#handle) : undefined;
    let bypassed: Refusal | undefined;
    if (Math.floor(token / KIND) % 4 === BYPASS) {
      const code = native.takeBypassed();
      if (code !== undefined) bypassed = breakerRefusal(code, this.name);
    }
    return new Permit(this, token, granted, bypassed);
  }

  #settle(token: number, outcome: 0 | 1, took: Span | bigint | undefined, until: bigint | number | undefined) {
    const granted = took === undefined || typeof took === "bigint" ? took : nanosOf(took, "took");
    return this.#settled(native.breakerSettle(this.#handle, token, outcome, granted, until));
  }

  #settled(answer: number | undefined): Settlement {
    if (answer === undefined) return "stale";
    if (answer >= SETTLED_CHANGED) this.#changed();
    return SETTLEMENTS[answer % SETTLED_CHANGED]!;
  }

  #byHand(changed: number | undefined): void {
    if (alive(changed, "circuit breaker") !== 0) this.#changed();
  }

  /** An operation has changed the state; whoever listens gets to know. */
  #changed(): void {
    const listened = this.#transitions.any;
    if (!listened && !transitions.hasSubscribers) return;
    const made = native.takeTransition();
    if (made === undefined) return;
    const transition = Object.assign(made, { policy: this.name }) as Transition;
    aside(() => {
      if (listened) this.#transitions.emit(transition);
      if (transitions.hasSubscribers) transitions.publish(transition);
    });
  }

  #bind(half: number): void {
    this.#bound = half;
    const { isFailure } = this.#judgement;
    this.#onValue = (value: never) => {
      if (isFailure !== undefined || this.#words[this.#index] !== half) this.#succeeded(half, undefined, value);
      return value;
    };
    this.#onError = (error: unknown) => {
      this.#failed(half, undefined, error);
      throw error;
    };
  }

  #run<T, R>(
    fn: (attempt: Attempt) => T | PromiseLike<T>,
    options: RunOptions | undefined,
    refused: (refusal: Refusal) => Promise<R>,
  ): Promise<T | R> {
    let token: number;
    let limits;
    try {
      if (options !== undefined) limits = limitsOf(options, { clock: this.#clock });
      token = this.tryAdmit();
    } catch (error) {
      return Promise.reject(error);
    }
    if (token < 0) return refused(breakerRefusal(token, this.name));
    const granted = token >= TIMED ? native.breakerNow(this.#handle) : undefined;
    if (limits === undefined) {
      const onValue = (value: T): T => {
        this.#succeeded(token, granted, value);
        return value;
      };
      const onError = (error: unknown): never => {
        this.#failed(token, granted, error);
        throw error;
      };
      return watched(fn, onValue, onError);
    }
    const settler: Settler = {
      clock: this.#clock,
      succeeded: (value) => this.#succeeded(token, granted, value),
      failed: (error) => this.#failed(token, granted, error),
      timedOut: () => this.fail(token, undefined, granted),
      neutral: () => this.ignore(token),
    };
    return runControlled(fn, limits, settler);
  }

  #succeeded(token: number, granted: bigint | undefined, value: unknown): void {
    const { isFailure } = this.#judgement;
    if (isFailure !== undefined && this.#judged("isFailure", () => isFailure(value))) {
      this.#failure(token, granted, value);
    } else {
      this.ok(token, granted);
    }
  }

  #failed(token: number, granted: bigint | undefined, error: unknown): void {
    const { ignore } = this.#judgement;
    // A refusal of our own is no evidence against the dependency.
    if (refusedByUs(error) || (ignore !== undefined && this.#judged("ignore", () => ignore(error)))) {
      this.ignore(token);
    } else {
      this.#failure(token, granted, error);
    }
  }

  #failure(token: number, granted: bigint | undefined, failure: unknown): void {
    const { retryAfterOf } = this.#judgement;
    const retryAfter = retryAfterOf && this.#judged("retryAfterOf", () => retryAfterOf(failure));
    this.#settle(token, 1, granted, retryAfter === undefined ? undefined : heard({ retryAfter }));
  }

  /** What a function of the user's says. One that throws counts as if it were not there, and a warning says so. */
  #judged<T>(name: keyof Judgement, judge: () => T): T | undefined {
    try {
      return judge();
    } catch (error) {
      judgementFailed(this.name, name, error);
      return undefined;
    }
  }
}

/** Runs `fn` with one of the two called when it has ended: one promise and two handlers, no frame of its own. */
function watched<T>(
  fn: (attempt: Attempt) => T | PromiseLike<T>,
  onValue: (value: T) => T,
  onError: (error: unknown) => never,
): Promise<T> {
  let promise: Promise<T>;
  try {
    const result = fn(new Attempt(undefined));
    promise = result instanceof Promise ? (result as Promise<T>) : Promise.resolve(result);
  } catch (error) {
    promise = Promise.reject(error);
  }
  return promise.then(onValue, onError);
}

function same(value: never): unknown {
  return value;
}

function rethrow(error: unknown): never {
  throw error;
}

function reject(refusal: Refusal): Promise<never> {
  return Promise.reject(new CircuitOpen(refusal));
}
