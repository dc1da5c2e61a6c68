import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import * as z from 'zod';
import type { ReportedRun, ReportedState } from '../../analysis/analysed-run.js';
import { grouped } from '../../base/group-by.js';
import { UserError } from '../../base/user-error.js';
import { runFiles, sweepFiles } from '../../contract/files.js';
import { exitCodeIn, type RunRecord } from '../../contract/run-record.js';
import { endStateOf, exitClasses, hasEnded } from '../../base/run-words.js';
import { naturalOrder } from '../../text/natural-order.js';
import { checkpointRows } from '../run/checkpoint-rows.js';
import { readJson } from '../run/read-json.js';
import { type KeptFacts, stampOf } from './kept-facts.js';

/** The runs of a group. `title`: from the sweep file. */
export type SweepGroup = {
  readonly name: string;
  readonly title: string | null;
  readonly runs: readonly ReportedRun[];
};

/** A run that is just ending: the manager has not recorded it yet. */
export type EndingRun = { readonly name: string; readonly state: ReportedState };

/**
 * The runs in the directory of a sweep, by group in the order of the sweep file, and within a group in natural order of name.
 *
 * @throws UserError when there are none.
 */
export function sweepGroups(directory: string, kept: KeptFacts, ending: EndingRun | null = null): SweepGroup[] {
  const runs = foldersIn(directory)
    .flatMap((name) => readRun(join(directory, name)) ?? [])
    .map((run) => (run.name === ending?.name ? { ...run, state: ending.state } : run));
  if (runs.length === 0)
    throw new UserError(
      `${directory} has no runs of a sweep.`,
      'Give the directory of one: memrl study runs/quick, where its runs are.',
    );
  const source = join(directory, sweepFiles.text);
  const titles = new Map(kept.value('titles', stampOf(source), () => titlesIn(textOf(source))));
  const places = [...titles.keys()];
  const placeOf = ([run]: readonly ReportedRun[]) =>
    titles.has(run!.group) ? places.indexOf(run!.group) : places.length;
  return grouped(runs, ({ group }) => group)
    .sort((a, b) => placeOf(a) - placeOf(b))
    .map((members) => ({
      name: members[0]!.group,
      title: titles.get(members[0]!.group) ?? null,
      runs: members,
    }));
}

/** Whether a run has ended since the sweep was read. */
export function hasNewEnd(groups: readonly SweepGroup[]): boolean {
  const live = groups.flatMap(({ runs }) => runs.filter(({ state }) => !hasEnded(state)));
  return live.some(({ directory }) => hasEnded(readRun(directory)?.state ?? 'queued'));
}

function foldersIn(directory: string): string[] {
  if (!existsSync(directory)) return [];
  const entries = readdirSync(directory, { withFileTypes: true });
  return entries
    .flatMap((entry) => (entry.isDirectory() && !entry.name.startsWith('.') ? [entry.name] : []))
    .sort(naturalOrder);
}

/** The run in a folder; null when the folder is no run. */
function readRun(directory: string): ReportedRun | null {
  const record = Record.safeParse(readJson(join(directory, runFiles.record))).data;
  if (record === undefined) return null;
  const { name, group, subgroup, parameters } = record;
  const config = Settings.safeParse(readJson(join(directory, runFiles.config))).data ?? {};
  return { name, group, subgroup, directory, parameters, config, state: stateOf(record, directory) };
}

/** The needed fields of a run's record, because checking the whole record is slow. */
const Record = z.object({
  ...{ name: z.string(), group: z.string(), subgroup: z.string().nullable() },
  parameters: z.custom<RunRecord['parameters']>((value) => typeof value === 'object' && value !== null),
  attempts: z.array(z.object({ number: z.int(), outcome: z.object({ kind: z.enum(exitClasses) }).nullable() })),
  state: z.enum(['queued', 'held', 'killed']).optional(),
});

const Settings = z.record(z.string(), z.unknown());

/**
 * Before the end of an attempt is recorded, its files tell: a run that ended well has a final checkpoint and no lock.
 */
function stateOf({ attempts, state }: z.infer<typeof Record>, directory: string): ReportedState {
  const last = attempts.at(-1);
  if (last === undefined) return 'queued';
  if (last.outcome !== null) return state ?? endStateOf(last.outcome.kind);
  const attempt = join(directory, runFiles.attempts, String(last.number));
  const code = exitCodeIn(textOf(join(attempt, runFiles.exit)), () => textOf(join(attempt, runFiles.pid)));
  if (code !== null) return code === 0 ? 'done' : 'failed';
  const isFinal = checkpointRows(directory).at(-1)?.name === 'final';
  return isFinal && !existsSync(join(directory, runFiles.lock)) ? 'done' : 'running';
}

const SweepFile = z.looseObject({
  groups: z.record(z.string(), z.looseObject({ title: z.string().optional() }).nullable()),
});

/** Groups of a sweep file in order, with their titles; none when the file cannot be read. */
function titlesIn(text: string | null): [group: string, title: string | null][] {
  try {
    const { groups } = SweepFile.parse(text === null ? {} : parse(text, { merge: true }));
    return Object.entries(groups).map(([name, group]) => [name, group?.title ?? null]);
  } catch {
    return [];
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
