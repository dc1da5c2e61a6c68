import type { ReportedRun } from '../analysis/analysed-run.js';
import { pathKeys, type PlacedRun } from '../analysis/cells.js';
import { type ShownDeclared, shownDeclared } from '../analysis/declared-parameters.js';
import type { Parameters } from '../base/scalar.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import { declaredFacts, declaringIn } from '../metrics/tree/declared-facts.js';
import { NOTHING } from '../text/numbers.js';
import { parametersText } from '../text/parameters-text.js';
import { redactShapes } from '../text/redaction.js';
import type { Settings } from './report.js';

/** Paths differ between any two runs and machines, and a secret between any two seeds. */
export function settingsOf(runs: readonly PlacedRun[]): Settings {
  const paths = new Set(pathKeys(runs));
  const isTelling = (key: string) => !/(_path|_dir|fixed_secret)$/.test(key) && !paths.has(key);
  const keys = [...new Set(runs.flatMap(({ parameters }) => Object.keys(parameters)))].filter(isTelling);
  return keys.map((key) => {
    const values = new Map(runs.map(({ parameters }) => [JSON.stringify(parameters[key]), parameters[key]]));
    return [key, [...values.values()]] as const;
  });
}

/** The settings that the runs of a table share, and the values that vary: `N=16 learning_rate=0.0003; varies seed 0 1 2`. A dash: not given. */
export function settingsText(settings: Settings): string {
  const same = parametersText(
    Object.fromEntries(settings.flatMap(([key, values]) => (values.length === 1 ? [[key, values[0]]] : []))),
  );
  const varies = settings.flatMap(([key, values]) => (values.length > 1 ? [`${key} ${someOf(values)}`] : []));
  return [same, ...(varies.length === 0 ? [] : [`varies ${varies.join(', ')}`])].join('; ');
}

const MOST_VALUES = 8;

function someOf(values: readonly unknown[]): string {
  const words = values.map((value) =>
    value === undefined ? NOTHING : typeof value === 'string' ? value : JSON.stringify(value),
  );
  if (words.length > MOST_VALUES) return `${words[0]} … ${words.at(-1)} (${words.length} values)`;
  return words.join(' ');
}

/** Parameters that the program of a run has declared beside the planned ones. @param metrics Metrics of the run, as they have been read. */
export function declaredOf(run: ReportedRun, metrics: RunMetrics): ShownDeclared {
  return shownDeclared(declaredFacts(run.directory, declaringIn(metrics.told)), run, redactShapes);
}

/** Declared parameters, by name of the run, as far as runs have been read. */
export type Declared = Map<string, Parameters>;

/** Declared parameters of some runs, each with its different values. */
export function declaredIn(runs: readonly ReportedRun[], declared: Declared): Settings {
  return settingsOf(runs.map(({ name, directory }) => ({ directory, parameters: declared.get(name) ?? {} })));
}
