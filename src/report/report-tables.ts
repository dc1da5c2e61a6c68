import { BUSY } from '../analysis/health/resources.js';
import { runValueText } from '../analysis/run-value.js';
import { bestSign, hasBest, markWords } from './metric-columns.js';
import { countWords } from '../runs/run-marks.js';
import type { Report, Section } from './report.js';
import { type Spread, spreadWords } from './spread.js';

/** Notes that explain the words, marks and numbers of the tables, as far as they occur. */
export function reportNotes(report: Report, spread: Spread): string[] {
  return [...metricNotes(report, spread), ...gpuNotes(report)];
}

function gpuNotes({ gpuHours }: Report): string[] {
  if (gpuHours === undefined) return [];
  const { seen, idle } = gpuHours;
  const share = Math.round((100 * idle) / seen);
  return [`GPU hours of runs: ${seen.toFixed(1)}, idle ${idle.toFixed(1)} (${share} %, below ${BUSY} % utilization)`];
}

/** The states in the order of the count line. */
const statesInOrder = [
  ...(['done', 'running', 'paused', 'starting', 'stopping', 'queued', 'held'] as const),
  ...(['failed', 'killed', 'lost'] as const),
];

/** The numbers of runs by state and mark: `12 done · 1 failed · 3 diverged`. */
export function countsText({ counts, marks }: Pick<Report, 'counts' | 'marks'>): string {
  const words = statesInOrder.filter((state) => counts[state]);
  return [...words.map((state) => `${counts[state]} ${state}`), ...markWords(countWords(marks))].join(' · ');
}

export function titleOf({ group, title }: Section): string {
  return title === null ? group : `${group} · ${title}`;
}

/** Notes on the numbers in tables of metrics, unless each is the last value of one run. */
function metricNotes({ sections: tables, value }: Report, spread: Spread): string[] {
  const isUsual = value.kind === 'last' && spread === 'std';
  const hasSeeds = tables.some(({ rows }) => rows.some(({ seeds }) => seeds > 1));
  return [
    ...when((!isUsual || hasSeeds) && tables.length > 0, `Metrics: ${runValueText(value)}; ${spreadWords[spread]}.`),
    ...when(
      tables.some((table) => hasBest(table, spread)),
      `${bestSign}: the best of its column; ↑ ↓ which way is better.`,
    ),
  ];
}

function when(holds: boolean, note: string): string[] {
  return holds ? [note] : [];
}
