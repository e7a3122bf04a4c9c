import type { Refusal } from "./refusal.js";

/** An option that cannot be. The message is the same in every language. */
export class ConfigError extends RangeError {
  override readonly name = "ConfigError";
  /** The option's name. */
  readonly field: string;
  /** What was given. */
  readonly value: unknown;
  /** What would have been allowed, in words. */
  readonly allowed: string;

  constructor(message: string, field: string, value: unknown, allowed: string) {
    super(message);
    this.field = field;
    this.value = value;
    this.allowed = allowed;
  }
}

/** The object was closed before; it can do nothing any more. */
export class Closed extends Error {
  override readonly name = "Closed";

  constructor(what: string) {
    super(`this ${what} was closed; make a new one, or close it later`);
  }
}

/** A no of seawall's own, thrown. It is no evidence against the dependency, and a retry of it is in vain. */
export abstract class Refused extends Error {
  /** The refusal's stable reason. */
  readonly reason: Refusal["reason"];
  /** Whether `at` is exact (`"at"`), an estimate (`"depends"`), or there is none (`"never"`). */
  readonly when: Refusal["when"];
  /** When to ask again, in milliseconds of the object's clock (see `now`). */
  readonly at: number | undefined;
  /** How long until then, in whole milliseconds, rounded up, at least 1. */
  readonly retryAfter: number | undefined;
  /** The name of what refused. */
  readonly policy: string | undefined;

  constructor(refusal: Refusal) {
    super(refusal.policy === undefined ? refusal.explain() : `${refusal.policy}: ${refusal.explain()}`);
    this.reason = refusal.reason;
    this.when = refusal.when;
    this.at = refusal.at;
    this.retryAfter = refusal.retryAfter;
    this.policy = refusal.policy;
  }
}

/** A circuit breaker lets nothing through: it is open, its trials are out, or it was forced open. */
export class CircuitOpen extends Refused {
  override readonly name = "CircuitOpen";
}

/** A rate limit is used up for now, or the cost is above its capacity. */
export class RateLimited extends Refused {
  override readonly name = "RateLimited";
}

/** A retry budget had no retry left. */
export class BudgetEmpty extends Refused {
  override readonly name = "BudgetEmpty";
}

/** To be thrown by you: it failed, and may go away, so that it is worth another attempt. */
export class TransientError extends Error {
  override readonly name: string = "TransientError";
}

/** An attempt was cut by its own timeout. It counts as a failure of the dependency. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  /** The timeout, in milliseconds. */
  readonly timeout: number;

  constructor(timeout: number, options?: ErrorOptions) {
    super(`no answer within ${timeout} ms`, options);
    this.timeout = timeout;
  }
}

/** An attempt was cut by a deadline from outside, shorter than its own timeout. It counts for nothing. */
export class DeadlineExceeded extends Error {
  override readonly name: string = "DeadlineExceeded";

  constructor(message = "the caller's deadline is over", options?: ErrorOptions) {
    super(message, options);
  }
}

/** Less time remains than the next attempt would take, so it was not begun. It counts for nothing. */
export class WontFinish extends DeadlineExceeded {
  override readonly name = "WontFinish";
}
