export type { Attempt, RunOptions } from "./attempt.js";
export { type BreakerAttachOptions, type BreakerOptions, CircuitBreaker } from "./breaker.js";
export {
  type Allowed,
  type BucketAttachOptions,
  type BucketOptions,
  type Reservation,
  TokenBucket,
} from "./bucket.js";
export { Backoff, Reconnect, type ReconnectOptions, type Schedule, schedule, ttl } from "./backoff.js";
export { type BudgetOptions, RetryBudget } from "./budget.js";
export { type Classification, type FailureClass, httpStatus } from "./classify.js";
export { Deadline } from "./deadline.js";
export { type End, type Ending, endingOf } from "./ending.js";
export {
  BudgetEmpty,
  CircuitOpen,
  Closed,
  ConfigError,
  DeadlineExceeded,
  RateLimited,
  Refused,
  TimedOut,
  TransientError,
  WontFinish,
} from "./errors.js";
export type { RefusedEvent } from "./events.js";
export type { Judgement, RetryAfter, RetryAt } from "./judgement.js";
export type { Cause, Settlement, Snapshot, State, Transition } from "./observed.js";
export type {
  BackoffOptions,
  CircuitBreakerOptions,
  ExpiredTrials,
  Fill,
  Growth,
  Idempotent,
  Jitter,
  Late,
  Mode,
  OnRetryAfter,
  RetryBudgetOptions,
  RetryOptions,
  Span,
  TimeoutsOptions,
  TokenBucketOptions,
} from "./options.js";
export { Permit } from "./permit.js";
export { type CallOptions, Policy, type PolicyOptions } from "./policy.js";
export { type CallWithRetriesOptions, callWithRetries } from "./retries.js";
export { type Reason, Refusal, type When } from "./refusal.js";
export { now } from "./time.js";
export { formatRetryAfter, parseRetryAfter } from "./wire.js";
