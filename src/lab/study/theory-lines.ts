import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import { type ChartLine, studyText } from '../../contract/study.js';
import { narrowNumber } from '../../text/numbers.js';
import { ceilingOf } from '../environments/memory/ceiling.js';
import { signalBits } from '../environments/memory/rules.js';
import { memoryTask, type MemoryTask, type Settings } from '../environments/memory/task.js';
import { replaceFile } from '../run/read-json.js';

/** Metrics of bits known of the secret, as `train`, `sft` and the ideal observer write them. */
const bitsMetrics = [
  ...['test/bits/answer_raw', 'test/bits/answer_clamped', 'test/bits/known_raw_mean', 'test/bits/known_clamped_mean'],
  ...['test/answers/bits_known', 'observer/bits_known'],
];

/**
 * Reference lines for bits known: the bits of the secret, and over episodes the most bits they can carry. Continuous
 * rewards and SFT have no such maximum.
 */
export function theoryLines({ condition, N }: MemoryTask): ChartLine[] {
  const signal = signalBits(N);
  const lines: ChartLine[] = [{ metrics: bitsMetrics, y: signal, per: null, text: `log2 N = ${narrowNumber(signal)}` }];
  if (condition.kind === 'sft' || condition.kind === 'log-distance') return lines;
  const { bits } = ceilingOf(condition, N);
  const text = `${narrowNumber(bits)} ${bits === 1 ? 'bit' : 'bits'}/episode`;
  return [...lines, { metrics: bitsMetrics, y: bits, per: 'progress/episodes', text }];
}

/** Writes the lines of a run that learns a secret as its study, unless it has one. */
export function keepTheoryLines(directory: string, settings: Settings): void {
  const task = memoryTask(settings);
  const path = join(directory, runFiles.study);
  if (task !== null && !existsSync(path)) replaceFile(path, studyText({ lines: theoryLines(task) }));
}
