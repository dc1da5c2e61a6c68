import { limitPrefix } from '../../contract/metric-names.js';
import { countText, shortNumber } from '../../text/numbers.js';
import type { Finding } from './finding.js';

type Series = { readonly x: ArrayLike<number>; readonly y: ArrayLike<number> };

/**
 * The limit that a run declares for a metric: the one finite value of `limit/NAME`; null: the run declares none, or the value
 * changes.
 */
export function declaredLimit(name: string, seriesOf: (name: string) => Series): number | null {
  return constantOf(seriesOf(`${limitPrefix}${name}`).y);
}

/** A limit as a person wrote it, without the rounding of formats that keep single precision. */
export function limitText(limit: number): string {
  return String(Number(limit.toPrecision(6)));
}

/** The finite value of a constant metric, as far as its first and its last value tell; null: there is none, or it varies. */
function constantOf(y: ArrayLike<number>): number | null {
  const last = y[y.length - 1];
  return last !== undefined && Number.isFinite(last) && y[0] === last ? last : null;
}

/**
 * That a metric was once above its declared limit, or below its negative, as an estimate of a distance may be: the metric that
 * exceeded it most; null: none did.
 *
 * @param names The names of all metrics, limits among them.
 */
export function exceededLimit(names: readonly string[], seriesOf: (name: string) => Series): Finding | null {
  const excesses = names
    .filter((name) => name.startsWith(limitPrefix))
    .flatMap((name) => excessOf(name.slice(limitPrefix.length), seriesOf) ?? []);
  const [worst] = excesses.sort((a, b) => Math.abs(b.value) - b.limit - (Math.abs(a.value) - a.limit));
  if (worst === undefined) return null;
  const { name, value, limit, x } = worst;
  return {
    word: 'limit',
    reason: `${name} was ${shortNumber(value)} at step ${countText(x)}, limit ${limitText(limit)}`,
  };
}

function excessOf(name: string, seriesOf: (name: string) => Series) {
  const limit = declaredLimit(name, seriesOf);
  if (limit === null) return null;
  const { x, y } = seriesOf(name);
  let most = -1;
  for (let at = 0; at < y.length; at++) if (Math.abs(y[at]!) > Math.abs(y[most] ?? limit)) most = at;
  return most < 0 ? null : { name, value: y[most]!, limit, x: x[most]! };
}
