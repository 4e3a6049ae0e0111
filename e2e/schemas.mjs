// Compiles the JSON Schemas of a directory with Ajv, in its strict mode, and holds the examples in them against them.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import Ajv2020 from "ajv/dist/2020.js";
import formats from "ajv-formats";

let failed = false;
let count = 0;
let examples = 0;
for (const dir of process.argv.slice(2)) {
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
console.log(`  ok ${count} JSON Schemas, ${examples} examples`);
