#!/usr/bin/env node
// The Node service of the lunch rush: takes orders as they fall due and has each one paid.
//
//     client_node.mjs --settings FILE --log FILE --port N --guard on|off
//
// Same lines in and out, same event log, as client_python.py.

import { subscribe } from "node:diagnostics_channel";
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { CircuitBreaker, TokenBucket } from "seawall";

const REPORT_EVERY_MS = 250;
const SECOND = 1_000_000_000n;
const now = process.hrtime.bigint; // CLOCK_MONOTONIC, absolute nanoseconds

/** One JSON line per event, numbered; the numbers are what the checks go by. */
class Log {
  #lines = 0;

  constructor(path) {
    this.file = openSync(path, "w");
  }

  write(event, fields = {}) {
    const line = { n: this.#lines++, t: now(), event, ...fields };
    // Instants are 64-bit integers, which JSON can hold and a JavaScript number cannot.
    const text = JSON.stringify(line, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
    writeSync(this.file, `${text.replace(/"(\d+)n"/g, "$1")}\n`);
  }

  close() {
    closeSync(this.file);
  }
}

class Service {
  counters = { orders: 0, sent: 0, success: 0, failure: 0, told: 0, ignored: 0, refused: {} };
  inFlight = 0;

  constructor(settings, port, guard, log) {
    this.url = `http://127.0.0.1:${port}`;
    this.timeoutMs = settings.call.timeout_ms;
    this.log = log;
    if (guard) {
      const { breaker, bucket } = settings;
      this.breaker = new CircuitBreaker({
        name: "payments",
        failureRate: breaker.failure_rate,
        window: breaker.window,
        minimumCalls: breaker.minimum_calls,
        trials: breaker.trials,
        resetAfter: breaker.reset_after_ms,
        trialTimeout: breaker.trial_timeout_ms,
      });
      this.bucket = new TokenBucket({ rate: bucket.rate_per_second, capacity: bucket.capacity });
      this.breaker.onTransition(({ from, to, cause, calls, failed, generation }) =>
        log.write("transition", { from, to, cause, calls, failed, generation }),
      );
      // The second channel: what seawall says to whoever observes the process.
      subscribe("seawall:transition", ({ from, to }) => log.write("heard", { from, to }));
    }
  }

  /** One order: breaker, bucket, then the call with its timeout inside both. */
  async pay(call) {
    const taken = now();
    this.counters.orders += 1;
    let permit = null;
    let kind = "none";
    let before = taken;
    let after = taken;
    if (this.breaker) {
      permit = this.breaker.decide();
      if (!permit.allowed) return this.refused(call, taken, permit.reason, "none");
      kind = permit.trial ? "trial" : "normal";
      before = now();
      const admitted = this.bucket.tryAcquire();
      after = now();
      if (!admitted) {
        permit.ignore(); // our own refusal says nothing about the provider
        return this.refused(call, taken, "rate_limited", kind);
      }
    }
    this.counters.sent += 1;
    this.log.write("admitted", { call, permit: kind, before, after });

    this.inFlight += 1;
    const { outcome, why, toldUntil } = await this.send(call);
    this.inFlight -= 1;

    if (outcome === "success") permit?.success();
    else if (outcome === "told") permit?.failure({ until: toldUntil });
    else if (outcome === "failure") permit?.failure();
    else permit?.ignore();
    this.counters[outcome] += 1;
    this.log.write("settled", { call, outcome, why, told_until: toldUntil, ns: now() - taken });
  }

  /** The outcome, what it rests on, and the instant at which the provider said it will be back. */
  async send(call) {
    try {
      const headers = { "x-client": "node", "x-call": String(call) };
      const signal = AbortSignal.timeout(this.timeoutMs);
      const answer = await fetch(`${this.url}/pay`, { method: "POST", headers, signal });
      await answer.arrayBuffer();
      const why = String(answer.status);
      const wait = answer.headers.get("retry-after");
      if ((answer.status === 429 || answer.status === 503) && wait) {
        return { outcome: "told", why, toldUntil: now() + BigInt(wait) * SECOND };
      }
      return { outcome: classify(answer.status), why, toldUntil: null };
    } catch (error) {
      const why = error.name === "TimeoutError" ? "timeout" : "connection";
      return { outcome: "failure", why, toldUntil: null };
    }
  }

  refused(call, taken, reason, permit) {
    this.counters.refused[reason] = (this.counters.refused[reason] ?? 0) + 1;
    this.log.write("refused", { call, reason, permit, ns: now() - taken });
  }

  state() {
    return this.breaker ? this.breaker.state : "none";
  }

  report() {
    const line = { client: "node", state: this.state(), in_flight: this.inFlight, ...this.counters };
    process.stdout.write(`${JSON.stringify(line)}\n`);
  }

  async run(due, late, start) {
    const reporting = setInterval(() => this.report(), REPORT_EVERY_MS);
    const orders = [];
    for (const at of due) {
      await until(start + at);
      orders.push(this.pay(orders.length + 1));
    }
    for (const at of late) {
      await until(start + at);
      if (!["closed", "none"].includes(this.state())) orders.push(this.pay(orders.length + 1));
      else if (this.inFlight === 0) break;
    }
    await Promise.all(orders);
    clearInterval(reporting);
    this.report();
  }
}

async function until(instant) {
  const waitMs = Number(instant - now()) / 1e6;
  if (waitMs > 0) await sleep(waitMs);
}

function classify(status) {
  return status >= 500 ? "failure" : status >= 400 ? "ignored" : "success";
}

/** When each order falls due, in nanoseconds from the start; as in plan.py. */
function due(settings) {
  const instants = [];
  let start = 0n;
  for (const part of settings.orders) {
    const count = Math.floor(part.seconds * part.per_second + 0.5);
    const gap = SECOND / BigInt(part.per_second);
    for (let k = 0n; k < count; k++) instants.push(start + k * gap);
    start += BigInt(Math.floor(part.seconds * 1e9 + 0.5));
  }
  return instants;
}

/** More instants, for a client whose breaker is not closed after the last order; as in plan.py. */
function late(settings) {
  const last = due(settings).at(-1);
  const gap = SECOND / BigInt(settings.orders.at(-1).per_second);
  return Array.from({ length: settings.late_orders }, (_, k) => last + BigInt(k + 1) * gap);
}

const { values: options } = parseArgs({
  options: {
    settings: { type: "string" },
    log: { type: "string" },
    port: { type: "string" },
    guard: { type: "string" },
  },
});
const settings = JSON.parse(readFileSync(options.settings, "utf8"));
const guard = options.guard === "on";
const log = new Log(options.log);
const service = new Service(settings, options.port, guard, log);
await (await fetch(`${service.url}/health`)).arrayBuffer();
process.stdout.write('{"ready":true}\n');
const input = createInterface({ input: process.stdin });
const line = await new Promise((resolve) => input.once("line", resolve));
input.close();
process.stdin.destroy();
const start = BigInt(/"start_ns": *(\d+)/.exec(line)[1]);
log.write("start", { client: "node", guard });
await service.run(due(settings), late(settings), start);
log.write("end", { counters: service.counters, state: service.state() });
log.close();
