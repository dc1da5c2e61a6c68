import type { Curve } from './curve.js';
import { lowerBound } from './downsample.js';

/**
 * One file of a source: its curves by key id, when its first and its last point were written (Unix ms), and the x from which on it
 * ends all earlier files.
 */
export type FilePart = { readonly curves: (Curve | undefined)[]; from: number; to: number; purge: number };

type Points = { readonly x: Float64Array; readonly y: Float64Array; readonly times: Float64Array | null };

const none: Points = { x: new Float64Array(0), y: new Float64Array(0), times: null };

/**
 * The points of one metric in all files of a source. A file that was begun when an earlier one had ended is a later attempt, and
 * counts from its first point of the metric on, or from where it says. Files written at the same time are those of several
 * processes: all points count, and of two at one x that of the later file.
 */
export function joined(parts: readonly FilePart[], id: number): Points {
  const written = parts.filter((part) => part !== undefined);
  const shown = written.flatMap((part, place) => {
    const curve = part.curves[id];
    const points = curve === undefined ? none : pointsOf(curve, endOf(part, written.slice(place + 1), id));
    return points.x.length === 0 ? [] : [points];
  });
  if (shown.length <= 1) return shown[0] ?? none;
  const x = concatenated(shown, (points) => points.x);
  const isRising = x.every((value, index) => index === 0 || value > x[index - 1]!);
  const all = { x, y: concatenated(shown, ({ y }) => y), times: concatenated(shown, timesOf) };
  return isRising ? all : sorted(all);
}

/** The x from which on a file no longer counts. */
function endOf({ to }: FilePart, later: readonly FilePart[], id: number): number {
  return later.reduce((end, part) => {
    const isLater = !(part.from < to);
    const first = isLater ? (part.curves[id]?.points.x[0] ?? Infinity) : Infinity;
    return Math.min(end, part.purge, (part.curves[id]?.count ?? 0) > 0 ? first : Infinity);
  }, Infinity);
}

function pointsOf({ points: { x, values, times, length } }: Curve, before: number): Points {
  const end = before === Infinity ? length : lowerBound(x, length, before);
  return { x: x.subarray(0, end), y: values.subarray(0, end), times: times?.subarray(0, end) ?? null };
}

function timesOf({ x, times }: Points): Float64Array {
  return times ?? new Float64Array(x.length).fill(NaN);
}

function concatenated(all: readonly Points[], laneOf: (points: Points) => Float64Array): Float64Array {
  const lanes = all.map(laneOf);
  const whole = new Float64Array(lanes.reduce((length, lane) => length + lane.length, 0));
  let at = 0;
  for (const lane of lanes) {
    whole.set(lane, at);
    at += lane.length;
  }
  return whole;
}

/** The points in the order of their x, the last of each. */
function sorted({ x, y, times }: Points): Points {
  const order = Array.from(x.keys()).sort((one, other) => x[one]! - x[other]! || one - other);
  const kept = order.filter((index, place) => x[order[place + 1]!] !== x[index]);
  const picked = (lane: Float64Array) => Float64Array.from(kept, (index) => lane[index]!);
  return { x: picked(x), y: picked(y), times: times && picked(times) };
}
