import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { stepKeyOf } from '../row-numbers.js';
import { isNot, type MetricFormat, type Recognition, type WrittenRow } from './format.js';
import { lineFormat } from './line-format.js';

const JSON_LINES = 'JSON lines';

/** Metrics of our own lab and the tinker-cookbook, and of many programs: a JSON object for each row, with the step in it. */
export const ownJsonLines = lineFormat({
  name: 'metrics.jsonl',
  family: JSON_LINES,
  looksFor: runFiles.metrics,
  recognise: ({ place }) => (place === runFiles.metrics ? { is: 'yes', why: 'its name' } : isNot),
  parser: () => parseJsonLine,
});

/** What a run used of the machine, as the supervisor samples it; see `UsageFile`. */
export const systemUsage: MetricFormat = {
  ...lineFormat({
    name: 'system usage',
    looksFor: runFiles.usage,
    recognise: ({ place }) => (place === runFiles.usage ? { is: 'yes', why: 'its name' } : isNot),
    parser: () => parseJsonLine,
  }),
  isTimed: true,
};

/** Any other file of JSON lines whose rows have a step, whatever its name ends with, or whose name is one of metrics. */
export const jsonLines: MetricFormat = {
  ...lineFormat({
    name: JSON_LINES,
    looksFor: '*.jsonl, *.json, *.log, *.txt with a step and numbers on each line',
    isNamed: isJsonLines,
    recognise: ({ name, head }) => (isJsonLines(name) ? recogniseLines(name, head()) : recogniseRows(head())),
    parser: () => rowWithoutSettings,
  }),
  looksInto,
};

/** A row of Ray has all settings of the program in it. */
function rowWithoutSettings(line: string): WrittenRow | null {
  const row = parseJsonLine(line);
  if (row === null || typeof row['config'] !== 'object') return row;
  return Object.fromEntries(Object.entries(row).filter(([key]) => key !== 'config'));
}

/** Other files of the tinker-cookbook and of the manager, and names of data or other records. */
const others = /^(checkpoints|timing_spans|events|completions|system-usage)\.jsonl$|(_rollout_summaries|_logtree)\./;
const ofMetrics = /metric|history|progress|scalars/i;
/** Number of lines after which a file is rejected. */
const LOOK = 20;

/** `progress.json` is written by stable-baselines3. */
function isJsonLines(name: string): boolean {
  return (/\.(jsonl|ndjson)$/i.test(name) || name === 'progress.json') && !others.test(name);
}

/** Whether a file of this name may hold JSON lines, which only its content tells: those of detectron2, MMEngine, Ray, MAE. */
function looksInto(name: string): boolean {
  return /\.(json|log|txt)$/i.test(name) && !others.test(name) && name !== runFiles.log;
}

/** Recognises rows by their content: two of the first lines have the same counter, which has moved. */
function recogniseRows(lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: '' };
  if (!lines[0]!.startsWith('{"')) return isNot;
  const seen = new Map<string, unknown>();
  for (const row of lines.slice(0, LOOK).map(rowWithoutSettings)) {
    if (row === null) return isNot;
    const step = stepKeyOf(Object.keys(row), (key) => row[key]);
    if (step === null || !hasMetric(row)) continue;
    const before = seen.get(step.key);
    if (before !== undefined && before !== row[step.key])
      return { is: 'yes', why: `its lines are JSON, and have numbers and \`${step.key}\`` };
    seen.set(step.key, row[step.key]);
  }
  return lines.length < LOOK ? { is: 'maybe', why: '' } : isNot;
}

function hasMetric(row: WrittenRow): boolean {
  return Object.keys(row).filter((key) => isNumeric(row[key])).length > 1;
}

function recogniseLines(name: string, lines: readonly string[] | null): Recognition {
  if (lines === null) return { is: 'maybe', why: 'it has no whole line yet' };
  const rows = lines.slice(0, LOOK).map(parseJsonLine);
  for (const row of rows) {
    const words = row === null ? null : reasonOf(name, row);
    if (words !== null) return { is: 'yes', why: words };
  }
  if (lines.length < LOOK) return { is: 'maybe', why: 'none of its lines has a step and a number' };
  return { is: 'no', why: `none of its first ${LOOK} lines has a step and a number` };
}

function reasonOf(name: string, row: WrittenRow): string | null {
  const numbers = Object.keys(row).filter((key) => isNumeric(row[key]));
  const step = stepKeyOf(numbers, (key) => row[key]);
  if (step !== null && numbers.length > 1) return `its lines have numbers and \`${step.key}\``;
  return ofMetrics.test(name) && numbers.length > 0 ? 'its name, and numbers on its lines' : null;
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value === null || (typeof value === 'object' && !Array.isArray(value));
}
