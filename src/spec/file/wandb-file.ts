import { isMapValue, type ParameterValue } from '../../base/scalar.js';
import { didYouMean } from '../../text/nearest.js';
import type { ParameterRule, ParameterRules } from './block.js';
import type { ParametersText, ParameterText } from './parameter-schema.js';
import { launchKeys } from './schema-diagnostics.js';
import { type SweepText, wandbKeys, WandbText } from './sweep-schema.js';

/**
 * Whether a file is one of W&B's: it has a `method` and no `groups`. Then W&B's ways hold: parameters in alphabetical order
 * at every level of nesting, each point once, nested parameters passed as one argument, macros that nobody knows left out.
 * Our own keys may still be added to it.
 */
export function isWandbFile(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && 'method' in value && !('groups' in value);
}

/** Parameters as `sorted(…)` at every level of nesting gives them, and so are the keys of values that are maps. */
export function wandbOrder(rules: ParameterRules): ParameterRules {
  return new Map([...rules].sort(byPath).map(([name, rule]) => [name, withSortedMaps(rule)]));
}

function byPath([, left]: readonly [string, ParameterRule], [, right]: readonly [string, ParameterRule]): number {
  for (let level = 0; ; level += 1) {
    const [a, b] = [left.path[level], right.path[level]];
    if (a !== b) return a === undefined || (b !== undefined && a < b) ? -1 : 1;
    if (a === undefined) return 0;
  }
}

function withSortedMaps(rule: ParameterRule): ParameterRule {
  return rule.kind === 'axis' ? { ...rule, values: rule.values.map(sortedMaps) } : rule;
}

function sortedMaps(value: ParameterValue): ParameterValue {
  if (Array.isArray(value)) return value.map(sortedMaps);
  if (!isMapValue(value)) return value;
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, inner]) => [key, sortedMaps(inner)]));
}

type Read =
  | { success: true; data: SweepText; notes: string[] }
  | Extract<ReturnType<typeof WandbText.safeParse>, { success: false }>;

/**
 * A W&B file in the words of ours. Its name may be any text, so it is made safe for a folder.
 *
 * `project` and `entity` become variables of the runs, so that their `wandb.init()` goes where the file says; a variable
 * of that name in `env` wins. Keys that nobody knows are passed over with a note, as `wandb sweep` does.
 */
export function readWandbText(value: Readonly<Record<string, unknown>>, safeName: (text: string) => string): Read {
  const strange = Object.keys(value).filter((key) => !wandbKeys.includes(key) && !launchKeys.has(key));
  const known = Object.fromEntries(Object.entries(value).filter(([key]) => !strange.includes(key)));
  const said = WandbText.safeParse(known);
  if (!said.success) return said;
  const { name, project, entity, controller, ...rest } = said.data;
  const place = {
    ...(project === undefined ? {} : { WANDB_PROJECT: project }),
    ...(entity === undefined ? {} : { WANDB_ENTITY: entity }),
  };
  const named = name === undefined ? {} : { name: safeName(name) };
  const data = { ...rest, ...named, env: { ...place, ...rest.env } };
  const notes = [
    ...strange.slice(0, mostNotes).map(strangeNote),
    ...(controller === undefined ? [] : ["`controller` is for W&B's server; nothing here depends on it."]),
    ...(rest.method === 'bayes' ? [] : searchNotes(rest.metric ?? {})),
    ...exponentNotes(rest.parameters ?? {}),
  ];
  return { success: true, data, notes };
}

const mostNotes = 20;

function strangeNote(key: string): string {
  return `\`${key}\` is not a key of a W&B sweep file and is passed over, as in W&B. ${didYouMean(key, wandbKeys)}`.trim();
}

/** Keys that only a Bayesian search has a use for, said so that nobody waits for their effect. */
function searchNotes(metric: { impute?: unknown; impute_while_running?: unknown }): string[] {
  const keys = ['impute', 'impute_while_running'] as const;
  return keys
    .filter((key) => metric[key] !== undefined)
    .map((key) => `\`metric.${key}\` matters to \`method: bayes\` only.`);
}

/** Distributions whose ends are exponents, which W&B warns of: they are often taken for values. */
const byExponent = new Set(['log_uniform', 'inv_log_uniform', 'q_log_uniform']);

function exponentNotes(parameters: ParametersText, outer = ''): string[] {
  return Object.entries(parameters).flatMap(([name, text]: [string, ParameterText]) => {
    if (typeof text !== 'object' || text === null || Array.isArray(text)) return [];
    if (text.parameters) return exponentNotes(text.parameters, `${outer}${name}.`);
    const { distribution = '' } = text;
    if (!byExponent.has(distribution)) return [];
    return [
      `\`${outer}${name}\` is drawn from ${distribution}, whose \`min\` and \`max\` are exponents of e; ${distribution}_values has the values themselves.`,
    ];
  });
}
