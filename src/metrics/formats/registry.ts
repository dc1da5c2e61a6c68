import { csv, d3rlpyCsv, monitorCsv } from './csv.js';
import { databaseFormats } from './databases/database-runs.js';
import { dvclive } from './dvclive.js';
import type { MetricFormat } from './format.js';
import { jsonLines, ownJsonLines, systemUsage } from './line-format.js';
import { logFormat } from './log/log.js';
import type { LogPatterns } from './log/log-rows.js';
import { mlflow } from './mlflow.js';
import { sacred } from './sacred.js';
import { tfevents } from './tfevents.js';
import { trainerState } from './trainer-state.js';
import { wandb } from './wandb/wandb.js';

/** All formats of files. A metric in several sources is taken from the first one; the log comes last. */
const fileFormats: readonly MetricFormat[] = [
  ...[
    ownJsonLines,
    mlflow,
    sacred,
    dvclive,
    jsonLines,
    monitorCsv,
    d3rlpyCsv,
    csv,
    tfevents,
    wandb,
    ...databaseFormats,
    trainerState,
  ],
];

export function metricFormats(patterns: LogPatterns = {}): readonly MetricFormat[] {
  return [...trainingFormats(patterns), systemUsage];
}

/** The formats of what training programs write, without that of the supervisor's own samples. */
export function trainingFormats(patterns: LogPatterns): readonly MetricFormat[] {
  return [...fileFormats, logFormat(patterns)];
}

/** The first format with files of such a name, anywhere; null: none. */
export function formatNamed(name: string): MetricFormat | null {
  return fileFormats.find(({ isNamed }) => isNamed?.(name) === true) ?? null;
}

/** Files with metrics in formats that are not read, by name, and what to tell the user. */
const unreadFiles: readonly { pattern: RegExp; why: string }[] = [
  {
    pattern: /^evaluations\.npz$/i,
    why: 'numpy arrays are not read: the same values are in progress.csv as eval/mean_reward',
  },
];

/** Why a file of metrics is not read; undefined: it is none of those. */
export function whyUnread(name: string): string | undefined {
  return unreadFiles.find(({ pattern }) => pattern.test(name))?.why;
}
