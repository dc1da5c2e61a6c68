import type { MetricReader, RunSummary } from '../../state/port.js';
import type { Reference } from './chart-look.js';
import { narrowNumber } from '../../../text/numbers.js';

/** A run that is drawn, and what it has written so far. */
export type Source = { readonly run: RunSummary; readonly reader: MetricReader };

/** Metrics that say how many bits of the secret a policy knows. */
const bitsKnown = /(^|[/_])bits_known|(^|\/)bits\/(known|answer)/;
/** Axes that count the episodes a policy has learnt from. */
const episodes = /(^|\/)(total_)?episodes?$/;
const most = 6;

/**
 * Lines that the runs themselves give for a metric: for bits known, the bits there are to know (`theory/signal_bits`, or
 * log2 of the parameter N) and, over episodes, the most that so many of them can carry (`theory/…_bits_per_episode`).
 */
export function theoryLines(metric: string, xKey: string, sources: readonly Source[]): Reference[] {
  if (!bitsKnown.test(metric)) return [];
  const lines = sources.flatMap((source) => [signal(source), episodes.test(xKey) ? channel(source) : null]);
  const distinct = new Map(lines.flatMap((line) => (line === null ? [] : [[line.label, line]])));
  return [...distinct.values()].sort((a, b) => Number(a.isPerX) - Number(b.isPerX)).slice(0, most);
}

function signal({ run, reader }: Source): Reference | null {
  const { N } = run.parameters;
  const value = constant(reader, 'theory/signal_bits') ?? (typeof N === 'number' && N > 1 ? Math.log2(N) : null);
  return value === null ? null : { label: `log2 N = ${narrowNumber(value)}`, value, isPerX: false };
}

/** What the learner is given counts, where that is less than what the environment says. */
function channel({ reader }: Source): Reference | null {
  const value =
    constant(reader, 'theory/credit_bits_per_episode') ?? constant(reader, 'theory/channel_bits_per_episode');
  if (value === null) return null;
  return { label: `${narrowNumber(value)} ${value === 1 ? 'bit' : 'bits'}/episode`, value, isPerX: true };
}

/** The value of a metric that never changes; null when there is none, or it does. */
function constant(reader: MetricReader, key: string): number | null {
  const { y } = reader.series(key);
  const last = y.at(-1);
  return last !== undefined && Number.isFinite(last) && y[0] === last ? last : null;
}
