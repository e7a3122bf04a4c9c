import { Attempt } from "./attempt.js";
import { CircuitBreaker } from "./breaker.js";
import { TokenBucket } from "./bucket.js";
import { RetryBudget } from "./budget.js";
import type { Classification } from "./classify.js";
import type { End } from "./ending.js";
import { ConfigError } from "./errors.js";
import { known, nameOf, optionList, thrown } from "./fields.js";
import { type Handle, native, type OptionList } from "./native.js";
import type { BackoffOptions, PolicyOptions as OwnOptions, RetryOptions, TimeoutsOptions } from "./options.js";
import { Running, type Wired } from "./running.js";
import { type ManualClock, clockHandle } from "./testing.js";
import { checkDeadline, instantOf, nanosOf, now } from "./time.js";

export interface PolicyOptions extends OwnOptions {
  /** How long it may take; must be stated, if only as `"none"`. */
  timeouts: TimeoutsOptions | "none";
  /** The rules of retrying. Not given: one attempt. */
  retry?: RetryOptions;
  /** The pauses between attempts; the usual ones where it is not given. */
  backoff?: BackoffOptions;
  /** What retries are paid from. */
  budget?: RetryBudget;
  /** Asked before every attempt; told how it ended. */
  breaker?: CircuitBreaker;
  /** Asked before every attempt. */
  rateLimit?: TokenBucket;
  /** What errors call it. */
  name?: string;
  /** A clock that stands still until told otherwise, for tests; all parts go by the same one. */
  clock?: ManualClock;
  /** What an error means, where the table (see `docs/retry.md`) does not know it. One that throws has no opinion. */
  classify?: (error: any) => Classification;
  /** What a value means: a success where it is not given. `httpStatus` serves for responses. */
  classifyResult?: (value: any) => Classification;
  /** Whether its pauses and timeouts keep the process alive. Not, unless stated. */
  ref?: boolean;
}

export interface CallOptions {
  /** The caller's signal: when it is aborted, the call ends at once with its reason, in a pause too. */
  signal?: AbortSignal;
  /**
   * The caller's own deadline for all of it: an instant in milliseconds of the monotonic clock that `now()`
   * reads (`now() + 500`), not `Date.now()`; at most 24.8 days off.
   */
  deadline?: number;
}

const OWN = new Set([
  ...["timeouts", "retry", "backoff", "budget", "breaker", "rateLimit", "name", "clock", "classify", "classifyResult"],
  "ref",
]);
const CALL = new Set(["signal", "deadline"]);
const NONE = new Set<string>();
const UNLIMITED: TimeoutsOptions = { connect: 0, attempt: 0, total: 0 };
const dropped = new FinalizationRegistry<number>((policy) => native.policyClose(policy));
const { budgetDeposit } = native;

/**
 * One call to a dependency, from the first attempt to the answer or to the reason why not: deadline, retry with
 * its budget, and for every attempt circuit breaker, rate limit and timeout. Whatever does not decide is not
 * asked: what it consists of is stated once, and shared by all calls.
 *
 * @example
 * const payments = new Policy({
 *   timeouts: { connect: "200ms", attempt: "1s", total: "3s" },
 *   retry: { idempotent: "by_key" },
 *   budget: new RetryBudget(),
 *   breaker: new CircuitBreaker(),
 * });
 * const receipt = await payments.run(({ signal }) => fetch(url, { signal }));
 */
export class Policy {
  /** What errors call it. */
  readonly name: string | undefined;
  readonly #wired: Wired;
  readonly #breaker: CircuitBreaker | undefined;
  readonly #budget: Handle;
  /** Without time limits, rate limit and a judge of values, the first attempt of a clean call needs no `Call`. */
  readonly #plain: boolean;
  // What a success under a clean breaker does, made anew when the token changes: once per open period.
  #bound = -1;
  #onValue: ((value: never) => unknown) | undefined = undefined;

