// The same objects for import and require: two copies would not know each other's classes.
export type * from "./index.js";
export {
  CircuitBreaker,
  CircuitOpen,
  Closed,
  ConfigError,
  DeadlineExceeded,
  now,
  Permit,
  RateLimited,
  Refusal,
  Refused,
  TimedOut,
  TokenBucket,
} from "./index.js";
