// The other side of threads.test.mts.

import { parentPort, workerData } from "node:worker_threads";
import { CircuitBreaker, TokenBucket } from "seawall";

const { task, name, count } = workerData;
const tasks = {
  take() {
    const bucket = TokenBucket.attach(name);
    let taken = 0;
    for (let i = 0; i < count; i++) if (bucket.tryAcquire()) taken++;
    return taken;
  },
  fail() {
    const breaker = CircuitBreaker.attach(name);
    let told = 0;
    breaker.onTransition(() => told++);
    for (let i = 0; i < count; i++) {
      const token = breaker.tryAdmit();
      if (token >= 0) breaker.fail(token);
    }
    return { told, state: breaker.state };
  },
  trials() {
    const breaker = CircuitBreaker.attach(name);
    let admitted = 0;
    for (let i = 0; i < count; i++) if (breaker.tryAdmit() >= 0) admitted++;
    return admitted;
  },
  join() {
    const breaker = new CircuitBreaker({ shared: name, failureThreshold: 3 });
    return breaker.snapshot().failed;
  },
  hold() {
    globalThis.held = Array.from({ length: count }, () => new CircuitBreaker());
    globalThis.shared = CircuitBreaker.attach(name);
    return "holding";
  },
  async hammer() {
    const breaker = CircuitBreaker.attach(name);
    const bucket = new TokenBucket({ rate: 1e9, capacity: 1e6 });
    parentPort.postMessage("hammering");
    for (;;) {
      const token = breaker.tryAdmit();
      if (token >= 0) breaker[Math.random() < 0.5 ? "ok" : "fail"](token);
      bucket.tryAcquire();
      if (Math.random() < 0.001) breaker.reset();
    }
  },
};

parentPort.postMessage(await tasks[task]());
if (task === "hold") setInterval(() => {}, 1_000);
