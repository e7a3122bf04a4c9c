// The outermost of three services, the one that users reach: it calls the one below, under a policy.
//
//     chain_node.mjs --below PORT --attempts N
//
// Prints {"port":N}, then answers POST with 200 when the service below did, else with 503, until standard input
// ends.
import { createServer } from "node:http";
import { parseArgs } from "node:util";
import { Policy } from "seawall";

const { values: options } = parseArgs({ options: { below: { type: "string" }, attempts: { type: "string" } } });

class Unavailable extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

const policy = new Policy({
  timeouts: { connect: "1s", attempt: "30s", total: "60s" },
  retry: { idempotent: "by_key", attempts: Number(options.attempts) },
  backoff: { base: "1ms", cap: "5ms" },
});

async function ask({ signal }) {
  const answer = await fetch(`http://127.0.0.1:${options.below}/pay`, { method: "POST", signal });
  await answer.arrayBuffer();
  if (answer.status !== 200) throw new Unavailable(answer.status);
}

const server = createServer(async (request, response) => {
  request.resume();
  try {
    await policy.run(ask);
    response.statusCode = 200;
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error;
    response.statusCode = 503;
  }
  response.end();
});
server.listen(0, "127.0.0.1", () => process.stdout.write(`{"port":${server.address().port}}\n`));
process.stdin.on("end", () => process.exit(0)).resume();
