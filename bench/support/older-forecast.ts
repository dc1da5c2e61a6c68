import type { RunKind } from '../../src/analysis/forecast/durations.js';
import type { ForecastRun, ForecastSetting } from '../../src/analysis/forecast/forecast.js';
import type { Movement } from '../../src/analysis/forecast/own-pace.js';
import type { TimeRange } from '../../src/analysis/forecast/time-range.js';
import type { Moment, Seen } from '../../test/analysis/forecast/recorded-sweep.js';
import { olderExports } from './older-commit.js';

/** What the forecast of commit 2592e47 exports, as far as it is used. Seconds. */
type OlderForecast = {
  forecastOf: (runs: ForecastRun[], setting: ForecastSetting) => (asked: ForecastRun[]) => number | null;
  runKinds: (runs: ForecastRun[], setting: ForecastSetting) => (run: ForecastRun) => RunKind;
  Durations: new () => {
    note: (run: RunKind, seconds: number) => void;
    like: (run: RunKind) => { inOrder: readonly number[] } | null;
  };
  secondsToEnd: (run: {
    elapsed: number;
    toBudget: number | null;
    mayEndEarly: boolean;
    likes: readonly number[];
  }) => number | null;
  standsStill: (movement: Movement, now: number) => boolean;
};

const files = ['forecast', 'durations', 'remaining'].map((file) => `src/analysis/forecast/${file}.js`);

/** `forecasts`: what foretells one recorded sweep, moment after moment. */
export async function olderForecast(folder: string, commit: string) {
  const older = await olderExports<OlderForecast>(folder, files, commit);
  const forecasts = () => {
    const paces = new Map<string, Pace>();
    return (moment: Moment) => foretell(older, moment, paces);
  };
  return { forecastOf: older.forecastOf, forecasts };
}

function foretell(older: OlderForecast, { runs, setting }: Moment, paces: Map<string, Pace>): TimeRange | null {
  const rows = runs.map(({ row }) => row);
  const kindOf = older.runKinds(rows, setting);
  const durations = new older.Durations();
  for (const row of rows) {
    const isWhole = row.state === 'done' && row.attempt === 1;
    if (isWhole) durations.note(kindOf(row), (row.endedAt! - row.startedAt!) / 1000);
  }
  const etaOf = (seen: Seen): number | null => {
    const { row, elapsed, movement } = seen;
    const toBudget = toBudgetOf(seen, setting.now, paces);
    if (row.state !== 'running' || (movement !== null && older.standsStill(movement, setting.now))) return null;
    const likes = row.attempt > 1 ? [] : (durations.like(kindOf(row))?.inOrder ?? []);
    return older.secondsToEnd({ elapsed, toBudget, mayEndEarly: false, likes });
  };
  const told = runs.map((seen) => ({ ...seen.row, etaSeconds: rounded(etaOf(seen)) }));
  const seconds = older.forecastOf(told, setting)(told);
  return seconds === null ? null : { low: seconds, middle: seconds, high: seconds };
}

/** Where an attempt of a run was at its first reading, ms. */
type Pace = { readonly attempt: number; readonly first: Mark };
type Mark = { readonly at: number; readonly share: number };

/** As the supervisor of that commit reckoned it: by the mean pace since the first reading, or since the start where there is one. */
function toBudgetOf({ row, share, movement }: Seen, now: number, paces: Map<string, Pace>): number | null {
  if (share === null || movement === null || row.startedAt === null) return null;
  const mark = { at: movement.at, share };
  const known = paces.get(row.id);
  const first = known?.attempt === row.attempt && known.first.share <= share ? known.first : mark;
  paces.set(row.id, { attempt: row.attempt, first });
  const from = first.share < share ? first : { at: row.startedAt, share: 0 };
  const rate = (share - from.share) / (mark.at - from.at);
  return rate > 0 ? Math.max(0, (1 - share) / rate - (now - mark.at)) / 1000 : null;
}

function rounded(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds);
}
