import { csv } from './csv.js';
import type { MetricFormat } from './format.js';
import { jsonLines, ownJsonLines } from './json-lines.js';
import { logFormat } from './log/log.js';
import type { LogPatterns } from './log/log-rows.js';
import { monitorCsv } from './monitor-csv.js';
import { tfevents } from './tfevents.js';
import { trainerState } from './trainer-state.js';
import { wandb } from './wandb.js';

/** All files that are read. Where two say something of the same metric, the one that stands first counts; what is printed comes last. */
const fileFormats: readonly MetricFormat[] = [
  ...[ownJsonLines, jsonLines, monitorCsv, csv, tfevents, wandb, trainerState],
];

export function metricFormats(patterns: LogPatterns = {}): readonly MetricFormat[] {
  return [...fileFormats, logFormat(patterns)];
}
