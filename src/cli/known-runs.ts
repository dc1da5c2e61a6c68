import { dirname, join } from 'node:path';
import { groupBy } from '../base/group-by.js';
import { RunId } from '../base/ids.js';
import { connect } from '../client/ensure-supervisor.js';
import type { RunSummary } from '../client/fleet.js';
import { readAnnotation, readWrittenFiles } from '../files/run-directory/supervisor-notes.js';
import { readRunRecord } from '../files/run-directory/run-record-file.js';
import { sweepsOnDisk } from '../files/sweep-folder.js';
import { openMetrics } from '../metrics/run-metrics.js';
import { readRuns } from '../runs/read-runs.js';
import { RunMarks } from '../runs/run-marks.js';
import { readOutline } from '../runs/sweep-outline.js';
import { chosenRuns, isAboutMetrics } from './chosen-runs.js';

/** The names in a runs directory. */
export type KnownRuns = { readonly sweeps: readonly string[]; readonly runs: readonly RunSummary[] };

/**
 * The sweeps and runs of a runs directory: by its supervisor, or else by its files, which do not list queued runs. Starts nothing
 * and writes nothing.
 *
 * @param patienceMs Time limit for the supervisor's answer.
 */
export async function knownRuns(directory: string, patienceMs: number): Promise<KnownRuns> {
  return (await bySupervisor(directory, patienceMs)) ?? byFiles(directory);
}

/**
 * The runs that the words select, from the same sources; no words: all.
 *
 * @throws {UserError} As `chosenRuns`.
 */
export async function chooseKnownRuns(
  words: readonly string[],
  directory: string,
  patienceMs: number,
): Promise<RunSummary[]> {
  const { runs } = await knownRuns(directory, patienceMs);
  if (words.length === 0) return [...runs];
  const isUnread = isAboutMetrics(words, runs) && runs.every(({ metrics }) => Object.keys(metrics).length === 0);
  const read = isUnread ? [...groupBy(runs, ({ sweep }) => sweep).values()].flatMap(withMetrics) : runs;
  return chosenRuns(words, read, Date.now());
}

/** The runs of one sweep with the metrics and marks in their files. */
function withMetrics(runs: readonly RunSummary[]): RunSummary[] {
  const marks = new RunMarks(readOutline(dirname(runs[0]!.directory)));
  const read = runs.map((run) => {
    const metrics = openMetrics(run.directory).readNow();
    marks.take(run, metrics);
    return { ...run, metrics: metrics.last() };
  });
  return [...groupBy(read, ({ group }) => group)].flatMap(([group, members]) => {
    const marked = marks.in(group);
    return members.map((run) => {
      const { word: health = run.health, reason: healthReason = null } = marked.get(run.name) ?? {};
      return { ...run, health, healthReason };
    });
  });
}

async function bySupervisor(directory: string, patienceMs: number): Promise<KnownRuns | null> {
  const fleet = await connect(directory, patienceMs);
  if (fleet === null) return null;
  let timer: NodeJS.Timeout | undefined;
  const timeIsUp = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), patienceMs);
  });
  const inTime = await Promise.race([fleet.ready().then(() => true), timeIsUp]);
  clearTimeout(timer);
  const known = { sweeps: [...fleet.sweeps.keys()], runs: [...fleet.runs.values()] };
  fleet.close();
  return inTime ? known : null;
}

function byFiles(directory: string): KnownRuns {
  const sweeps = sweepsOnDisk(directory);
  return { sweeps, runs: sweeps.flatMap((sweep) => runsByFiles(sweep, join(directory, sweep))) };
}

function runsByFiles(sweep: string, directory: string): RunSummary[] {
  return readRuns(directory).map(({ name, group, parameters, state, directory: own }) => ({
    ...{ id: RunId.parse(`${sweep}/${name}`), sweep, group, name, directory: own, parameters, state },
    ...{ argv: [], reason: null, exit: null, slot: null, gpus: [], pid: null },
    ...pastOf(own),
    ...{ killAt: null, retryAt: null, priority: 0, gpuMemory: null, progress: null, etaSeconds: null },
    warning: readWrittenFiles(own)?.warning ?? null,
    ...{ metrics: {}, spark: [], health: 'ok', annotation: readAnnotation(own) },
  }));
}

function pastOf(directory: string): Pick<RunSummary, 'subgroup' | 'attempt' | 'startedAt' | 'endedAt'> {
  const record = readRunRecord(directory);
  const { number = 0, startedAt = null, endedAt = null } = record?.attempts.at(-1) ?? {};
  return { subgroup: record?.subgroup ?? null, attempt: number, startedAt, endedAt };
}
