/**
 * Calls a run to account: what the supervisor says of it, against what the run itself wrote down and what was done to it.
 *
 * Pure, so that made-up accounts can show that each kind of wrong is seen.
 */
import type { RunSummary } from '../../src/client/fleet.js';
import type { Entry } from './ledger.js';
import type { Ordained } from './runs.js';

/** Whom `kill -9` was for: the run's shim, its own process, or the process group of both. */
export type Victim = 'shim' | 'command' | 'group';

/** `process`: the run's own, as in the ledger, whoever of its attempt was killed. */
export type Blow = { victim: Victim; process: string };

/** All that is known of one run when all is over. */
export type Account = {
  run: Ordained;
  row: Pick<RunSummary, 'state' | 'attempt' | 'exit'>;
  /** What the run wrote, in the order of time. */
  entries: readonly Entry[];
  /** What was done to its processes. */
  blows: readonly Blow[];
  /** How it ended, or where it is, by the journal alone. */
  journal: string | undefined;
  /** `run.json`: number and class of end of each attempt; null: none yet. Null as a whole: it cannot be read. */
  record: readonly { number: number; end: string | null }[] | null;
};

/** Everything that is not as it must be, in words. Empty: nothing was lost, doubled or misreported. */
export function violations(account: Account): string[] {
  const { run, row } = account;
  const wrong = [...startsWrong(account), ...endWrong(account), ...recordWrong(account), ...journalWrong(account)];
  return wrong.map((what) => `${run.name} (${row.state}, ${row.attempt} attempts) ${what}`);
}

function startsWrong({ run, row, entries, blows }: Account): string[] {
  const starts = entries.filter(({ kind }) => kind === 'start');
  const numbers = starts.map(({ attempt }) => attempt);
  // Its exit code is gone with its shim: nobody can know that it was done.
  const shimless = new Set(blows.filter(({ victim }) => victim !== 'command').map(({ process }) => process));
  const done = entries.findIndex((entry) => entry.kind === 'end' && entry.code === 0 && !shimless.has(entry.process));
  return [
    ...(new Set(numbers).size === numbers.length ? [] : [`was started twice in one attempt: ${numbers.join(', ')}`]),
    ...starts.filter((entry) => entry.kind === 'start' && entry.beside).map(besideWords),
    ...(done >= 0 && entries.slice(done).some(({ kind }) => kind === 'start')
      ? ['was started again when it was done']
      : []),
    ...(run.starts === null || starts.length === run.starts
      ? []
      : [`was started ${starts.length} times, not ${run.starts}`]),
    ...(row.attempt === starts.length || row.attempt === numbers.at(-1) ? [] : [`was started ${starts.length} times`]),
  ];
}

function besideWords({ attempt }: Entry): string {
  return `was started (attempt ${attempt}) while another process of it was alive`;
}

/** How it must have ended, by what became of its last process. */
function endWrong(account: Account): string[] {
  const { run, row, entries } = account;
  if (run.kind === 'doomed') return row.state === 'killed' ? [] : ['should have been killed'];
  const allowed = allowedEnds(account);
  // Where nothing can be written in its directory, it cannot be started, and that is said.
  if (run.kind === 'broken' && entries.length === 0) return row.exit === null ? ['has no end'] : [];
  if (allowed.length === 0) {
    return [entries.length === 0 ? 'was never started' : 'has a process that neither ended nor was killed'];
  }
  const said = saidOf(row);
  return allowed.includes(said) ? [] : [`should be ${allowed.join(' or ')}, says ${said}`];
}

/** Ends that would be true. Empty: none. */
function allowedEnds({ run, entries, blows }: Account): string[] {
  const last = entries.findLast(({ kind }) => kind === 'start');
  if (last === undefined) return [];
  const own = entries.find((entry) => entry.kind === 'end' && entry.process === last.process);
  const victims = new Set(blows.filter(({ process }) => process === last.process).map(({ victim }) => victim));
  return [
    ...(own?.kind === 'end' ? [own.code === 0 ? 'done 0' : `failed ${own.code}`] : []),
    ...endsOfVictims(victims, own !== undefined),
    // Where the files cannot be read by which its end is known, one must live with what is known.
    ...(isSpoilt(run) ? ['lost', 'killed'] : []),
  ];
}

/** @param hasEnded Whether the run itself wrote down how it would end. */
function endsOfVictims(victims: ReadonlySet<Victim>, hasEnded: boolean): string[] {
  const isGroup = victims.has('group');
  // With its shim its exit code is gone, but when that was all that was done it ends by itself, and writes it down.
  const isShimless = victims.has('shim') && (hasEnded || victims.size > 1);
  return [
    // One that has said how it will end may be killed in its last moment.
    ...(isGroup || victims.has('command') ? ['signal SIGKILL'] : []),
    ...(isGroup || isShimless ? ['lost'] : []),
  ];
}

/** In one word for each of class and code, or signal. */
function saidOf({ exit }: Account['row']): string {
  if (exit === null) return 'nothing';
  if (exit.class === 'signal') return `signal ${exit.signal}`;
  return exit.class === 'done' || exit.class === 'failed' ? `${exit.class} ${exit.code}` : exit.class;
}

function recordWrong({ run, row, entries, record }: Account): string[] {
  // One of them has put something else in its place.
  if (isSpoilt(run)) return [];
  if (record === null) return entries.length === 0 ? [] : ['has no run.json'];
  const starts = entries.filter(({ kind }) => kind === 'start').map(({ attempt }) => attempt);
  const numbers = record.map(({ number }) => number).join();
  const told = record.map(({ number, end }) => `${number} (${end})`).join(', ');
  const last = record.at(-1)?.end;
  return [
    ...(numbers === starts.join() ? [] : [`has attempts ${told} in run.json, not ${starts.join()}`]),
    ...(record.every(({ end }) => end !== null) ? [] : ['has an attempt without an end in run.json']),
    ...(starts.length === 0 || last === row.exit?.class ? [] : [`is ${last} in run.json`]),
  ];
}

function isSpoilt({ kind }: Ordained): boolean {
  return kind === 'spoiler' || kind === 'broken';
}

function journalWrong({ row, journal }: Account): string[] {
  return journal === row.exit?.class ? [] : [`is ${journal} by the journal`];
}
