// Debugs a game with the test client of the Debug Adapter Protocol, and prints the session.
//
//     NODE_PATH=FOLDER/node_modules node protocol_client.js ENGINE GAME
//
// FOLDER is one in which `npm install @vscode/debugadapter-testsupport` was run, and GAME has the
// main.lua of the first session in docs/debugging.md.
"use strict";

const path = require("path");
const { DebugClient } = require("@vscode/debugadapter-testsupport");

const [engine, game] = process.argv.slice(2);
const thread = { threadId: 1 };

async function location(client) {
  const frame = (await client.stackTraceRequest(thread)).body.stackFrames[0];
  return `${frame.source.name}:${frame.line}`;
}

async function stopped(client, title, action) {
  const event = client.waitForEvent("stopped");
  await action();
  const reason = (await event).body.reason;
  console.log(`${title}: ${reason} at ${await location(client)}`);
}

async function evaluate(client, expression) {
  const frameId = (await client.stackTraceRequest(thread)).body.stackFrames[0].id;
  const answer = await client.evaluateRequest({ expression, frameId, context: "repl" });
  console.log(`> ${expression}\n${answer.body.result}`);
}

async function main() {
  const client = new DebugClient(engine, "dap", "engine");
  await client.start();
  const capabilities = (await client.initializeRequest()).body;
  console.log(`initialize: ${Object.keys(capabilities).length} capabilities`);
  const initialized = client.waitForEvent("initialized");
  await client.launchRequest({ folder: game, headless: true });
  await initialized;
  const source = { path: path.join(game, "main.lua") };
  const set = (breakpoints) => client.setBreakpointsRequest({ source, breakpoints });
  await set([{ line: 5 }]);
  await client.setExceptionBreakpointsRequest({ filters: ["uncaught"] });
  await stopped(client, "launch", () => client.configurationDoneRequest());
  const frameId = (await client.stackTraceRequest(thread)).body.stackFrames[0].id;
  for (const scope of (await client.scopesRequest({ frameId })).body.scopes.slice(0, 2)) {
    const { variables } = (await client.variablesRequest(scope)).body;
    console.log(`${scope.name}: ${variables.map((it) => `${it.name} = ${it.value}`).join(", ")}`);
  }
  await evaluate(client, "score + points");
  await stopped(client, "next", () => client.nextRequest(thread));
  await evaluate(client, "score");
  await stopped(client, "step out", () => client.stepOutRequest(thread));
  await set([]);
  await evaluate(client, "score = nil");
  await stopped(client, "continue", () => client.continueRequest(thread));
  const { exceptionId, details } = (await client.customRequest("exceptionInfo", thread)).body;
  console.log(`exceptionInfo: ${exceptionId}: ${details.message.split("\n")[0]}`);
  await client.disconnectRequest();
  await client.stop();
}

main().catch((problem) => {
  console.error(problem);
  process.exit(1);
});
