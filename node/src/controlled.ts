/** An attempt with a timeout, a deadline or a caller's signal: it can end before its function does. */

import { Attempt, Cut, type RunOptions, type Settler } from "./attempt.js";
import { DeadlineExceeded, TimedOut } from "./errors.js";
import { checkDeadline, now, timeoutOf } from "./time.js";

/** What the options come down to. */
export interface Limits {
  readonly signal: AbortSignal | undefined;
  readonly timeout: number | undefined;
  /** When it must have ended, whichever of timeout and deadline comes first. */
  readonly deadline: number | undefined;
  /** How long until then, in whole milliseconds. */
  readonly wait: number | undefined;
  /** Whether the caller's deadline comes first. */
  readonly inherited: boolean;
}

/** Checks the options; throws the reason when the caller has given up already. */
export function limitsOf(options: RunOptions, settler: Pick<Settler, "clock">): Limits {
  const { signal } = options;
  // Found out later, when it is listened to, it would cost a permit.
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    throw new TypeError("signal: an AbortSignal");
  }
  if (signal?.aborted) throw signal.reason;
  const timeout = options.timeout === undefined ? undefined : timeoutOf(options.timeout);
  let deadline: number | undefined;
  let wait = timeout;
  let inherited = false;
  if (timeout !== undefined || options.deadline !== undefined) {
    const present = settler.clock === undefined ? now() : settler.clock.now;
    if (options.deadline !== undefined) checkDeadline(options.deadline, present);
    deadline = timeout === undefined ? undefined : present + timeout;
    if (options.deadline !== undefined && !(options.deadline >= (deadline ?? Number.POSITIVE_INFINITY))) {
      if (!(options.deadline > present)) throw new DeadlineExceeded();
      deadline = options.deadline;
      wait = Math.ceil(deadline - present);
      inherited = true;
    }
  }
  return { signal, timeout, deadline, wait, inherited };
}

/** Runs `fn` once, settles once, and leaves neither timer nor listener behind. */
export function runControlled<T>(
  fn: (attempt: Attempt) => T | PromiseLike<T>,
  limits: Limits,
  settler: Settler,
): Promise<T> {
  const { signal, wait } = limits;
  // Who was told of the admission (a transition) may have given up meanwhile; no event is to come then.
  if (signal?.aborted) {
    settler.neutral();
    return Promise.reject(signal.reason);
  }
  return new Promise<T>((resolve, reject) => {
    const attempt = new Attempt(limits.deadline);
    const cut = new Cut();
    const giveUp = (reason: unknown, settle: () => void): void => {
      if (!cut.end()) return;
      settle();
      reject(reason);
      Attempt.abort(attempt, reason);
    };
    if (signal !== undefined) cut.when(signal, () => giveUp(signal.reason, () => settler.neutral()));
    if (wait !== undefined) {
      cut.after(wait, settler.clock, () =>
        limits.inherited
          ? giveUp(new DeadlineExceeded(), () => settler.neutral())
          : giveUp(new TimedOut(wait), () => settler.timedOut()),
      );
    }
    // A classifier that throws is a fault to be seen; it must not leave the run without an end.
    const end = (settle: () => void, finish: () => void): void => {
      try {
        settle();
      } catch (error) {
        reject(error);
      }
      finish();
    };
    const failed = (error: unknown): void => {
      if (!cut.end()) return;
      end(() => settler.failed(error), () => reject(error));
    };
    let result: T | PromiseLike<T>;
    try {
      result = fn(attempt);
    } catch (error) {
      failed(error);
      return;
    }
    Promise.resolve(result).then((value) => {
      if (!cut.end()) return;
      end(() => settler.succeeded(value), () => resolve(value));
    }, failed);
  });
}
