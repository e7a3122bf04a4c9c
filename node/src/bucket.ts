import { ConfigError, RateLimited } from "./errors.js";
import { aside, Listeners, type RefusedEvent, refusals } from "./events.js";
import { nameOf, optionList, thrown } from "./fields.js";
import { alive, hold, letGo } from "./holding.js";
import { type Handle, native } from "./native.js";
import type { Span, TokenBucketOptions } from "./options.js";
import { bucketRefusal, type Reason, type Refusal, wholeMilliseconds } from "./refusal.js";
import { type ManualClock, clockHandle } from "./testing.js";
import { nanosOf } from "./time.js";

export interface BucketAttachOptions {
  /** What events and errors call it. */
  name?: string;
}

export interface BucketOptions extends TokenBucketOptions, BucketAttachOptions {
  /** One bucket for all threads that state this name and the same options. */
  shared?: string;
  /** A clock that stands still until told otherwise, for tests. */
  clock?: ManualClock;
}

/** A yes. There is one such object, so that saying yes costs none. */
export interface Allowed {
  readonly allowed: true;
}

const ALLOWED: Allowed = Object.freeze({ allowed: true as const });
const OWN = new Set(["name", "shared", "clock"]);
const { bucketTakeOne, bucketTake } = native;

/** Tokens that are taken already, good from `at` on. */
export class Reservation {
  readonly allowed = true as const;
  readonly cost: number;
  /** From when on it may be used, in milliseconds of the bucket's clock. */
  readonly at: number;
  /** How long until then, in whole milliseconds, rounded up. */
  readonly wait: number;
  #cancel: (() => "full" | "part" | "nothing") | undefined;

  /** @internal */
  constructor(cost: number, at: number, wait: number, cancel: () => "full" | "part" | "nothing") {
    this.cost = cost;
    this.at = at;
    this.wait = wait;
    this.#cancel = cancel;
  }

  /**
   * Gives it back unused: all of it when nobody has taken anything since, otherwise what is certain not to
   * let more through than the rate allows. A second time gives nothing.
   */
  cancel(): "full" | "part" | "nothing" {
    const cancel = this.#cancel;
    this.#cancel = undefined;
    return cancel === undefined ? "nothing" : cancel();
  }
}

/**
 * A token bucket: `capacity` tokens fit, `rate` flow in per second (or per `period`, or as text, "100/min"),
 * a call takes its cost or is refused.
 *
 * @example
 * const limit = new TokenBucket({ rate: 100, capacity: 20 });
 * if (!limit.tryAcquire()) response.writeHead(429).end();
 */
export class TokenBucket {
  /** What events and errors call it. */
  readonly name: string | undefined;
  readonly #refusals = new Listeners<RefusedEvent>();
  #clock: ManualClock | undefined;
  #limited = 0;
  #exceeding = 0;
  #handle: Handle;

