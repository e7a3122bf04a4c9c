import type { CircuitBreaker } from "./breaker.js";
import type { RetryAt } from "./judgement.js";
import type { Settlement } from "./observed.js";
import type { Refusal } from "./refusal.js";

const TRIAL = 2;
const KIND = 2 ** 30;

/** The right to make one call. It is settled once; a second settlement is answered `"stale"`. */
export class Permit {
  readonly allowed = true as const;
  /** The breaker's number for it. */
  readonly token: number;
  /** In shadow mode: what the breaker would have refused with. */
  readonly bypassed: Refusal | undefined;
  readonly #granted: bigint | undefined;
  #breaker: CircuitBreaker | undefined;

  /** @internal */
  constructor(
    breaker: CircuitBreaker,
    token: number,
    granted: bigint | undefined,
    bypassed: Refusal | undefined,
  ) {
    this.#breaker = breaker;
    this.token = token;
    this.bypassed = bypassed;
    this.#granted = granted;
  }

  /** Whether it is a trial of a half-open breaker. */
  get trial(): boolean {
    return Math.floor(this.token / KIND) % 4 === TRIAL;
  }

  /** The call worked. */
  success(): Settlement {
    return this.#once()?.ok(this.token, this.#granted) ?? "stale";
  }

  /**
   * The dependency failed; `told` is what it said about when it will be back. What is no instant and no span
   * (negative, NaN, text like `soon`) makes it a plain failure.
   */
  failure(told?: RetryAt): Settlement {
    return this.#once()?.fail(this.token, told, this.#granted) ?? "stale";
  }

  /** No verdict: cancelled, the caller's own mistake, refused by another layer. */
  ignore(): Settlement {
    return this.#once()?.ignore(this.token) ?? "stale";
  }

  #once(): CircuitBreaker | undefined {
    const breaker = this.#breaker;
    this.#breaker = undefined;
    return breaker;
  }
}
