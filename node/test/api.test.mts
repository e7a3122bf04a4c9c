// The public declarations as others build on them: they change only on purpose.
//
//     UPDATE_API=1 npm test        accept what there is now; the change is then seen in review

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";

const FILES = ["index", "breaker", "bucket", "permit", "attempt", "judgement", "observed", "refusal", "errors"].concat([
  ...["events", "options", "time", "testing", "policy", "budget", "backoff", "classify", "ending", "retries", "wire"],
]);
const accepted = new URL("../../test/api.txt", import.meta.url);

/** The declarations without their comments. */
function declarations(): string {
  return FILES.map((name) => {
    const text = readFileSync(new URL(`../../dist/${name}.d.ts`, import.meta.url), "utf8");
    const bare = text.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/^\s*\n/gm, "");
    return `// ${name}.d.ts\n${bare}`;
  }).join("\n");
}

test("the public declarations are the accepted ones", () => {
  const now = declarations();
  if (process.env["UPDATE_API"]) writeFileSync(accepted, now);
  assert.equal(now, readFileSync(accepted, "utf8"));
});