  /**
   * @throws ConfigError an option is impossible, or one is missing that must be stated
   */
  constructor(options: PolicyOptions) {
    const list = optionList("Policy", options, OWN);
    const { breaker, rateLimit, budget, retry, backoff, classify, classifyResult } = options;
    const timeouts = options.timeouts === "none" ? UNLIMITED : (options.timeouts ?? {});
    for (const [field, part, kind] of [
      ["breaker", breaker, CircuitBreaker],
      ["rateLimit", rateLimit, TokenBucket],
      ["budget", budget, RetryBudget],
      ["classify", classify, Function],
      ["classifyResult", classifyResult, Function],
    ] as const) {
      if (part !== undefined && !(part instanceof kind)) {
        const allowed = `a ${kind.name}`;
        throw new ConfigError(`policy.${field}: this value is not allowed; allowed is ${allowed}`, field, part, allowed);
      }
    }
    if (backoff !== undefined && retry === undefined) {
      throw new ConfigError("policy.backoff: pauses without retry are not allowed", "backoff", backoff, "retry beside it");
    }
    this.name = nameOf(options.name, "name");
    const parts = [
      breaker === undefined ? undefined : CircuitBreaker.parts(breaker),
      rateLimit === undefined ? undefined : TokenBucket.parts(rateLimit),
      budget === undefined ? undefined : RetryBudget.parts(budget),
    ];
    const clock = options.clock ?? parts.find((part) => part !== undefined)?.clock;
    const [b = 0, l = 0, r = 0] = parts.map((part) => part?.handle);
    const stated = optionList("Timeouts", timeouts, NONE);
    const rules = retry === undefined ? undefined : optionList("Retry", retry, NONE);
    const pauses: OptionList = optionList("Backoff", backoff ?? {}, NONE);
    const made = native.policyNew(list, stated, rules, pauses, b, l, r, clockHandle(clock));
    const all = { ...options, ...backoff, ...retry, ...timeouts };
    const number = typeof made === "number" ? made : thrown(made, all);
    dropped.register(this, number);
    const limit = (name: "attempt" | "total"): number | undefined => {
      const nanos = nanosOf(timeouts === UNLIMITED ? 0 : (timeouts as TimeoutsOptions)[name], name);
      return nanos === 0 ? undefined : nanos / 1e6;
    };
    this.#breaker = breaker;
    this.#budget = r;
    this.#wired = {
      owner: this,
      number,
      clock,
      name: this.name,
      breaker,
      breakerName: breaker?.name,
      limitName: rateLimit?.name,
      budgetName: budget?.name,
      classify,
      classifyResult,
      attempt: limit("attempt"),
      total: limit("total"),
      ref: options.ref === true,
      ended: new Map(),
    };
    const { attempt, total } = this.#wired;
    this.#plain = [attempt, total, rateLimit, classifyResult].every((part) => part === undefined);
  }

  /**
   * Runs `fn` until an attempt has an answer, or there is to be no further attempt. Then the promise is rejected
   * with what the last attempt was rejected with, or with the refusal that kept the first from being sent;
   * `endingOf` says why. A value that `classifyResult` calls a failure is retried, and in the end answered.
   */
  run<T>(fn: (attempt: Attempt) => T | PromiseLike<T>, options?: CallOptions): Promise<T> {
    if (options === undefined && this.#plain) {
      const token = this.#breaker === undefined ? 0 : CircuitBreaker.clean(this.#breaker);
      if (token >= 0) return this.#clean(fn, token);
    }
    try {
      if (options !== undefined) known("run", options, CALL);
      const { signal } = options ?? {};
      if (signal !== undefined && typeof signal?.addEventListener !== "function") {
        throw new TypeError("signal: an AbortSignal");
      }
      if (signal?.aborted) throw signal.reason;
      return new Running(this.#wired, fn, signal).start(this.#deadline(options?.deadline));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** How many of its calls ended without an answer, by why. */
  get ended(): Partial<Record<End, number>> {
    return Object.fromEntries(this.#wired.ended);
  }

  #deadline(deadline: number | undefined): bigint | undefined {
    if (deadline === undefined) return undefined;
    const nanos = instantOf(deadline, "deadline");
    checkDeadline(deadline, this.#wired.clock === undefined ? now() : this.#wired.clock.now);
    return nanos;
  }

  /** The first attempt under a clean breaker: there is nothing to ask, and only a failure needs a `Call`. */
  #clean<T>(fn: (attempt: Attempt) => T | PromiseLike<T>, token: number): Promise<T> {
    const breaker = this.#breaker;
    if (this.#budget !== 0) budgetDeposit(this.#budget);
    let promise: Promise<T>;
    try {
      const result = fn(new Attempt(undefined));
      promise = Promise.resolve(result);
    } catch (error) {
      promise = Promise.reject(error);
    }
    if (breaker !== undefined && token !== this.#bound) {
      this.#bound = token;
      this.#onValue = (value: never) => {
        breaker.ok(token);
        return value;
      };
    }
    return promise.then(
      this.#onValue as ((value: T) => T) | undefined,
      (error: unknown) => new Running(this.#wired, fn, undefined).resume(token, error),
    );
  }
}
