import { readFileSync } from 'node:fs';
import {
  durationOf,
  forecastOf,
  type ForecastRun,
  type ForecastSetting,
  runKinds,
} from '../../../src/analysis/forecast/forecast.js';
import { type Movement, OwnPace, standsStill, type ToBudget } from '../../../src/analysis/forecast/own-pace.js';
import type { TimeRange } from '../../../src/analysis/forecast/time-range.js';
import { timesLeft, type UpRun } from '../../../src/analysis/forecast/remaining.js';
import type { Scalar } from '../../../src/base/scalar.js';

/**
 * A sweep as it was supervised on a real machine; times in ms from the start of its first run. Columns with a value for each run;
 * parameters that are the same for all runs are left out.
 */
export type Recording = {
  /** What was recorded, and how. */
  readonly what: string;
  readonly slots: readonly (readonly [at: number, slots: number])[];
  readonly needs: Readonly<Record<string, readonly string[]>>;
  /** Places among the keys of `needs`; empty: there is one group. */
  readonly groups: readonly number[];
  readonly parameters: Readonly<Record<string, readonly Scalar[]>>;
  /**
   * The attempts of each run. `after`: the start of the attempt before it in the whole list. `took`: null: it hangs. One that
   * failed is started again `retryAfter` its end.
   */
  readonly attempts: readonly (readonly (readonly [after: number, took: number | null, retryAfter?: number])[])[];
  /** Of each run, time and ten-thousandths of its budget, each from the mark before; empty: no run says how far it is. */
  readonly marks: readonly (readonly number[])[];
  /** Runs that failed at their end, by place; absent: none. */
  readonly failed?: readonly number[];
};

/** What a supervisor knows of a run at a moment, but when it ends. */
export type Seen = {
  readonly row: ForecastRun;
  /** Seconds in its present attempt. */
  readonly elapsed: number;
  readonly toBudget: ToBudget | null;
  readonly movement: Movement | null;
  /** How much of its budget it has used, as it says, and as a supervisor takes it; null: there is no mark. */
  readonly share: number | null;
  readonly used: number | null;
};
export type Moment = { readonly runs: readonly Seen[]; readonly setting: ForecastSetting };

/** What was foretold at a moment, and what came. `hasEvent`: a run started or ended just now, or has not said since how far it is. Seconds. */
export type Look = {
  readonly at: number;
  readonly told: TimeRange | null;
  readonly actual: number;
  readonly hasEvent: boolean;
};

export function readRecording(name: string): Recording {
  return JSON.parse(readFileSync(`test/fixtures/forecast/${name}.json`, 'utf8')) as Recording;
}

/** Looks at a recorded sweep once a second, until the last run has ended that did. */
export function replay(recording: Recording, forecast: (moment: Moment) => TimeRange | null = foretell): Look[] {
  const attempts = timesOf(recording);
  const players = attempts.map((own, run) => new Player(recording, run, own));
  const times = attempts.flatMap((own) => own.flatMap(({ since, at }) => [since, at]));
  const end = Math.max(...times.filter(Number.isFinite));
  const looks: Look[] = [];
  for (let now = 1000; now < end; now += 1000) {
    const runs = players.map((player) => player.at(now));
    const [, cpuSlots] = recording.slots.findLast(([at]) => at <= now) ?? recording.slots[0]!;
    const setting = { cpuSlots, gpus: 0, needs: (_: string, group: string) => recording.needs[group] ?? [], now };
    const hasEvent = times.some((time) => time > now - EVENT_MS && time <= now);
    looks.push({ at: now / 1000, told: forecast({ runs, setting }), actual: (end - now) / 1000, hasEvent });
  }
  return looks;
}

/** So long after it, nothing is news of a start or an end any more. */
const EVENT_MS = 2000;

/** As a supervisor and a window tell it. */
export function foretell({ runs, setting }: Moment): TimeRange | null {
  const rows = runs.map(({ row }) => row);
  const kindOf = runKinds(rows, setting);
  const ended = runs.flatMap(({ row, used }) => {
    const duration = durationOf(row, kindOf(row));
    return duration === null ? [] : [{ ...duration, share: used }];
  });
  const up = runs.flatMap((seen) => upRun(seen, setting.now));
  const leftOf = timesLeft(
    ended,
    up.map((run) => ({ ...run, kind: kindOf(run.row) })),
  );
  const lefts = new Map(up.map((run) => [run.row.id, leftOf({ ...run, kind: kindOf(run.row) })]));
  const told = rows.map((row) => {
    const left = lefts.get(row.id) ?? null;
    if (left === null) return row;
    return { ...row, etaSeconds: Math.round(left.middle), etaRange: [left.low, left.high] as const };
  });
  return forecastOf(told, setting)(told);
}

