import type { z } from 'zod';
import { keyText, type LocatedDiagnostic, type KeyPath } from './diagnostic.js';
import { didYouMean } from '../../text/nearest.js';
import { parameterKeys } from './parameter-schema.js';
import { policyKeys } from './policy-schema.js';
import { groupKeys, sweepKeys } from './sweep-schema.js';
import type { YamlSource } from './yaml-source.js';

type Issue = z.core.$ZodIssue;

/** Translates a schema's issues into messages for the author of the file. */
export function schemaDiagnostics(source: YamlSource, issues: readonly Issue[]): LocatedDiagnostic[] {
  const flat = issues.flatMap((issue) => unfold(issue, []));
  const strange = new Set(
    flat.filter(({ issue }) => issue.code === 'unrecognized_keys').map(({ keys }) => keyText(keys)),
  );
  return flat
    .filter(({ issue, keys }) => issue.code !== 'custom' || !strange.has(keyText(keys)))
    .flatMap((found) => diagnosticsOf(source, found));
}

type Found = { issue: Issue; keys: KeyPath };

/**
 * Unfolds an issue. A union fails as a whole; if one of its forms was clearly meant, the mistake inside that form is more helpful.
 */
function unfold(issue: Issue, above: KeyPath): Found[] {
  const keys = [...above, ...(issue.path as KeyPath)];
  if (issue.code !== 'invalid_union') return [{ issue, keys }];
  const meant = (issue.errors as Issue[][])
    .filter((branch) => branch.length > 0 && branch.every((inner) => !isAboutWhole(inner)))
    .sort((left, right) => weight(left) - weight(right))[0];
  return meant ? meant.flatMap((inner) => unfold(inner, keys)) : [{ issue, keys }];
}

function isAboutWhole(issue: Issue): boolean {
  return issue.path.length === 0 && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code);
}

function weight(issues: readonly Issue[]): number {
  return issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
}

function diagnosticsOf(source: YamlSource, { issue, keys }: Found): LocatedDiagnostic[] {
  if (issue.code === 'unrecognized_keys') return unknownKeys(source, keys, issue.keys);
  if (issue.code === 'invalid_key') {
    const expected = issue.issues[0]?.message ?? 'another name';
    const problem = `\`${String(keys.at(-1))}\` cannot be a name here.`;
    return [{ place: source.placeOfKey(keys), keys, problem, fix: `Rename it: ${expected}.` }];
  }
  return [wrongValue(source, keys, issue.message)];
}

function wrongValue(source: YamlSource, keys: KeyPath, expected: string): LocatedDiagnostic {
  const found = valueAt(source.value, keys);
  if (found === undefined) {
    const problem = `\`${String(keys.at(-1))}\` is missing; expected ${expected}.`;
    return { place: source.placeOfKey(keys.slice(0, -1)), keys, problem, fix: `Add \`${String(keys.at(-1))}\`.` };
  }
  // The message of a name is an imperative; all others state what is expected.
  const problem = expected.startsWith('use ')
    ? `${described(found)} cannot be a name: ${expected}.`
    : `expected ${expected}, but found ${described(found)}.`;
  return { place: source.placeOf(keys), keys, problem, fix: fixFor(keys, found) };
}

function fixFor(keys: KeyPath, found: unknown): string {
  const key = keyText(keys);
  if (key === '')
    return 'Write keys with values, such as `command: [python, train.py]`; `memrl-tui init train.py` makes a file.';
  if (keys.at(-1) === 'method' && found === 'custom') {
    return 'Write `method: bayes`, which chooses points by results, or `method: random`.';
  }
  if (typeof found === 'number' && !Number.isFinite(found)) return `Put the value of \`${key}\` in quotes.`;
  if (keys.at(-1) === 'command' && typeof found === 'string') {
    const items = found.split(/\s+/).filter((item) => item !== '');
    return `Write \`command\` as a list: [${items.map((item) => JSON.stringify(item)).join(', ')}]`;
  }
  return `Change \`${key}\` to what is expected.`;
}

/** Keys of W&B's files that have no meaning here. */
const wandbOnly = new Set(['project', 'entity', 'apiVersion', 'kind', 'controller']);
/** Keys of W&B Launch, which this program cannot start. */
export const launchKeys: ReadonlySet<string> = new Set(['job', 'image_uri', 'scheduler']);

const mostHints = 20;

function unknownKeys(source: YamlSource, above: KeyPath, keys: readonly string[]): LocatedDiagnostic[] {
  // A hint for each key compares it with all known ones, so their number is limited.
  return keys.slice(0, mostHints).map((key) => unknownKey(source, above, key));
}

function unknownKey(source: YamlSource, above: KeyPath, key: string): LocatedDiagnostic {
  const keys = [...above, key];
  const place = source.placeOfKey(keys);
  if (above.length === 0 && launchKeys.has(key)) {
    const problem = `\`${key}\` is for W&B Launch, which starts containers elsewhere; this program starts commands on this machine.`;
    return {
      place,
      keys,
      problem,
      fix: `Remove \`${key}\`, and say what to run: \`command: [python, train.py, "\${args}"]\`.`,
    };
  }
  if (above.length === 0 && wandbOnly.has(key)) {
    const problem = `\`${key}\` belongs to a W&B sweep file, which has a \`method\` and no \`groups\`.`;
    return { place, keys, problem, fix: `Remove \`${key}\`.` };
  }
  const known = knownKeys(above);
  const problem = `\`${key}\` is not a key of ${above.length === 0 ? 'a sweep file' : `\`${keyText(above)}\``}. ${didYouMean(key, known)}`;
  return { place, keys, problem, fix: 'Correct the key, or remove the line.' };
}

function isParameter(above: KeyPath): boolean {
  return above.at(-2) === 'parameters' || above.at(-3) === 'cases';
}

const inner: Record<string, readonly string[]> = {
  ...policyKeys,
  resources: ['gpus', 'per_gpu', 'gpu_memory', 'mps', 'cpus', 'nice'],
  metrics: ['show', 'x', 'progress', 'folders', 'patterns'],
  progress: ['key', 'total'],
  stop_when: ['when', 'for'],
  done: ['exit', 'file', 'where', 'output', 'command', 'timeout'],
};

function knownKeys(above: KeyPath): readonly string[] {
  if (above.length === 0) return sweepKeys;
  if (above.length === 2 && above[0] === 'groups') return groupKeys;
  if (isParameter(above)) return parameterKeys;
  const last = String(above.at(-1));
  return Object.hasOwn(inner, last) ? inner[last]! : [];
}

function valueAt(value: unknown, keys: KeyPath): unknown {
  return keys.reduce<unknown>(
    (inside, key) =>
      typeof inside === 'object' && inside !== null && Object.hasOwn(inside, key)
        ? (inside as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );
}

function described(found: unknown): string {
  if (found === null) return 'nothing';
  if (Array.isArray(found)) return found.length === 0 ? 'an empty list' : 'a list';
  if (typeof found === 'object') return Object.keys(found).length === 0 ? 'an empty map' : 'a map';
  if (typeof found !== 'string') return typeof found === 'number' ? `the number ${found}` : JSON.stringify(found);
  return `the text ${JSON.stringify(found.length > 40 ? `${found.slice(0, 40)}…` : found)}`;
}
