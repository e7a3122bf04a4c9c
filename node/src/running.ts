/** A call that needs its state: it sends, waits, cuts off and settles as the engine's steps say. */

import { AsyncResource } from "node:async_hooks";

import { Attempt } from "./attempt.js";
import { CircuitBreaker } from "./breaker.js";
import { type Class, type Classification, classOf, ofError, toldBy } from "./classify.js";
import { type End, type Ending, tellEnding } from "./ending.js";
import { BudgetEmpty, CircuitOpen, Closed, DeadlineExceeded, RateLimited, TimedOut, WontFinish } from "./errors.js";
import { judgementFailed } from "./judgement.js";
import { native, type NativeEnding, type NativeStep } from "./native.js";
import { type Reason, refusalOf, wholeMilliseconds } from "./refusal.js";
import type { ManualClock } from "./testing.js";
import { LONGEST_TIMER } from "./time.js";

/** What the calls of a policy share. */
export interface Wired {
  /** Kept alive while a call is under way. */
  readonly owner: object;
  readonly number: number;
  readonly clock: ManualClock | undefined;
  readonly name: string | undefined;
  readonly breaker: CircuitBreaker | undefined;
  readonly breakerName: string | undefined;
  readonly limitName: string | undefined;
  readonly budgetName: string | undefined;
  readonly classify: ((error: any) => Classification) | undefined;
  readonly classifyResult: ((value: any) => Classification) | undefined;
  /** The timeouts in milliseconds. */
  readonly attempt: number | undefined;
  readonly total: number | undefined;
  readonly ref: boolean;
  readonly ended: Map<End, number>;
}

type Came<T> = { readonly value: T } | { readonly error: unknown };
type Run = Extract<NativeStep, { step: "run" }>;

/** Calls whose promise nobody can reach any more give their places back. */
const dropped = new FinalizationRegistry<number>((call) => native.callClose(call));

export class Running<T> {
  readonly #wired: Wired;
  readonly #fn: (attempt: Attempt) => T | PromiseLike<T>;
  readonly #signal: AbortSignal | undefined;
  #call = 0;
  #resolve!: (value: T) => void;
  #reject!: (error: unknown) => void;
  /** The attempt that is out. */
  #out: Attempt | undefined;
  /** How the last attempt ended; nothing when it was cut off. */
  #came: Came<T> | undefined;
  /** The last error that came, to be the cause of a refusal that ends the call. */
  #cause: unknown;
  #timer: { cancel(): void } | undefined;
  #pumping = false;
  #over = false;

  constructor(wired: Wired, fn: (attempt: Attempt) => T | PromiseLike<T>, signal: AbortSignal | undefined) {
    this.#wired = wired;
    this.#fn = fn;
    this.#signal = signal;
  }

  start(deadline: bigint | undefined): Promise<T> {
    this.#open(deadline);
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
    return this.#promise();
  }

  /** Goes on after the first attempt, which was sent under `token`, has failed. */
  resume(token: number, error: unknown): Promise<T> {
    this.#open(token);
    this.#finished(1, { error });
    return this.#promise();
  }

  #open(start: bigint | number | undefined): void {
    const call = native.callStart(this.#wired.number, start);
    if (call === undefined) throw new Closed("policy");
    this.#call = call;
    dropped.register(this, call, this);
  }

