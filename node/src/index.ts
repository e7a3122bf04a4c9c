export type { Attempt, RunOptions } from "./attempt.js";
export { type BreakerAttachOptions, type BreakerOptions, CircuitBreaker } from "./breaker.js";
export {
  type Allowed,
  type BucketAttachOptions,
  type BucketOptions,
  type Reservation,
  TokenBucket,
} from "./bucket.js";
export { CircuitOpen, Closed, ConfigError, DeadlineExceeded, RateLimited, Refused, TimedOut } from "./errors.js";
export type { RefusedEvent } from "./events.js";
export type { Judgement, RetryAfter, RetryAt } from "./judgement.js";
export type { Cause, Settlement, Snapshot, State, Transition } from "./observed.js";
export type { CircuitBreakerOptions, ExpiredTrials, Fill, Mode, Span, TokenBucketOptions } from "./options.js";
export { Permit } from "./permit.js";
export { type Reason, Refusal, type When } from "./refusal.js";
export { now } from "./time.js";
