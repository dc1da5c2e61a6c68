/** The JSON Schema of each `--json` answer, as `docs/json/` has it and `memrl-tui schema` prints it. */
import * as z from 'zod';
import { type AnswerName, answerNames, answerTable } from './answer-table.js';
import { schemas } from './schemas.js';

/** By name of the file in `docs/json`, the text of it. */
export function schemaFiles(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    answerNames.map((name) => [`${name}.json`, `${JSON.stringify(answerSchema(name), null, 2)}\n`]),
  );
}

/** The schema of an answer with its version, as a program checks what was printed. */
export function versionedSchema(name: AnswerName): z.ZodObject | z.ZodArray<z.ZodObject> {
  const schema: z.ZodObject | z.ZodArray<z.ZodObject> = schemas[name];
  return schema instanceof z.ZodArray ? z.array(withVersion(schema.element, name)) : withVersion(schema, name);
}

function withVersion(schema: z.ZodObject, name: AnswerName): z.ZodObject {
  return z.object({ version: z.literal(answerTable[name].version), ...schema.shape });
}

/**
 * JSON Schema, draft 2020-12. A reader is to ignore fields that it does not know, so none are forbidden; `x-may-grow` marks words of
 * which there may be more in a later version.
 */
function answerSchema(name: AnswerName): object {
  const { about, lines } = answerTable[name];
  const title = `${about}: ${lines.map((line) => `memrl-tui ${line} --json`).join(', ')}`;
  return z.toJSONSchema(versionedSchema(name).meta({ title }), { io: 'input', override: withoutWidestRange });
}

/** Every whole number in JSON is one that a program can hold; zod says so at each. */
function withoutWidestRange({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
