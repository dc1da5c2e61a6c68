import type * as z from 'zod';

/** `unknown`: keys that the schema does not have, each with where it was (`plan.groups.0.colour`). */
type KnownPart<Value> = { success: true; data: Value; unknown: string[] } | { success: false; error: z.ZodError };

/**
 * Parses what a newer version of the program may have written: a strict schema rejects the whole object for one unknown key,
 * whereas here only that key is dropped, and the caller can report it.
 *
 * @param json The result of a `JSON.parse` that nobody else uses: unknown keys are deleted from it.
 */
export function knownPart<Value>(schema: z.ZodType<Value>, json: unknown): KnownPart<Value> {
  const unknown: string[] = [];
  for (;;) {
    const parsed = schema.safeParse(json);
    if (parsed.success) return { success: true, data: parsed.data, unknown };
    const { error } = parsed;
    const found = unknownKeys(error.issues, []);
    // Every round deletes at least one key, so the loop ends.
    if (found === null || !found.map((path) => deleteAt(json, path)).every(Boolean)) return { success: false, error };
    unknown.push(...found.map((path) => path.join('.')));
  }
}

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** The paths of the unknown keys; null: the issues include other errors. */
function unknownKeys(issues: readonly Issue[], above: Path): Path[] | null {
  const found: Path[] = [];
  for (const issue of issues) {
    const path = [...above, ...issue.path];
    const paths = issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : inUnion(issue, path);
    if (paths === null) return null;
    found.push(...paths);
  }
  return found;
}

/** The unknown keys of the first member of a union that has no other errors; null: each has. */
function inUnion(issue: Issue, path: Path): Path[] | null {
  if (issue.code !== 'invalid_union') return null;
  for (const issues of issue.errors) {
    const paths = issues.length === 0 ? null : unknownKeys(issues, path);
    if (paths !== null) return paths;
  }
  return null;
}

/** Deletes a key; false: it does not exist. */
function deleteAt(json: unknown, path: Path): boolean {
  let at = json;
  for (const key of path.slice(0, -1)) at = (at as Record<PropertyKey, unknown> | undefined)?.[key];
  return (
    typeof at === 'object' && at !== null && Reflect.has(at, path.at(-1)!) && Reflect.deleteProperty(at, path.at(-1)!)
  );
}
