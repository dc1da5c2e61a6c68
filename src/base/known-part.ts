import type * as z from 'zod';

/** `unknown`: keys that the schema does not have, each with where it was (`plan.groups.0.colour`). */
type KnownPart<Value> = { success: true; data: Value; unknown: string[] } | { success: false; error: z.ZodError };

/**
 * What a newer version of a program wrote, as far as this one knows it: a strict schema refuses a key that it does not have, and
 * with it all that stands beside it. Here that key alone is lost, and the caller can say so.
 *
 * @param json Made by `JSON.parse` and nobody else's: unknown keys are deleted from it.
 */
export function knownPart<Value>(schema: z.ZodType<Value>, json: unknown): KnownPart<Value> {
  const unknown: string[] = [];
  for (;;) {
    const parsed = schema.safeParse(json);
    if (parsed.success) return { success: true, data: parsed.data, unknown };
    const { error } = parsed;
    const found = unknownKeys(error.issues, []);
    // Each time there are fewer keys.
    if (found === null || !found.map((path) => deleteAt(json, path)).every(Boolean)) return { success: false, error };
    unknown.push(...found.map((path) => path.join('.')));
  }
}

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** Paths of unknown keys; null: something else is wrong, too. */
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

/** Of a union it must be one member of which nothing but keys is unknown. */
function inUnion(issue: Issue, path: Path): Path[] | null {
  if (issue.code !== 'invalid_union') return null;
  for (const issues of issue.errors) {
    const paths = issues.length === 0 ? null : unknownKeys(issues, path);
    if (paths !== null) return paths;
  }
  return null;
}

/** Whether there was something to delete. */
function deleteAt(json: unknown, path: Path): boolean {
  let at = json;
  for (const key of path.slice(0, -1)) at = (at as Record<PropertyKey, unknown> | undefined)?.[key];
  return (
    typeof at === 'object' && at !== null && Reflect.has(at, path.at(-1)!) && Reflect.deleteProperty(at, path.at(-1)!)
  );
}
