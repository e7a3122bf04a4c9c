// Builds the native half for this platform and puts it where the loader looks.

import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const dist = join(root, "node", "dist");

/** As in src/native.ts. */
function triple() {
  const { platform, arch } = process;
  if (platform === "darwin") return `darwin-${arch}`;
  if (platform === "win32") return `win32-${arch}-msvc`;
  if (arch === "arm") return "linux-arm-gnueabihf";
  const glibc = process.report.getReport().header.glibcVersionRuntime;
  return `linux-${arch}-${glibc ? "gnu" : "musl"}`;
}

const LIBRARY = { darwin: "libseawall_node.dylib", win32: "seawall_node.dll" };

const cargo = ["build", "--profile", "wheel", "--package", "seawall-node", "--message-format=json-render-diagnostics"];
const messages = execFileSync("cargo", cargo, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28, stdio: ["ignore", "pipe", "inherit"] });
const files = messages
  .split("\n")
  .filter((line) => line.startsWith("{"))
  .flatMap((line) => JSON.parse(line).filenames ?? []);
const library = files.find((file) => file.endsWith(LIBRARY[process.platform] ?? "libseawall_node.so"));
if (library === undefined) throw new Error("cargo built no library");

mkdirSync(dist, { recursive: true });
const binary = join(dist, `seawall.${triple()}.node`);
// Renamed into place: a process that has the old one loaded keeps it whole.
copyFileSync(library, `${binary}.new`);
renameSync(`${binary}.new`, binary);
// The tarball carries the licences; npm takes them only from the package's own folder.
for (const name of readdirSync(root).filter((name) => name.startsWith("LICENSE"))) {
  copyFileSync(join(root, name), join(root, "node", name));
}
console.log(`built ${binary.slice(root.length + 1)}`);
