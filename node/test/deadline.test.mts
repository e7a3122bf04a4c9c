import assert from "node:assert/strict";
import { test } from "node:test";
import { Deadline, DeadlineExceeded, now, WontFinish } from "seawall";
import { ManualClock } from "seawall/testing";

test("work that fits may begin, and work that does not may not", () => {
  const clock = new ManualClock();
  const deadline = Deadline.after("300ms", clock);
  assert.equal(deadline.at, 300);
  clock.advance("200ms");
  assert.equal(deadline.remaining, 100);
  assert.equal(deadline.check(), 100);
  assert.equal(deadline.check("100ms"), 100);
  assert.throws(() => deadline.check(100.001), WontFinish);
  clock.advance("100ms");
  assert.equal(deadline.remaining, 0);
  assert.throws(() => deadline.check(), (error) => error instanceof DeadlineExceeded && !(error instanceof WontFinish));
});

test("those below get a little less, and the earlier of two holds", () => {
  const clock = new ManualClock();
  const deadline = Deadline.at(1_000, clock);
  assert.equal(deadline.shrunkBy("50ms").at, 950);
  assert.equal(deadline.shrunkBy("2s").at, 0);
  assert.equal(deadline.earlier(Deadline.at(900, clock)).at, 900);
  assert.equal(deadline.earlier(Deadline.at(1_100, clock)), deadline);
  assert.throws(() => deadline.earlier(Deadline.at(900)), { name: "ConfigError", field: "deadline" });
});

test("without a clock it is that of now()", () => {
  const deadline = Deadline.after(60_000);
  assert.ok(deadline.at > now() && deadline.remaining > 50_000 && deadline.remaining <= 60_000);
});

test("spans and instants that are none are refused", () => {
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, "soon"]) {
    assert.throws(() => Deadline.after(wrong), { name: "ConfigError" });
    assert.throws(() => Deadline.after(1).check(wrong), { name: "ConfigError" });
    assert.throws(() => Deadline.after(1).shrunkBy(wrong), { name: "ConfigError" });
  }
  assert.throws(() => Deadline.at(-1), { name: "ConfigError", field: "instant" });
});
