import type { KeyPath } from '../file/diagnostic.js';
import type { ForeignYaml } from './foreign-yaml.js';
import type { HydraValue } from './hydra-value.js';
import { type ImportNote, isMap, type Written, type WrittenMap } from './sweep-text.js';

/** What a sweep with Optuna comes to: the keys of the sweep file besides command and parameters. */
type Search = { readonly keys: WrittenMap; readonly notes: readonly ImportNote[]; readonly options: readonly string[] };

/** Optuna's sweeper has this many trials where the file does not say. */
const usualTrials = 20;

/** The search of Optuna's sweeper; null: the sweeper is Hydra's own, which runs the grid. */
export function searchOf(yaml: ForeignYaml, place: KeyPath): Search | null {
  if (!isSearching(yaml, place)) return null;
  const sampler = (yaml.textAt([...place, 'sampler', '_target_']) || 'TPESampler').replace(/^.*\./, '');
  const metric = metricOf(yaml, place);
  const method = methodOf(sampler, metric !== null);
  const trials = yaml.at([...place, 'n_trials']);
  const isCounted = typeof trials === 'number' && Number.isInteger(trials) && trials > 0;
  const jobs = yaml.textAt([...place, 'n_jobs']);
  const cap = { run_cap: isCounted ? trials : usualTrials };
  return {
    keys: {
      ...(metric === null ? {} : { metric }),
      ...(method === 'grid' ? {} : { ...cap, groups: { [method]: { method } } }),
    },
    notes: notesOf(yaml, place, { sampler, method, metric, isCounted }),
    options: /^[1-9]\d*$/.test(jobs) ? ['--slots', jobs] : [],
  };
}

function isSearching(yaml: ForeignYaml, place: KeyPath): boolean {
  const target = yaml.textAt([...place, '_target_']);
  if (target !== '') return !target.includes('Basic');
  const sweeper = yaml.mapAt(place);
  if (sweeper['n_trials'] !== undefined || sweeper['search_space'] !== undefined) return true;
  const defaults = yaml.at(['defaults']);
  const isSweeper = (each: unknown) =>
    isMap(each) && Object.entries(each).some(([key, name]) => /hydra\/sweeper$/.test(key) && name !== 'basic');
  return Array.isArray(defaults) && defaults.some(isSweeper);
}

type Method = 'grid' | 'random' | 'bayes';

function methodOf(sampler: string, hasMetric: boolean): Method {
  if (sampler === 'GridSampler') return 'grid';
  return sampler === 'RandomSampler' || !hasMetric ? 'random' : 'bayes';
}

/** The metric of the search; null: the file only says that the program returns it. */
function metricOf(yaml: ForeignYaml, place: KeyPath): { name: string; goal: string } | null {
  const name = yaml.textAt(['optimized_metric']);
  const direction = yaml.at([...place, 'direction']);
  if (name === '' || Array.isArray(direction)) return null;
  return { name, goal: direction === 'maximize' ? 'maximize' : 'minimize' };
}

type Found = { sampler: string; method: Method; metric: { name: string } | null; isCounted: boolean };

function notesOf(yaml: ForeignYaml, place: KeyPath, { sampler, method, metric, isCounted }: Found): ImportNote[] {
  const note = (isSaid: boolean, key: string | null, text: string): ImportNote[] =>
    isSaid ? [{ line: key === null ? null : yaml.lineOf([...place, key]), text }] : [];
  const { direction, storage } = yaml.mapAt(place);
  const isUnguided = method === 'random' && sampler !== 'RandomSampler';
  return [
    ...note(
      method === 'bayes',
      null,
      `points are proposed by our own search from the metric \`${metric?.name ?? ''}\`, not by Optuna's ${sampler}.`,
    ),
    ...note(
      isUnguided,
      null,
      `points are drawn at random: ${sampler} goes by the value that the program returns, and the file names no metric for it. Write \`metric: { name: …, goal: … }\`, and \`method: bayes\` into the group.`,
    ),
    ...note(method === 'random', null, 'other points are drawn than by Optuna.'),
    ...note(
      method !== 'grid' && !isCounted,
      null,
      `there is no \`n_trials\`; \`run_cap\` is ${usualTrials}, as for Optuna's sweeper.`,
    ),
    ...note(Array.isArray(direction), 'direction', 'several directions are left out: a sweep has one metric.'),
    ...note(Boolean(storage), 'storage', '`storage` is left out: runs of an earlier study are not known here.'),
  ];
}

/** The parameters in the form of Hydra 1.1: `x: {type: float, low: 0, high: 1}`. */
export function searchSpace(yaml: ForeignYaml, place: KeyPath): [string, HydraValue][] {
  return Object.keys(yaml.mapAt([...place, 'search_space'])).map((name) => {
    const keys = [...place, 'search_space', name];
    if (yaml.textAt([...keys, 'type']) === 'categorical') {
      return [name, { kind: 'list', values: yaml.written([...keys, 'choices']) as Written[] }];
    }
    return [name, { kind: 'drawn', distribution: intervalOf(yaml, keys) }];
  });
}

function intervalOf(yaml: ForeignYaml, keys: KeyPath): Readonly<Record<string, string | number>> {
  const { type, low: min, high: max, step, log } = yaml.mapAt(keys);
  const isKnown = type === 'float' || type === 'int';
  if (!isKnown || typeof min !== 'number' || typeof max !== 'number' || step !== undefined) {
    const fix = 'Write it as an override in `params`: `interval(0,1)`, `range(0,10)`, `choice(a,b)`.';
    throw yaml.refusal(keys, 'this form cannot be taken over.', fix);
  }
  if (log === true) {
    return type === 'int'
      ? { distribution: 'q_log_uniform_values', q: 1, min, max }
      : { distribution: 'log_uniform_values', min, max };
  }
  return { distribution: type === 'int' ? 'int_uniform' : 'uniform', min, max };
}
