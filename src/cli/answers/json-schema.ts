/** The JSON Schema of each `--json` answer, as `docs/json/` has it and `memrl-tui schema` prints it. */
import * as z from 'zod';
import { type AnswerName, answerNames, answerTable } from './answer-table.js';
import { exitCodes } from './exit-codes.js';
import { schemas } from './schemas.js';

/** The text of each file in `docs/json`, by its name: a schema for each answer, and the exit codes. */
export function schemaFiles(): Readonly<Record<string, string>> {
  const schemas = answerNames.map((name): [string, object] => [name, answerSchema(name)]);
  const files = [...schemas, ['exit-codes', exitCodes] as const];
  return Object.fromEntries(files.map(([name, value]) => [`${name}.json`, `${JSON.stringify(value, null, 2)}\n`]));
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
