// What somebody gets who installs the package: `npm pack`, `npm install` of the tarball in a fresh folder,
// then use from ESM, CommonJS and TypeScript.

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "seawall-"));
after(() => rmSync(folder, { recursive: true, force: true }));

function npm(...command: string[]): string {
  return execFileSync("npm", command, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function node(file: string, code: string): { status: number | null; stdout: string; stderr: string } {
  writeFileSync(join(folder, file), code);
  return spawnSync(process.execPath, [file], { cwd: folder, encoding: "utf8" });
}

const USE = `
  const breaker = new CircuitBreaker({ failureThreshold: 1 });
  const bucket = new TokenBucket({ rate: 5, capacity: 20 });
  breaker.run(async () => bucket.tryAcquire()).then((taken) => console.log(taken, breaker.state, bucket.remaining));`;

test("the tarball holds the package and this platform's binary, and nothing else", () => {
  const [packed] = JSON.parse(npm("pack", "--json", "--pack-destination", folder, root)) as [
    { filename: string; files: { path: string }[] },
  ];
  const names = packed.files.map(({ path }) => path);
  for (const name of ["package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE", "dist/index.js", "dist/index.mjs", "dist/index.d.ts", "dist/index.d.mts"]) {
    assert.ok(names.includes(name), name);
  }
  assert.equal(names.filter((name) => name.endsWith(".node")).length, 1);
  assert.deepEqual(names.filter((name) => !/^(package\.json|README\.md|LICENSE.*|dist\/[\w.-]+\.(m?js|d\.m?ts|node))$/.test(name)), []);
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "user", version: "1.0.0", private: true }));
  npm("install", "--no-audit", "--no-fund", "--offline", `./${packed.filename}`);
  assert.ok(existsSync(join(folder, "node_modules/seawall/dist/index.js")));
  const lock = readFileSync(join(folder, "package-lock.json"), "utf8");
  assert.equal(Object.keys(JSON.parse(lock).packages).length, 2, "it has no dependencies");
});

test("import", () => {
  const { stdout, stderr } = node("use.mjs", `import { CircuitBreaker, TokenBucket } from "seawall";${USE}`);
  assert.equal(stdout, "true closed 19\n", stderr);
});

test("require", () => {
  const { stdout, stderr } = node("use.cjs", `const { CircuitBreaker, TokenBucket } = require("seawall");${USE}`);
  assert.equal(stdout, "true closed 19\n", stderr);
});

test("import and require get the same classes", () => {
  const { stdout, stderr } = node(
    "both.mjs",
    `import { createRequire } from "node:module"; import * as esm from "seawall"; import { ManualClock } from "seawall/testing";
     const cjs = createRequire(import.meta.url)("seawall"); const testing = createRequire(import.meta.url)("seawall/testing");
     const missing = Object.keys(cjs).filter((name) => cjs[name] !== esm[name]);
     console.log(missing.length, Object.keys(cjs).length > 8, ManualClock === testing.ManualClock);`,
  );
  assert.equal(stdout, "0 true true\n", stderr);
});

for (const [kind, file] of [["ESM", "use.mts"], ["CommonJS", "use.cts"]] as const) {
  test(`TypeScript, as ${kind}`, () => {
    const source = `import { CircuitBreaker, TokenBucket, type Transition } from "seawall";
      import { ManualClock } from "seawall/testing";
      const seen: Transition[] = [];
      new CircuitBreaker({ clock: new ManualClock() }).onTransition((transition) => seen.push(transition));${USE}`;
    writeFileSync(join(folder, file), source);
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    const types = join(root, "node_modules/@types");
    const options = ["--strict", "--module", "nodenext", "--target", "es2022", "--typeRoots", types, "--types", "node"];
    const compiled = spawnSync(process.execPath, [compiler, ...options, file], { cwd: folder, encoding: "utf8" });
    assert.equal(compiled.status, 0, compiled.stdout);
    const script = file.replace("ts", "js");
    const { stdout, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: "utf8" });
    assert.equal(stdout, "true closed 19\n", stderr);
  });
}

test("TypeScript without the types of Node, declarations checked too", () => {
  writeFileSync(
    join(folder, "bare.mts"),
    `import { CircuitBreaker, TokenBucket } from "seawall"; import { ManualClock } from "seawall/testing";
     new CircuitBreaker({ clock: new ManualClock(), isFailure: (response) => response.status >= 500 });${USE}`,
  );
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", types: [], skipLibCheck: false };
  writeFileSync(join(folder, "bare.json"), JSON.stringify({ compilerOptions, files: ["bare.mts"] }));
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const { status, stdout } = spawnSync(process.execPath, [compiler, "-p", "bare.json"], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stdout);
});

const examples = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code!);

test("the README has examples", () => assert.equal(examples.length, 3));

for (const [place, code] of examples.entries()) {
  test(`example ${place + 1} of the README runs`, () => {
    const { status, stdout, stderr } = node(`example${place}.mjs`, code);
    assert.equal(status, 0, stderr);
    assert.equal(stdout, ["paid closed: 0 of the last 1 calls failed\n", "paid\n", "half-open\n"][place]);
  });
}

test("npm/cli#4828, napi-rs#1316: an installation from another platform says so, and what to do", () => {
  const dist = join(folder, "other");
  cpSync(join(folder, "node_modules/seawall/dist"), dist, { recursive: true });
  for (const name of readdirSync(dist)) if (name.endsWith(".node")) rmSync(join(dist, name));
  const { status, stderr } = node("other.cjs", `require("./other/index.js")`);
  assert.equal(status, 1);
  assert.match(stderr, new RegExp(`seawall: this installation has no binary for ${process.platform}-${process.arch}`));
  assert.match(stderr, /Cannot find module '\.\/seawall\..*\.node'/);
  assert.match(stderr, /install again here/);
  const strange = node("strange.cjs", `Object.defineProperty(process, "platform", { value: "plan9" }); require("./other/index.js")`);
  assert.match(strange.stderr, /no binary for plan9-.*\nTried: nothing is built for it/);
});

test("bun#3984, deno#23266: every binary is required by a literal name, for bundlers and single-file compilers", () => {
  const source = readFileSync(join(root, "dist/native.js"), "utf8");
  assert.equal(source.match(/require\("\.\/seawall\.[\w-]+\.node"\)/g)?.length, 9);
  assert.equal(source.match(/require\(/g)?.length, 9, "and none by any other");
});
