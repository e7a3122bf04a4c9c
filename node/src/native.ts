/**
 * The native half, and how it is found.
 *
 * The requires are literal, so that bundlers and single-file compilers can see them.
 */

/** A value that a cold function refuses with: the core's sentence, and the field it is about. */
export interface Failure {
  error: string;
  field?: string;
  allowed?: string;
}

/** What JavaScript holds of an object: kind | incarnation | index. A closed one is answered `undefined`. */
export type Handle = number;

/** Names and values in turn: `["rate", 100, "capacity", 20]`. */
export type OptionList = unknown[];

/** The configurations that the core declares. */
export type ConfigName =
  | "CircuitBreaker"
  | "TokenBucket"
  | "Backoff"
  | "RetryBudget"
  | "Retry"
  | "Timeouts"
  | "Policy";

/** A refusal as an object, of layers that refuse too seldom to need a number. */
export interface RefusalDetails {
  layer: string;
  reason: string;
  when: "at" | "never" | "depends";
  at?: number;
  /** Nanoseconds. */
  wait?: number;
  sentence: string;
}

/** What a call says to do. Instants are milliseconds, waits nanoseconds. */
export type NativeStep =
  | { step: "run"; attempt: number; until?: number; waited: number; after?: string }
  | { step: "cancel"; attempt: number; reason: "timed_out" | "deadline" | "cancelled" | "superseded" }
  | { step: "wait"; until?: number; wait?: number; ticket: number; pause: "attempts" | "backoff" | "rate_limit" }
  | { step: "changed" }
  | NativeEnding;

export interface NativeEnding {
  step: "done";
  end: string;
  attempt: number;
  attempts: number;
  refused?: RefusalDetails;
  failure?: string;
  told?: number;
  at?: number;
  wait?: number;
}

export interface Native {
  constants(): {
    offset: number;
    mask: number;
    value: number;
    slotBytes: number;
    chunkSlots: number;
    indexBits: number;
    states: string[];
    modes: string[];
  };
  fields(): Record<ConfigName, string[]>;
  span(text: string): number | string;
  release(handle: Handle): void;
  saveDetails(): void;
  restoreDetails(): void;
  liveObjects(): number;
  failOnPurpose(): void;

  now(): number;
  nowNanos(): bigint;
  clockNew(now: bigint): Handle | undefined;
  clockNow(clock: Handle): bigint | undefined;
  clockSet(clock: Handle, now: bigint): void;
  clockRandom(clock: Handle, random: bigint): void;

  breakerNew(options: OptionList, clock: Handle, shared: string | undefined): Handle | Failure;
  breakerAttach(name: string): Handle | undefined;
  breakerWords(breaker: Handle, allowed: 0 | 1): ArrayBuffer | undefined;
  breakerAdmit(breaker: Handle): number | undefined;
  breakerOk(breaker: Handle, token: number): number | undefined;
  breakerFail(breaker: Handle, token: number): number | undefined;
  breakerIgnore(breaker: Handle, token: number): number | undefined;
  breakerSettle(
    breaker: Handle,
    token: number,
    outcome: number,
    granted: bigint | number | undefined,
    until: bigint | number | undefined,
  ): number | undefined;
  breakerTrip(breaker: Handle, until: bigint | number | undefined): number | undefined;
  breakerHalfOpen(breaker: Handle): number | undefined;
  breakerReset(breaker: Handle): number | undefined;
  breakerConfigure(breaker: Handle, options: OptionList): true | Failure | undefined;
  breakerSetMode(breaker: Handle, mode: number): number | Failure | undefined;
  breakerState(breaker: Handle): number | undefined;
  breakerMode(breaker: Handle): number | undefined;
  breakerNow(breaker: Handle): bigint | undefined;
  breakerSnapshot(breaker: Handle): object | undefined;
  breakerExplain(breaker: Handle): string | undefined;
  takeTransition(): object | undefined;
  takeBypassed(): number | undefined;
  refusedAt(): number;
  explainRefusal(layer: 1 | 2, code: number): string;

  bucketNew(options: OptionList, clock: Handle, shared: string | undefined): Handle | Failure;
  bucketAttach(name: string): Handle | undefined;
  bucketTakeOne(bucket: Handle): true | number | undefined;
  bucketTake(bucket: Handle, cost: number): true | number | undefined;
  bucketPeek(bucket: Handle, cost: number): true | number | undefined;
  bucketRemaining(bucket: Handle): number | undefined;
  bucketResetAfter(bucket: Handle): number | undefined;
  bucketReserve(
    bucket: Handle,
    cost: number,
    maxWaitNanos: number,
  ): { words: bigint[]; at: number; wait: number } | number | undefined;
  bucketCancel(bucket: Handle, words: bigint[]): "full" | "part" | "nothing" | undefined;
  bucketDrain(bucket: Handle): true | undefined;
  bucketReset(bucket: Handle): true | undefined;
  bucketConfigure(bucket: Handle, options: OptionList): true | Failure | undefined;