function upRun(seen: Seen, now: number): (Omit<UpRun, 'kind'> & { row: ForecastRun })[] {
  const { row, elapsed, toBudget, movement, share } = seen;
  if (row.state !== 'running' || (movement !== null && standsStill(movement, now))) return [];
  const own =
    toBudget === null || share === null
      ? null
      : {
          ...{ progress: share, error: toBudget.error },
          seconds: Math.max(0, toBudget.seconds - (now - toBudget.at) / 1000),
        };
  return [{ row, elapsed, own, mayEndEarly: false, resumedAt: row.attempt > 1 ? (share ?? 0) : null }];
}

type Attempt = { readonly since: number; readonly at: number; readonly retryAt: number | null };

function timesOf({ attempts }: Recording): Attempt[][] {
  let since = 0;
  return attempts.map((own) =>
    own.map(([after, took, retryAfter]) => {
      since += after;
      const at = took === null ? Infinity : since + took;
      return { since, at, retryAt: retryAfter === undefined ? null : at + retryAfter };
    }),
  );
}

/** One run, at one moment after another. */
class Player {
  readonly #row: Pick<ForecastRun, 'id' | 'sweep' | 'group' | 'parameters' | 'priority' | 'etaSeconds'>;
  readonly #attempts: readonly Attempt[];
  readonly #marks: readonly number[];
  readonly #endsAs: 'done' | 'failed';
  /** The attempt that is up or was, and its pace. */
  #attempt = -1;
  #pace = new OwnPace(0);
  /** Marks that have been read, the time of the last one, and how far the run was. */
  #read = { marks: 0, at: 0, share: 0 };

  constructor({ needs, groups, parameters, marks, failed = [] }: Recording, run: number, attempts: readonly Attempt[]) {
    const own = Object.entries(parameters).filter(([, values]) => values[run] !== null);
    this.#row = {
      ...{ id: `run-${run}`, sweep: 's', group: Object.keys(needs)[groups[run] ?? 0]!, priority: 0, etaSeconds: null },
      parameters: Object.fromEntries(own.map(([name, values]) => [name, values[run]!])),
    };
    this.#attempts = attempts;
    this.#marks = marks[run] ?? [];
    this.#endsAs = failed.includes(run) ? 'failed' : 'done';
  }

  at(now: number): Seen {
    const attempt = this.#attempts.findLastIndex(({ since }) => since <= now);
    const last = this.#attempts[attempt];
    const isUp = last !== undefined && now < last.at;
    if (isUp && this.#attempt !== attempt) [this.#attempt, this.#pace] = [attempt, new OwnPace(last.since)];
    this.#readTo(Math.min(now, last?.at ?? 0));
    const seen = { row: this.#rowAt(attempt, isUp), share: this.#share, used: this.#pace.used };
    if (!isUp) return { ...seen, elapsed: 0, toBudget: null, movement: null };
    const { movement } = this.#pace;
    return { ...seen, elapsed: (now - last.since) / 1000, toBudget: this.#pace.toBudget(this.#share), movement };
  }

  get #share(): number | null {
    return this.#read.share > 0 ? this.#read.share : null;
  }

  #rowAt(attempt: number, isUp: boolean): ForecastRun {
    const last = this.#attempts[attempt];
    const before = { ...this.#row, attempt: attempt + 1, progress: this.#share };
    const earlier = this.#attempts.slice(0, Math.max(0, attempt)).map(({ since, at }): [number, number] => [since, at]);
    if (last === undefined) return { ...before, state: 'queued', startedAt: null, endedAt: null };
    if (isUp) return { ...before, state: 'running', startedAt: last.since, endedAt: null, earlier };
    if (last.retryAt === null)
      return { ...before, state: this.#endsAs, startedAt: last.since, endedAt: last.at, earlier };
    const spans = [...earlier, [last.since, last.at] as const];
    return { ...before, state: 'queued', startedAt: null, endedAt: null, retryAt: last.retryAt, earlier: spans };
  }

  #readTo(now: number): void {
    while (this.#read.marks < this.#marks.length) {
      const { marks, at, share } = this.#read;
      const next = at + this.#marks[marks]!;
      if (next > now) return;
      this.#read = { marks: marks + 2, at: next, share: share + this.#marks[marks + 1]! / 10_000 };
      this.#pace.note(this.#read.share, 0, next);
    }
  }
}
