import { runFiles } from '../../contract/files.js';
import { parseJsonLine } from '../../contract/json-line.js';
import { stepKeyOf } from '../row-numbers.js';
import { isNot, type MetricFormat, type Recognition, type WrittenRow } from './format.js';
import { lineFormat } from './line-format.js';

/** Metrics of our own lab and the tinker-cookbook, and of many programs: a JSON object for each row, with the step in it. */
export const ownJsonLines = lineFormat({
  name: 'metrics.jsonl',
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

/** Any other file of JSON lines whose rows have a step, or whose name is one of metrics. */
export const jsonLines = lineFormat({
  name: 'JSON lines',
  looksFor: '*.jsonl with a step and numbers on each line',
  isNamed: isJsonLines,
  recognise: ({ name, head }) => recogniseLines(name, head()),
  parser: () => parseJsonLine,
});

/** Other files of the tinker-cookbook and of the manager, and names of data or other records. */
const others = /^(checkpoints|timing_spans|events|completions|system-usage)\.jsonl$|(_rollout_summaries|_logtree)\./;
const ofMetrics = /metric|history|progress|scalars/i;
/** Number of lines after which a file is rejected. */
const LOOK = 20;

/** `progress.json` is written by stable-baselines3. */
function isJsonLines(name: string): boolean {
  return (/\.(jsonl|ndjson)$/i.test(name) || name === 'progress.json') && !others.test(name);
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
  const step = stepKeyOf(numbers);
  if (step !== null && numbers.length > 1) return `its lines have numbers and \`${step.key}\``;
  return ofMetrics.test(name) && numbers.length > 0 ? 'its name, and numbers on its lines' : null;
}

function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || value === null || (typeof value === 'object' && !Array.isArray(value));
}
