/** The times of a run's attempts, Unix ms. `earlier`: start and end of each attempt before the last. */
type Attempts = {
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly earlier?: readonly (readonly [since: number, at: number])[] | undefined;
};

/** Only the latest starts are counted, as they show how fast runs start now: at most so many, and so many per slot. Fewer than `FEWEST` show nothing. */
const STARTS = 1000;
const STARTS_PER_PLACE = 4;
const FEWEST = 10;
/** Starting a run takes at most so many seconds. Longer pauses have other causes: a night, an empty queue, a new slot. */
const LONGEST_START = 0.25;

/**
 * Seconds for which a slot is free between two runs: the time to see that a run has ended and to start the next. It matters where
 * runs are short.
 *
 * @param atOnce How many of these runs there is room for.
 */
export function pauseBetween(runs: readonly Attempts[], atOnce: number): number {
  const starts = sorted(runs, 0);
  const ends = sorted(runs, 1);
  const places = Math.max(atOnce, mostAtOnce(starts, ends));
  const from = Math.max(places, starts.length - Math.max(STARTS, STARTS_PER_PLACE * places));
  if (starts.length - from < FEWEST) return 0;
  // Room is taken in the order in which it became free.
  const pauses = starts.slice(from).map((start, index) => Math.max(0, (start - ends[from + index - places]!) / 1000));
  const usual = pauses.filter((pause) => pause <= places * LONGEST_START);
  return usual.reduce((sum, pause) => sum + pause, 0) / Math.max(1, usual.length);
}

/** The starts (0) or the ends (1) of all attempts. */
function sorted(runs: readonly Attempts[], which: 0 | 1): Float64Array {
  const times: number[] = [];
  for (const { startedAt, endedAt, earlier } of runs) {
    if (earlier !== undefined) for (const span of earlier) times.push(span[which]);
    const time = which === 0 ? startedAt : endedAt;
    if (time !== null && startedAt !== null) times.push(time);
  }
  return Float64Array.from(times).sort();
}

/** The largest number of runs that were up at once, among the latest starts. */
function mostAtOnce(starts: Float64Array, ends: Float64Array): number {
  let [most, ended] = [1, 0];
  for (let start = Math.max(0, starts.length - STARTS); start < starts.length; start++) {
    while (ended < ends.length && ends[ended]! <= starts[start]!) ended++;
    most = Math.max(most, start + 1 - ended);
  }
  return most;
}
