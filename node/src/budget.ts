import { nameOf, optionList, thrown } from "./fields.js";
import { alive, hold, letGo } from "./holding.js";
import { type Handle, native } from "./native.js";
import type { RetryBudgetOptions } from "./options.js";
import { type Refusal, refusalOf } from "./refusal.js";
import { type ManualClock, clockHandle } from "./testing.js";

export interface BudgetOptions extends RetryBudgetOptions {
  /** What errors call it. */
  name?: string;
  /** One budget for all threads that state this name and the same options. */
  shared?: string;
  /** A clock that stands still until told otherwise, for tests. */
  clock?: ManualClock;
}

const OWN = new Set(["name", "shared", "clock"]);

/**
 * A retry budget: each request pays in a share of a retry, each retry takes one out, so that retries stay a
 * share of the load when everything fails. One for all calls to a dependency.
 *
 * @example
 * const budget = new RetryBudget({ ratio: 0.1, capacity: 10 });
 */
export class RetryBudget {
  /** What errors call it. */
  readonly name: string | undefined;
  readonly #clock: ManualClock | undefined;
  #handle: Handle;

  /**
   * @throws ConfigError an option is impossible: field, value and what is allowed
   */
  constructor(options: BudgetOptions = {}) {
    const list = optionList("RetryBudget", options, OWN);
    const shared = nameOf(options.shared, "shared");
    this.name = nameOf(options.name, "name") ?? shared;
    this.#clock = options.clock;
    const made = native.budgetNew(list, clockHandle(options.clock), shared);
    this.#handle = typeof made === "number" ? made : thrown(made, options);
    hold(this, this.#handle);
  }

  /** A request pays in: once per request, however many attempts it takes. A full one is not written to. */
  deposit(): void {
    alive(native.budgetDeposit(this.#handle), "retry budget");
  }

  /** Pays for a retry; `true`, or why not. */
  withdraw(): true | Refusal {
    const answer = alive(native.budgetWithdraw(this.#handle), "retry budget");
    return answer === true ? answer : refusalOf(answer, this.name);
  }

  /** Takes a withdrawal back: the retry it paid for was not sent after all. */
  refund(): void {
    alive(native.budgetRefund(this.#handle), "retry budget");
  }

  /** How many retries it could pay for now. */
  get balance(): number {
    return alive(native.budgetBalance(this.#handle), "retry budget");
  }

  /** Fills it. */
  reset(): void {
    alive(native.budgetReset(this.#handle), "retry budget");
  }

  /**
   * Changes the whole configuration while it runs. What is there stays, as far as it fits.
   *
   * @throws ConfigError as the constructor; nothing has changed then
   */
  configure(options: RetryBudgetOptions): void {
    const done = alive(native.budgetConfigure(this.#handle, optionList("RetryBudget", options, new Set())), "retry budget");
    if (done !== true) thrown(done, options);
  }

  /** Lets go of it; a shared one, and one that a policy holds, lives on. Afterwards everything throws `Closed`. */
  close(): void {
    letGo(this, this.#handle);
    this.#handle = 0;
  }

  /** @internal Its handle and its clock. */
  static parts(budget: RetryBudget): { handle: Handle; clock: ManualClock | undefined } {
    return { handle: alive(budget.#handle || undefined, "retry budget"), clock: budget.#clock };
  }
}
