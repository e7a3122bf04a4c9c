/** What an error says of itself. What that means is the engine's table. */

import { DeadlineExceeded, TimedOut, TransientError } from "./errors.js";
import { refusedByUs } from "./judgement.js";
import { native } from "./native.js";
import { parseRetryAfter } from "./wire.js";

/** How an attempt failed. */
export type FailureClass =
  | "timeout"
  | "connection"
  | "status"
  | "own_refusal"
  | "cancelled"
  | "inherited_deadline"
  | "other"
  | "transient";

/**
 * A classification: whether it may go away, an HTTP status, a class, or a verdict of the caller's own;
 * `undefined`: no opinion.
 */
export type Classification =
  | boolean
  | number
  | FailureClass
  | "success"
  | { failure?: FailureClass; retryable: boolean; breaker: "success" | "failure" | "ignored" }
  | undefined;

/** A classification as native code takes it. */
export interface Class {
  failure: string | number;
  retryable?: 0 | 1;
  breaker?: string;
}

const FAILURES = new Set<unknown>(native.failures()).add("success");
const EVIDENCE = new Set<unknown>(["success", "failure", "ignored"]);

const TIMEOUTS = new Set<unknown>([
  ...["ETIMEDOUT", "ESOCKETTIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
]);
const CONNECTIONS = new Set<unknown>([
  ...["ECONNREFUSED", "ECONNRESET", "ECONNABORTED", "EPIPE", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"],
  ...["ENETDOWN", "UND_ERR_SOCKET"],
]);

type Loose = Record<string, unknown> | null | undefined;

/** What a classifier said; throws when it is no classification. */
export function classOf(said: Classification): Class | undefined {
  if (said === undefined) return undefined;
  if (typeof said === "boolean") return { failure: said ? "transient" : "other" };
  if (typeof said === "number" || FAILURES.has(said)) return { failure: said as string | number };
  if (typeof said === "object" && said !== null && EVIDENCE.has(said.breaker)) {
    const { failure = "other", retryable, breaker } = said;
    if (FAILURES.has(failure)) return { failure, retryable: retryable ? 1 : 0, breaker };
  }
  throw new TypeError("no classification: undefined, a boolean, an HTTP status, the name of a failure, or a verdict");
}

/** What an error is, by its type, its status or its code; `"other"` where none of them says. */
export function ofError(error: unknown): string | number {
  if (error instanceof TransientError) return "transient";
  if (refusedByUs(error)) return "own_refusal";
  if (error instanceof TimedOut) return "timeout";
  if (error instanceof DeadlineExceeded) return "inherited_deadline";
  const status = httpStatus(error);
  if (status !== undefined) return status;
  // `fetch` wraps what happened.
  for (const one of [error, (error as Loose)?.["cause"]] as Loose[]) {
    if (TIMEOUTS.has(one?.["code"]) || one?.["name"] === "TimeoutError") return "timeout";
    if (CONNECTIONS.has(one?.["code"])) return "connection";
  }
  return (error as Loose)?.["name"] === "AbortError" ? "cancelled" : "other";
}

/**
 * The HTTP status of an error or a response: its `status` or `statusCode`, or that of its `response`. To be
 * given as `classifyResult` where the function answers with responses instead of throwing.
 */
export function httpStatus(end: unknown): number | undefined {
  for (const holder of [end, (end as Loose)?.["response"]] as Loose[]) {
    for (const status of [holder?.["status"], holder?.["statusCode"]]) {
      if (Number.isInteger(status) && (status as number) >= 100 && (status as number) <= 599) return status as number;
    }
  }
  return undefined;
}

/** What the headers of an error or a response tell: nanoseconds, below 0 "not again". */
export function toldBy(end: unknown): number | undefined {
  for (const holder of [(end as Loose)?.["response"], end] as Loose[]) {
    const headers = holder?.["headers"];
    if (typeof headers !== "object" || headers === null) continue;
    const get = (name: string): unknown =>
      typeof (headers as { get?: unknown }).get === "function"
        ? (headers as Headers).get(name)
        : (headers as Record<string, unknown>)[name];
    if (get("seawall-retry") === "no") return -1;
    const wait = parseRetryAfter(get("retry-after") as string | undefined);
    if (wait !== undefined) return wait * 1e6;
  }
  return undefined;
}
