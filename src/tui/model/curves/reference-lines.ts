import { constantOf, declaredLimit, limitText } from '../../../analysis/health/limits.js';
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
 * Lines to compare a metric with, from the runs' own values: the limit that they declare for it (`limit/NAME`); for bits known, the
 * number of bits to learn (`theory/signal_bits`, or log2 of the parameter N) and, over episodes, the maximum that they can carry
 * (`theory/…_bits_per_episode`). The names are memory-rl's: rows that `memrl` writes are the same bytes in every version, so that no
 * name of a general form can stand in them.
 */
export function referenceLines(metric: string, xKey: string, sources: readonly Source[]): Reference[] {
  const isBits = bitsKnown.test(metric);
  const lines = sources.flatMap((source) => [
    limitOf(metric, source),
    isBits ? signal(source) : null,
    isBits && episodes.test(xKey) ? channel(source) : null,
  ]);
  const distinct = new Map(lines.flatMap((line) => (line === null ? [] : [[line.label, line]])));
  return [...distinct.values()].sort((a, b) => Number(a.isPerX) - Number(b.isPerX)).slice(0, most);
}

function limitOf(metric: string, { reader }: Source): Reference | null {
  const value = declaredLimit(metric, (name) => reader.series(name));
  return value === null ? null : { label: `limit ${limitText(value)}`, value, isPerX: false, isLimit: true };
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

function constant(reader: MetricReader, key: string): number | null {
  return constantOf(reader.series(key).y);
}