  /**
   * @throws ConfigError an option is impossible: field, value and what is allowed
   */
  constructor(options: BucketOptions) {
    if ((options as unknown) instanceof Attached) {
      const { handle, name } = options as unknown as Attached;
      this.#handle = handle;
      this.name = name;
    } else {
      const list = optionList("TokenBucket", options, OWN);
      const shared = nameOf(options.shared, "shared");
      this.name = nameOf(options.name, "name") ?? shared;
      this.#clock = options.clock;
      const made = native.bucketNew(list, clockHandle(options.clock), shared);
      this.#handle = typeof made === "number" ? made : thrown(made, options);
    }
    hold(this, this.#handle);
  }

  /**
   * The bucket that another thread shares under this name. Listeners and counts are this thread's own.
   *
   * @throws Error there is none
   */
  static attach(shared: string, options: BucketAttachOptions = {}): TokenBucket {
    const name = nameOf(options.name, "name") ?? shared;
    const handle = native.bucketAttach(shared);
    if (handle === undefined) throw new Error(`there is no shared token bucket called ${shared}`);
    return new TokenBucket(new Attached(handle, name) as unknown as BucketOptions);
  }

  /** Takes `cost` tokens now, or none. */
  tryAcquire(cost = 1): boolean {
    return this.#take(cost) === true;
  }

  /** Takes `cost` tokens now, or says why not and when. */
  decide(cost = 1): Allowed | Refusal {
    const answer = this.#take(cost);
    return answer === true ? ALLOWED : bucketRefusal(answer, this.name);
  }

  /**
   * Takes `cost` tokens now.
   *
   * @throws RateLimited why not, and when to ask again
   */
  acquire(cost = 1): void {
    const answer = this.#take(cost);
    if (answer !== true) throw new RateLimited(bucketRefusal(answer, this.name));
  }

  /** What `decide` would answer; takes nothing, and counts nothing. */
  peek(cost = 1): Allowed | Refusal {
    const answer = alive(native.bucketPeek(this.#handle, checked(cost)), "token bucket");
    return answer === true ? ALLOWED : bucketRefusal(answer, this.name);
  }

  /**
   * Takes `cost` tokens that may not be there yet: the reservation says from when on it may be used, at most
   * `maxWait` from now. First reserved, first served.
   */
  reserve(cost: number, maxWait: Span): Reservation | Refusal {
    const handle = this.#handle;
    const made = alive(native.bucketReserve(handle, checked(cost), nanosOf(maxWait, "maxWait")), "token bucket");
    if (typeof made === "number") {
      this.#refuse(made);
      return bucketRefusal(made, this.name);
    }
    const cancel = (): "full" | "part" | "nothing" => native.bucketCancel(handle, made.words) ?? "nothing";
    return new Reservation(cost, made.at, wholeMilliseconds(made.wait), cancel);
  }

  /** Takes all tokens that are there. */
  drain(): void {
    alive(native.bucketDrain(this.#handle), "token bucket");
  }

  /** Fills it. */
  reset(): void {
    alive(native.bucketReset(this.#handle), "token bucket");
  }

  /**
   * Changes rate and capacity while it runs. What has flowed in did so at the old rate; the tokens that are
   * there stay, as far as they fit; a debt stays a debt.
   *
   * @throws ConfigError as the constructor; nothing has changed then
   */
  configure(options: TokenBucketOptions): void {
    const list = optionList("TokenBucket", options, new Set());
    const done = alive(native.bucketConfigure(this.#handle, list), "token bucket");
    if (done !== true) thrown(done, options);
  }

  /** How many tokens are there. */
  get remaining(): number {
    return alive(native.bucketRemaining(this.#handle), "token bucket");
  }

  /** How long until it is full again, in whole milliseconds, rounded up. */
  get resetAfter(): number {
    return wholeMilliseconds(alive(native.bucketResetAfter(this.#handle), "token bucket"));
  }

  /** How many calls this object refused, by reason, since it was made. Other threads count their own. */
  get refused(): Partial<Record<Reason, number>> {
    return {
      ...(this.#limited > 0 && { rate_limited: this.#limited }),
      ...(this.#exceeding > 0 && { exceeds_capacity: this.#exceeding }),
    };
  }

  /** Calls `listener` after every refusal by this object; returns how to stop that. */
  onRefused(listener: (event: RefusedEvent) => void): () => void {
    return this.#refusals.add(listener);
  }

  /**
   * Lets go of it. A shared bucket lives on while others hold it. Afterwards everything throws `Closed`. An
   * object that is dropped is closed when it is collected.
   */
  close(): void {
    letGo(this, this.#handle);
    this.#handle = 0;
  }

  /** @internal Its handle and its clock. */
  static parts(bucket: TokenBucket): { handle: Handle; clock: ManualClock | undefined } {
    return { handle: alive(bucket.#handle || undefined, "token bucket"), clock: bucket.#clock };
  }

  #take(cost: number): true | number {
    const answer = cost === 1 ? bucketTakeOne(this.#handle) : bucketTake(this.#handle, checked(cost));
    if (answer === true) return answer;
    this.#refuse(alive(answer, "token bucket"));
    return answer!;
  }

  #refuse(answer: number): void {
    const never = answer === Number.NEGATIVE_INFINITY;
    if (never) this.#exceeding++;
    else this.#limited++;
    if (!this.#refusals.any && !refusals.hasSubscribers) return;
    const event: RefusedEvent = { policy: this.name, reason: never ? "exceeds_capacity" : "rate_limited" };
    aside(() => {
      this.#refusals.emit(event);
      if (refusals.hasSubscribers) refusals.publish(event);
    });
  }
}

class Attached {
  constructor(
    readonly handle: Handle,
    readonly name: string,
  ) {}
}

/** A cost is a whole number, 0 or more; one above the capacity is refused by the bucket itself. */
function checked(cost: number): number {
  if (Number.isInteger(cost) && cost >= 0) return cost;
  const allowed = "whole numbers from 0";
  const said = typeof cost === "number" ? String(cost) : "a value of this type";
  throw new ConfigError(`cost: ${said} is not allowed; allowed are ${allowed}`, "cost", cost, allowed);
}
