import { type Annotation, boundedAnnotation, noAnnotation } from '../base/annotation.js';
import { type ParameterValue, parameterOf, type Parameters } from '../base/scalar.js';
import { type Redact, redactedParameters } from '../text/redaction.js';

/** What the program of a run has declared of it, as its files have it; the parameters are also those that its sweep planned. */
type Declared = {
  readonly parameters: Parameters;
  readonly name: string | null;
  readonly tags: readonly string[];
  readonly note: string | null;
};

/**
 * The same as it is shown. `parameters`: without those that were planned, which keep their values. `differing`: what the program
 * says of these otherwise, in words; null: nothing.
 */
export type ShownDeclared = Declared & { readonly differing: string | null };

/** Parameters that are named where they differ. */
const MOST_NAMED = 3;

/**
 * The declarations of a program as its row shows them: parameters that the sweep has not planned, and in words those that differ
 * from the plan.
 *
 * @param planned The planned parameters as they are shown, and the name of the run.
 */
export function shownDeclared(
  declared: Declared,
  { name: own, parameters: planned }: { readonly name: string; readonly parameters: Parameters },
  redact: Redact,
): ShownDeclared {
  const { name, tags, note } = declared;
  const entries = Object.entries(redactedParameters(declared.parameters, redact));
  const differing = entries.flatMap(([key, value]) => {
    const plan = parameterOf(planned, key);
    return plan === undefined || isAlike(plan, value) ? [] : [`${key} ${textOf(value)} (planned: ${textOf(plan)})`];
  });
  return {
    parameters: Object.fromEntries(entries.filter(([key]) => parameterOf(planned, key) === undefined)),
    differing: differing.length === 0 ? null : `its program says ${someOf(differing)}`,
    name: name === null || name === own ? null : redact(name),
    ...{ tags: tags.map(redact), note: note === null ? null : redact(note) },
  };
}

/** Fields of a row. @param annotation A person's: their tags are beside those of the program, their note is in its place. */
export function declaredFields(declared: ShownDeclared | undefined, annotation: Annotation | null | undefined) {
  if (declared === undefined) return { annotation };
  const { parameters, name, tags, note } = declared;
  const own = annotation ?? noAnnotation;
  return {
    ...(Object.keys(parameters).length === 0 ? {} : { declared: parameters }),
    ...(name === null ? {} : { displayName: name }),
    annotation: boundedAnnotation({ ...own, tags: [...own.tags, ...tags], note: own.note ?? note }),
  };
}

function someOf(words: readonly string[]): string {
  const more = words.length - MOST_NAMED;
  return words.slice(0, MOST_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Whether two values may be the same one in two spellings: `1e-3` and 0.001, `True` and true, a path and its end, `a,b` and a list. */
function isAlike(plan: ParameterValue, said: ParameterValue): boolean {
  const [first, second] = [textOf(plan).toLowerCase(), textOf(said).toLowerCase()];
  if (first === second || fits(first.split(/\$\{[^}]*\}/), second)) return true;
  const [x, y] = [Number(first), Number(second)];
  if (!Number.isNaN(x) && !Number.isNaN(y)) return Math.abs(x - y) <= 1e-9 * Math.abs(x);
  return first.endsWith(second) || second.endsWith(first);
}

/** Whether a text has these parts, with anything between them: in a plan, `${sweep_dir}/base` stands for where that is. */
function fits([first = '', ...others]: readonly string[], text: string): boolean {
  const last = others.pop();
  if (last === undefined || !text.startsWith(first) || !text.endsWith(last)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= text.length - last.length;
}

function textOf(value: ParameterValue): string {
  if (value === null) return 'None';
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object')) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
