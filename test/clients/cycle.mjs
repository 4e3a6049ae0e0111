// Drives the todo adapter with MCP clients that are not the Go SDK's: lists tools, introspects, creates,
// reads, updates, lists, imports and deletes.
//
//   node cycle.mjs sdk|client stdio BINARY
//   node cycle.mjs sdk|client http URL

import assert from "node:assert/strict";
import { connect } from "./connect.mjs";

const [library, kind, target] = process.argv.slice(2);

const client = await connect(library, kind, target, ["-db", ":memory:", "-log-level", "warn"]);

async function call(tool, operation, params) {
  const result = await client.callTool({ name: tool, arguments: { operation, params } });
  assert.equal(result.content.length, 1);
  assert.equal(result.content[0].type, "text");
  const response = JSON.parse(result.content[0].text);
  assert.equal(typeof response.success, "boolean");
  assert.equal(result.isError ?? false, false, `isError for ${operation}`);
  return response;
}

function step(text) {
  console.log(`  ok ${library} ${kind}: ${text}`);
}

const { tools } = await client.listTools();
assert.deepEqual(tools.map((t) => t.name).sort(), ["mcp_aql_create", "mcp_aql_delete", "mcp_aql_execute", "mcp_aql_read", "mcp_aql_update"]);
const byName = Object.fromEntries(tools.map((t) => [t.name, t]));
assert.equal(byName.mcp_aql_read.annotations.readOnlyHint, true);
assert.equal(byName.mcp_aql_read.annotations.destructiveHint, false);
assert.equal(byName.mcp_aql_delete.annotations.destructiveHint, true);
step("five tools with annotations");

const list = await call("mcp_aql_read", "introspect", { query: "operations" });
assert.equal(list.data._protocol.version, "1.0.0-draft");
assert.ok(list.data.operations.some((o) => o.name === "create_todo" && o.endpoint === "create"));
for (const { name } of list.data.operations) {
  const details = await call("mcp_aql_read", "introspect", { query: "operations", name });
  assert.equal(details.data.operation.name, name);
}
step(`introspection of ${list.data.operations.length} operations`);

const created = await call("mcp_aql_create", "create_todo", { title: "Buy milk", tags: [library], metadata: { color: "red", labels: { shop: "corner" } } });
assert.equal(created.data.priority, "medium");
const todo_id = created.data.todo_id;
const read = await call("mcp_aql_read", "get_todo", { todo_id });
assert.deepEqual(read.data, created.data);
step("created, and read back unchanged");

const updated = await call("mcp_aql_update", "update_todo", { todo_id, if_match: read.data._etag, input: { title: "Buy oat milk", metadata: { labels: { aisle: "3" } } } });
assert.equal(updated.data.title, "Buy oat milk");
assert.deepEqual(updated.data.metadata, { color: "red", labels: { shop: "corner", aisle: "3" } });
const stale = await call("mcp_aql_update", "update_todo", { todo_id, if_match: read.data._etag, input: { title: "x" } });
assert.equal(stale.error.code, "CONFLICT_VERSION_MISMATCH");
step("updated by deep merge; a stale version is refused");

await call("mcp_aql_create", "create_todo", { title: "Buy bread", tags: [library] });
const params = { filter: { title: { starts: "buy" }, tags: library }, sort: { field: "title" }, fields: ["title"], first: 1 };
const page = await call("mcp_aql_read", "list_todos", params);
assert.deepEqual(page.data.items.map((t) => t.title), ["Buy bread"]);
assert.equal(page.data.pageInfo.hasNextPage, true);
const next = await call("mcp_aql_read", "list_todos", { ...params, after: page.data.pageInfo.endCursor });
assert.deepEqual(next.data.items.map((t) => t.title), ["Buy oat milk"]);
assert.equal(next.data.pageInfo.hasNextPage, false);
const foreign = await call("mcp_aql_read", "list_todos", { ...params, filter: {}, after: page.data.pageInfo.endCursor });
assert.equal(foreign.error.details.param_name, "after");
step("listed page by page; a cursor of another filter is refused");

let execution = (await call("mcp_aql_execute", "import_todos", { todos: [{ title: `Water the plants of ${library}` }] })).data;
const { execution_id } = execution;
while (["pending", "running"].includes(execution.status)) {
  execution = (await call("mcp_aql_read", "get_execution", { execution_id, wait_ms: 10000, after_version: execution.version })).data;
}
assert.equal(execution.status, "completed");
assert.deepEqual(execution.result, { added: 1, overwritten: 0, kept: 0 });
step("imported in the background");

const typo = await call("mcp_aql_create", "create_todo", { title: "x", priorty: "high" });
assert.equal(typo.error.code, "VALIDATION_UNKNOWN_PARAM");
const wrong = await call("mcp_aql_read", "delete_todo", { todo_id });
assert.equal(wrong.error.code, "VALIDATION_ENDPOINT_MISMATCH");
step("a misspelt parameter and a wrong endpoint are refused");

const asked = await call("mcp_aql_delete", "delete_todo", { todo_id });
assert.equal(asked.error.code, "CONFIRMATION_REQUIRED");
const confirmed = await call("mcp_aql_delete", "delete_todo", { todo_id, confirmation_token: asked.error.details.confirmation_token });
assert.deepEqual(confirmed, { success: true, data: null });
const gone = await call("mcp_aql_read", "get_todo", { todo_id });
assert.equal(gone.error.code, "NOT_FOUND_RESOURCE");
step("deleted after confirmation");

await client.close();