  #promise(): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#pump();
    });
  }

  readonly #onAbort = (): void => {
    native.callCancelled(this.#wired.number, this.#call);
    this.#pump();
  };

  /** Takes every step until there is something to wait for. Whoever is called meanwhile leaves the rest to it. */
  #pump(): void {
    if (this.#pumping || this.#over) return;
    this.#pumping = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    try {
      while (this.#step());
    } catch (error) {
      // Nothing of ours throws; a call must have an end all the same.
      this.#close();
      this.#reject(error);
    }
    this.#pumping = false;
  }

  /** Takes one step; false when there is none to take now. */
  #step(): boolean {
    const step = native.callPoll(this.#wired.number, this.#call);
    switch (step?.step) {
      case "run":
        this.#send(step);
        return true;
      case "cancel":
        this.#cut(step.reason);
        return true;
      case "changed":
        if (this.#wired.breaker !== undefined) CircuitBreaker.changed(this.#wired.breaker);
        return true;
      case "wait":
        if (step.wait !== undefined) this.#wait(Math.min(wholeMilliseconds(step.wait), LONGEST_TIMER));
        return false;
      case "done":
        this.#close();
        this.#conclude(step);
        return false;
      default:
        throw new Closed("policy");
    }
  }

  #send(step: Run): void {
    const attempt = new Attempt(step.until, step.attempt);
    this.#out = attempt;
    this.#came = undefined;
    let result: T | PromiseLike<T>;
    try {
      result = this.#fn(attempt);
    } catch (error) {
      this.#ended(attempt, { error });
      return;
    }
    Promise.resolve(result).then(
      (value) => this.#ended(attempt, { value }),
      (error: unknown) => this.#ended(attempt, { error }),
    );
  }

  #ended(attempt: Attempt, came: Came<T>): void {
    // One that was cut off, or whose call is over, is looked at no more.
    if (this.#out !== attempt) return;
    this.#out = undefined;
    this.#finished(attempt.attempt, came);
    this.#pump();
  }

  #finished(attempt: number, came: Came<T>): void {
    this.#came = came;
    let classed: Class;
    let told: number | undefined;
    if ("error" in came) {
      this.#cause = came.error;
      classed = this.#asked("classify", came.error) ?? { failure: looked(() => ofError(came.error)) ?? "other" };
      told = looked(() => toldBy(came.error));
    } else {
      classed = this.#asked("classifyResult", came.value) ?? { failure: "success" };
      if (classed.failure !== "success") told = looked(() => toldBy(came.value));
    }
    const { failure, retryable, breaker } = classed;
    native.callFinished(this.#wired.number, this.#call, attempt, failure, told, retryable, breaker);
  }

  /** What a classifier of the user's says. One that throws has no opinion, and a warning says so. */
  #asked(name: "classify" | "classifyResult", end: unknown): Class | undefined {
    try {
      return classOf(this.#wired[name]?.(end));
    } catch (error) {
      judgementFailed(this.#wired.name, name, error);
      return undefined;
    }
  }

  /** Cuts off what is out; what becomes of it no longer matters. */
  #cut(reason: "timed_out" | "deadline" | "cancelled" | "superseded"): void {
    const attempt = this.#out;
    this.#out = undefined;
    this.#came = undefined;
    if (attempt === undefined) return;
    Attempt.abort(attempt, this.#reasonOf(reason));
  }

  #reasonOf(cut: string): unknown {
    if (cut === "cancelled") return this.#signal?.reason;
    if (cut !== "timed_out") return new DeadlineExceeded();
    return new TimedOut(this.#wired.attempt ?? this.#wired.total ?? 0);
  }

  #wait(milliseconds: number): void {
    const pump = (): void => this.#pump();
    const { clock, ref } = this.#wired;
    if (clock !== undefined) {
      // Whoever moves the clock on is not who the next attempt belongs to.
      this.#timer = clock.timer(milliseconds, AsyncResource.bind(pump));
      return;
    }
    const timer = setTimeout(pump, milliseconds);
    if (!ref) timer.unref();
    this.#timer = { cancel: () => clearTimeout(timer) };
  }

  /** Leaves neither timer nor listener behind. */
  #close(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    dropped.unregister(this);
    native.callClose(this.#call);
  }

  #conclude(ending: NativeEnding): void {
    const came = this.#came;
    if (ending.end === "success" && came !== undefined) {
      if ("value" in came) this.#resolve(came.value);
      // An error that was judged to be an answer.
      else this.#reject(came.error);
      return;
    }
    const { ended } = this.#wired;
    const end = ending.end as End;
    ended.set(end, (ended.get(end) ?? 0) + 1);
    if (end === "cancelled") {
      this.#reject(this.#signal?.reason);
    } else if (came !== undefined && "value" in came && !decidedByTime(end) && ending.failure !== "timeout") {
      this.#resolve(came.value);
    } else {
      const error = came !== undefined && "error" in came && !decidedByTime(end) ? came.error : this.#errorOf(ending);
      tellEnding(error, told(ending));
      this.#reject(error);
    }
  }

  #errorOf({ end, refused }: NativeEnding): unknown {
    const cause = this.#cause === undefined ? undefined : { cause: this.#cause };
    const { attempt, total, breakerName, limitName, budgetName, name } = this.#wired;
    switch (end) {
      case "timed_out":
        return new TimedOut(total ?? 0, cause);
      case "deadline_exceeded":
        return new DeadlineExceeded(undefined, cause);
      case "wont_finish":
        return new WontFinish("what would come next cannot be done before the deadline", cause);
      case "breaker_refused":
        return new CircuitOpen(refusalOf(refused!, breakerName ?? name));
      case "rate_limited":
        return new RateLimited(refusalOf(refused!, limitName ?? name));
      case "budget_empty":
        return new BudgetEmpty(refusalOf(refused!, budgetName ?? name));
      default:
        // The last attempt was cut off, or its value came too late.
        return new TimedOut(attempt ?? total ?? 0, cause);
    }
  }
}

function decidedByTime(end: End): boolean {
  return end === "timed_out" || end === "deadline_exceeded" || end === "wont_finish";
}

function told({ end, attempts, failure, refused, at, wait }: NativeEnding): Ending {
  return {
    end: end as End,
    attempts,
    failure: failure as Ending["failure"],
    reason: refused?.reason as Reason | undefined,
    at,
    retryAfter: wait === undefined ? undefined : Math.max(1, wholeMilliseconds(wait)),
  };
}

/** What can be read of something that may throw when it is looked at. */
function looked<R>(look: () => R): R | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}
