import type { MetricReader, RunSummary } from '../../state/port.js';
import type { Reference } from './chart-data.js';
import { narrowNumber } from '../../../text/numbers.js';

/** A drawn run, and its metrics so far. */
export type Source = { readonly run: RunSummary; readonly reader: MetricReader };

/** Matches metrics for the number of bits of the secret that a policy knows. */
const bitsKnown = /(^|[/_])bits_known|(^|\/)bits\/(known|answer)/;
/** Matches axes that count the episodes a policy has learnt from. */
const episodes = /(^|\/)(total_)?episodes?$/;
const most = 6;

/**
 * Theoretical lines for a metric, from the runs' own values: for bits known, the number of bits to learn (`theory/signal_bits`, or
 * log2 of the parameter N) and, over episodes, the maximum that they can carry (`theory/…_bits_per_episode`).
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

/** The bits per episode that the learner receives, if fewer than the environment provides. */
function channel({ reader }: Source): Reference | null {
  const value =
    constant(reader, 'theory/credit_bits_per_episode') ?? constant(reader, 'theory/channel_bits_per_episode');
  if (value === null) return null;
  return { label: `${narrowNumber(value)} ${value === 1 ? 'bit' : 'bits'}/episode`, value, isPerX: true };
}

/** The value of a constant metric; null if there is none or it varies. */
function constant(reader: MetricReader, key: string): number | null {
  const { y } = reader.series(key);
  const last = y.at(-1);
  return last !== undefined && Number.isFinite(last) && y[0] === last ? last : null;
}
