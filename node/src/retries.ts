import { TransientError } from "./errors.js";
import { known } from "./fields.js";
import type { Span } from "./options.js";
import { Policy } from "./policy.js";
import type { ManualClock } from "./testing.js";

export interface CallWithRetriesOptions {
  /** How many attempts in all; 3 unless given. */
  attempts?: number;
  /** Before retry n, counted from 0, it waits up to `min(cap, base * 2 ** n)`. 100 ms and 2 s unless given. */
  base?: Span;
  cap?: Span;
  /** The caller's signal; aborted, it ends at once, in a pause too. */
  signal?: AbortSignal;
  /** A clock that stands still until told otherwise, for tests. */
  clock?: ManualClock;
}

const OWN = new Set(["attempts", "base", "cap", "signal", "clock"]);

/**
 * `fn()`, up to `attempts` times in all while it throws `TransientError`; any other error comes back at once, and
 * the last one as it is, without a pause after it. Its pauses keep the process alive.
 *
 * @throws ConfigError an option is impossible; `fn` is not called then
 */
export async function callWithRetries<T>(fn: () => T | PromiseLike<T>, options: CallWithRetriesOptions = {}): Promise<T> {
  known("callWithRetries", options, OWN);
  const { attempts = 3, base = 100, cap = 2_000, signal, clock } = options;
  const policy = new Policy({
    timeouts: "none",
    retry: { attempts, idempotent: "yes" },
    backoff: { base, cap },
    classify: (error) => (error instanceof TransientError ? "transient" : "other"),
    ref: true,
    ...(clock && { clock }),
  });
  return await policy.run(fn, signal && { signal });
}
