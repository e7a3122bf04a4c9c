// Worker threads share breakers and buckets by name; ends of threads and processes are safe at any time.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { CircuitBreaker, type Refusal, TokenBucket } from "seawall";
import { ManualClock } from "seawall/testing";

const script = new URL("../../test/worker.mjs", import.meta.url);

function start(task: string, name: string, count = 0): Worker {
  return new Worker(script, { workerData: { task, name, count } });
}

async function answer(worker: Worker): Promise<unknown> {
  const [message] = (await once(worker, "message")) as [unknown];
  return message;
}

test("threads that share a bucket admit its capacity together, exactly", async () => {
  const clock = new ManualClock();
  const bucket = new TokenBucket({ shared: "together", rate: 1, capacity: 50_000, clock });
  const workers = [1, 2, 3].map(() => start("take", "together", 40_000));
  const taken = (await Promise.all(workers.map(answer))) as number[];
  assert.equal(taken.reduce((a, b) => a + b), 50_000);
  assert.equal(bucket.remaining, 0);
});

test("a breaker that one thread trips is open in all; the transition is told once", async () => {
  const breaker = new CircuitBreaker({ shared: "tripped", failureThreshold: 1_000 });
  const early = breaker.tryAdmit();
  const told = (await Promise.all([1, 2].map(() => answer(start("fail", "tripped", 2_000))))) as {
    told: number;
    state: string;
  }[];
  assert.equal(told[0]!.told + told[1]!.told, 1);
  assert.deepEqual([told[0]!.state, told[1]!.state, breaker.state], ["open", "open", "open"]);
  assert.ok(breaker.tryAdmit() < 0, "the clean check sees it too");
  assert.equal(breaker.ok(early), "stale");
});

test("threads together get no more trials than stated", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ shared: "trials", failureThreshold: 1, trials: 3, clock });
  breaker.admit().failure();
  clock.advance("31s");
  const admitted = await Promise.all([1, 2, 3].map(() => answer(start("trials", "trials", 5_000))));
  assert.equal((admitted as number[]).reduce((a, b) => a + b), 3);
});

test("whoever joins changes nothing (pybreaker#24), and must mean the same", async () => {
  const breaker = new CircuitBreaker({ shared: "joined", failureThreshold: 3 });
  breaker.admit().failure();
  assert.equal(await answer(start("join", "joined")), 1);
  assert.throws(() => new CircuitBreaker({ shared: "joined", failureThreshold: 4 }), /made from other options/);
  assert.throws(() => CircuitBreaker.attach("nobody"), /no shared circuit breaker called nobody/);
  assert.throws(() => TokenBucket.attach("joined"), /no shared token bucket called joined/);
});

test("a shared object lives until its last holder lets go", () => {
  const first = new CircuitBreaker({ shared: "last", failureThreshold: 1 });
  const second = CircuitBreaker.attach("last", { name: "other" });
  assert.deepEqual([first.name, second.name], ["last", "other"]);
  first.trip();
  first.close();
  assert.equal(second.state, "open");
  second.close();
  assert.throws(() => CircuitBreaker.attach("last"), /no shared/);
  assert.equal(new CircuitBreaker({ shared: "last" }).state, "closed", "a new one");
});

test("a thread that ends gives back what it held, also when it is terminated", async () => {
  const { native } = await import("../../dist/native.js" as string).then((module) => module.default ?? module);
  const breaker = new CircuitBreaker({ shared: "held" });
  const before = native.liveObjects();
  const workers = [1, 2].map(() => start("hold", "held", 1_000));
  await Promise.all(workers.map(answer));
  assert.equal(native.liveObjects(), before + 2_000);
  await Promise.all(workers.map((worker) => worker.terminate()));
  assert.equal(native.liveObjects(), before);
  breaker.close();
  assert.throws(() => CircuitBreaker.attach("held"), /no shared/, "their holds are gone too");
});

test("threads are terminated while they hammer, and the rest goes on", async () => {
  const breaker = new CircuitBreaker({ shared: "hammered" });
  for (let round = 0; round < 3; round++) {
    const workers = [1, 2].map(() => start("hammer", "hammered"));
    await Promise.all(workers.map(answer));
    for (let i = 0; i < 20_000; i++) {
      const token = breaker.tryAdmit();
      if (token >= 0) breaker.ok(token);
    }
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
  breaker.reset();
  assert.equal(breaker.state, "closed");
});

test("the process may exit while threads hammer", () => {
  const code = `
    import { Worker } from "node:worker_threads";
    import { CircuitBreaker } from ${JSON.stringify(new URL("../../dist/index.mjs", import.meta.url).href)};
    new CircuitBreaker({ shared: "exit" });
    const worker = new Worker(new URL(${JSON.stringify(script.href)}), { execArgv: [], workerData: { task: "hammer", name: "exit" } });
    worker.once("message", () => process.exit(5));`;
  for (let round = 0; round < 3; round++) {
    const { status, signal, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" });
    assert.deepEqual([status, signal], [5, null], stderr);
  }
});

test("a refusal's figures are the asking thread's own", async () => {
  const clock = new ManualClock();
  const breaker = new CircuitBreaker({ failureThreshold: 1, clock, resetAfter: "1s" });
  breaker.trip();
  const refusal = breaker.decide() as Refusal;
  await answer(start("fail", (new CircuitBreaker({ shared: "figures", failureThreshold: 1 })).name!, 100));
  assert.match(refusal.explain(), /ask again in 1(\.1)? s$/);
});