  budgetNew(options: OptionList, clock: Handle, shared: string | undefined): Handle | Failure;
  budgetAttach(name: string): Handle | undefined;
  budgetDeposit(budget: Handle): true | undefined;
  budgetWithdraw(budget: Handle): true | RefusalDetails | undefined;
  budgetRefund(budget: Handle): true | undefined;
  budgetBalance(budget: Handle): number | undefined;
  budgetReset(budget: Handle): true | undefined;
  budgetConfigure(budget: Handle, options: OptionList): true | Failure | undefined;

  policyNew(
    policy: OptionList,
    timeouts: OptionList,
    retry: OptionList | undefined,
    backoff: OptionList,
    breaker: Handle,
    bucket: Handle,
    budget: Handle,
    clock: Handle,
  ): number | Failure;
  policyClose(policy: number): void;
  callStart(policy: number, deadlineOrToken: bigint | number | undefined): number | undefined;
  callPoll(policy: number, call: number): NativeStep | undefined;
  callFinished(
    policy: number,
    call: number,
    attempt: number,
    failure: string | number,
    told: number | undefined,
    retryable?: 0 | 1,
    breaker?: string,
  ): boolean | undefined;
  callWoken(policy: number, call: number, ticket: number): boolean | undefined;
  callCancelled(policy: number, call: number): boolean | undefined;
  callClose(call: number): void;
  liveCalls(): number;
  failures(): string[];

  backoffNew(options: OptionList): bigint[] | Failure;
  backoffCeiling(backoff: bigint[], retry: number): number;
  backoffDelay(backoff: bigint[], retry: number, previous: number, random: bigint | undefined, clock: Handle): number;
  reconnectNew(backoff: bigint[], stableAfter: number): bigint[];
  reconnectConnected(link: bigint[], clock: Handle): bigint[];
  reconnectLost(link: bigint[], random: bigint | undefined, clock: Handle): { words: bigint[]; wait: number };
  ttl(span: number, spread: number, random: bigint | undefined, clock: Handle): number;
  schedulePhase(period: number, spread: number, seed: bigint): number;
  scheduleNext(period: number, phase: number, now: bigint): number;
  deadlineAfter(span: number, clock: Handle): bigint;
  deadlineShrunk(at: bigint, margin: number): bigint;
  deadlineCheck(at: bigint, expected: number, clock: Handle): number;
  parseRetryAfter(text: string, nowUnix: number): number | undefined;
  formatRetryAfter(wait: number, nowUnix: number | undefined): string;
}

type Attempt = () => Native;

/** What may serve this platform, in the order of trying. */
function candidates(platform: string): Attempt[] {
  switch (platform) {
    case "linux-x64":
      return [() => require("./seawall.linux-x64-gnu.node"), () => require("./seawall.linux-x64-musl.node")];
    case "linux-arm64":
      return [() => require("./seawall.linux-arm64-gnu.node"), () => require("./seawall.linux-arm64-musl.node")];
    case "linux-arm":
      return [() => require("./seawall.linux-arm-gnueabihf.node")];
    case "darwin-x64":
      return [() => require("./seawall.darwin-x64.node")];
    case "darwin-arm64":
      return [() => require("./seawall.darwin-arm64.node")];
    case "win32-x64":
      return [() => require("./seawall.win32-x64-msvc.node")];
    case "win32-arm64":
      return [() => require("./seawall.win32-arm64-msvc.node")];
    default:
      return [];
  }
}

function load(): Native {
  const platform = `${process.platform}-${process.arch}`;
  const failures: string[] = [];
  for (const attempt of candidates(platform)) {
    try {
      return attempt();
    } catch (error) {
      failures.push(String(error instanceof Error ? error.message : error).split("\n")[0]!);
    }
  }
  const tried = failures.length > 0 ? failures.map((text) => `\n  - ${text}`).join("") : " nothing is built for it";
  throw new Error(
    `seawall: this installation has no binary for ${platform}.\n` +
      `Tried:${tried}\n` +
      "An installation made on another platform (a copied node_modules folder, a cached image layer) does " +
      "not serve this one: install again here. From a checkout, `npm run build` makes the binary.",
  );
}

export const native: Native = load();
