import { join } from 'node:path';
import { runFiles } from '../../contract/files.js';
import type { Parameters } from '../../base/scalar.js';
import { readRuns } from '../../report/read-runs.js';
import type { ReportedRun } from '../../analysis/analysed-run.js';
import { MetricLog } from '../../metrics/metric-log.js';
import { readRunRecord } from '../../files/run-record-file.js';

/** One run with all that its files say of it. Times are ISO 8601, of the last attempt. */
export type RunRow = {
  sweep: string;
  group: string;
  subgroup: string | null;
  name: string;
  state: ReportedRun['state'];
  attempts: number;
  startedAt: string | null;
  endedAt: string | null;
  seconds: number | null;
  parameters: Parameters;
  /** Last values; null: not a finite number. */
  metrics: Record<string, number | null>;
};

/** One value of one metric. `step`: as the run counts, or else the row's number. */
export type ValueRow = {
  sweep: string;
  group: string;
  subgroup: string | null;
  name: string;
  step: number | null;
  metric: string;
  value: number | null;
};

/** A row for each run below the directory, in natural order of name. */
export function runRows(sweep: string, sweepDirectory: string): RunRow[] {
  return readRuns(sweepDirectory).map((run) => {
    const metrics = metricsOf(run).last();
    const { name, group, state, parameters } = run;
    return { sweep, group, subgroup: subgroupOf(run), name, state, ...lifeOf(run), parameters, metrics };
  });
}

/**
 * A row for each value of each metric: by run, then metric, then step. Steps that a resumed run wrote again count once, with
 * their last value. Reads one run at a time.
 */
export function* valueRows(sweep: string, sweepDirectory: string): Generator<ValueRow> {
  for (const run of readRuns(sweepDirectory)) {
    const log = metricsOf(run);
    const head = { sweep, group: run.group, subgroup: subgroupOf(run), name: run.name };
    for (const metric of log.keys()) {
      const { x, y } = log.series(metric);
      for (let index = 0; index < y.length; index++) {
        yield { ...head, step: finite(x[index]!), metric, value: finite(y[index]!) };
      }
    }
  }
}

/** Bounds that no file reaches: everything is kept. */
const everything = { older: 2, exact: 2 ** 31 };

function metricsOf({ directory }: ReportedRun): MetricLog {
  const log = new MetricLog(join(directory, runFiles.metrics), null, everything);
  do log.refresh();
  while (log.more);
  return log;
}

function subgroupOf({ directory }: ReportedRun): string | null {
  return readRunRecord(directory)?.subgroup ?? null;
}

function lifeOf({ directory }: ReportedRun): Pick<RunRow, 'attempts' | 'startedAt' | 'endedAt' | 'seconds'> {
  const attempts = readRunRecord(directory)?.attempts ?? [];
  const last = attempts.at(-1);
  const iso = (time: number | null | undefined) =>
    time === null || time === undefined ? null : new Date(time).toISOString();
  return {
    attempts: last?.number ?? 0,
    startedAt: iso(last?.startedAt),
    endedAt: iso(last?.endedAt),
    seconds: last === undefined || last.endedAt === null ? null : (last.endedAt - last.startedAt) / 1000,
  };
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
