// Usage: schemas.mjs PATTERNS DIRECTORY. Compiles the JSON Schemas of a directory with Ajv, in its strict mode, and holds the
// examples in them against them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

let failed = false;

// The patterns that the export spells for both Go and JSON Schema mean here what Go's test says they mean.
const spelled = JSON.parse(readFileSync(process.argv[2], "utf8")).filter((row) => row.schema);
for (const { schema, match, other } of spelled) {
  const expression = new RegExp(schema, "u");
  for (const [texts, want] of [[match, true], [other, false]]) {
    for (const text of texts) {
      if (expression.test(text) !== want) {
        failed = true;
        console.error(`${schema} and ${JSON.stringify(text)}: want ${want}`);
      }
    }
  }
}
let count = 0;
let examples = 0;
for (const dir of process.argv.slice(3)) {
  for (const entry of readdirSync(dir, { recursive: true })) {
    if (!entry.endsWith(".json")) continue;
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
    formats(ajv);
    for (const hint of ["ip", "cidr", "duration"]) ajv.addFormat(hint, true); // hints of ours
    const schema = JSON.parse(readFileSync(join(dir, entry), "utf8"));
    try {
      const validate = ajv.compile(schema);
      count++;
      for (const example of schema.examples ?? []) {
        examples++;
        if (!validate(example)) throw new Error(`its example ${JSON.stringify(example)}: ${ajv.errorsText(validate.errors)}`);
      }
    } catch (error) {
      failed = true;
      console.error(`${join(dir, entry)}: ${error.message}`);
    }
  }
}
if (failed) process.exit(1);
console.log(`  ok ${spelled.length} patterns, ${count} JSON Schemas, ${examples} examples`);
