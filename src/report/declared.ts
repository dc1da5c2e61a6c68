import type { ReportedRun } from '../analysis/analysed-run.js';
import { type ShownDeclared, shownDeclared } from '../analysis/declared-parameters.js';
import type { Parameters } from '../base/scalar.js';
import type { RunMetrics } from '../metrics/run-metrics.js';
import { declaredFacts, declaringIn } from '../metrics/tree/declared-facts.js';
import { redactShapes } from '../text/redaction.js';
import type { Settings } from './report.js';
import { settingsOf } from './settings.js';

/** What the program of a run has declared, beside what was planned. @param metrics Of the run, as they have been read. */
export function declaredOf(run: ReportedRun, metrics: RunMetrics): ShownDeclared {
  return shownDeclared(declaredFacts(run.directory, declaringIn(metrics.told)), run, redactShapes);
}

/** Declared parameters, by name of the run, as far as runs have been read. */
export type Declared = Map<string, Parameters>;

/** Those of some runs, each with its different values. */
export function declaredIn(runs: readonly ReportedRun[], declared: Declared): Settings {
  return settingsOf(runs.map(({ name, directory }) => ({ directory, parameters: declared.get(name) ?? {} })));
}
