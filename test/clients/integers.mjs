// Sends 64-bit integers as text, and as the number that JavaScript makes of them.
//
//   node integers.mjs sdk|client BINARY

import assert from "node:assert/strict";
import { connect } from "./connect.mjs";

const [library, binary] = process.argv.slice(2);
const client = await connect(library, "stdio", binary, ["-log-level", "warn"]);

async function call(tool, operation, params) {
  const result = await client.callTool({ name: tool, arguments: { operation, params } });
  return JSON.parse(result.content[0].text);
}

const exact = "9007199254740993"; // 2^53 + 1: Number(exact) is 9007199254740992
assert.notEqual(String(Number(exact)), exact);

const details = await call("mcp_aql_read", "introspect", { query: "operations", name: "create_account" });
const number = details.data.operation.parameters.find((p) => p.name === "number");
assert.equal(number.type, "string");

const created = await call("mcp_aql_create", "create_account", { number: exact, name: "Ada" });
assert.deepEqual(created.data, { number: exact, name: "Ada", read: exact });
const read = await call("mcp_aql_read", "get_account", { number: created.data.number });
assert.deepEqual(read.data, created.data);

const rounded = await call("mcp_aql_read", "get_account", { number: Number(exact) });
assert.equal(rounded.success, false);
assert.match(rounded.error.code, /^VALIDATION_/);
const safe = await call("mcp_aql_create", "create_account", { number: Number.MAX_SAFE_INTEGER, name: "Bob" });
assert.equal(safe.data.read, "9007199254740991");
await client.close();
console.log(`  ok ${library} stdio: ${exact} comes back as it was sent, and what JavaScript has rounded is refused`);
