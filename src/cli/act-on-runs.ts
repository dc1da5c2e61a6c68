import { hasEnded } from '../base/run-words.js';
import { UserError } from '../base/user-error.js';
import type { Fleet, RunSummary } from '../client/fleet.js';
import { fits, orderOf, refusalOf, refusalWords, rowOf, type RunOrder, type RunVerb } from '../protocol/run-verbs.js';
import { compactNames } from '../text/compact-names.js';
import { counted } from '../text/numbers.js';
import { exitCodes } from './answers/exit-codes.js';
import { chooseRuns } from './chosen-runs.js';
import { promised, withFleet } from './open-fleet.js';
import type { CommonOptions } from './options.js';
import { isGrowing, isOver, runsOf } from './plain/watched-run.js';
import { ask, hasPerson, outputWidth, print, printAnswer, remark } from './terminal.js';

export type ActOptions = CommonOptions & { yes?: boolean; dryRun?: boolean; wait?: boolean };

/**
 * Applies a verb to the runs that the words select: prints which, asks for confirmation if there are several, and resolves once the
 * supervisor has recorded it (`wait`: once the runs have ended). Exit code 2 when the user declined.
 *
 * @throws {UserError} When it applies to none of them, or disturbs several and nobody can be asked.
 */
async function actOnRuns(order: RunOrder, words: readonly string[], options: ActOptions): Promise<number> {
  const { verb } = order;
  return withFleet(options, async (fleet) => {
    const chosen = await chooseRuns(words, fleet);
    const fitting = chosen.filter(fits(order));
    const tell = (line: string) => (options.json === true ? undefined : print([line]));
    if (fitting.length > 0) tell(runsLine(verb, fitting, chosen.length - fitting.length));
    const undone = () => {
      if (options.json === true) printAnswer('act', { ...told(order, fitting, chosen), done: false, message: null });
    };
    if (options.dryRun === true) {
      if (fitting.length === 0) tell(`${verb}: nothing to do, ${unfitting(order, chosen)}`);
      undone();
      return 0;
    }
    if (!(await isAgreed({ verb, count: fitting.length, disturbs: rowOf(verb).disturbs }, options))) {
      undone();
      return exitCodes.refused;
    }
    const sweeps = verb === 'kill' ? unfinishedSweeps(words, fleet) : [];
    const message = await carriedOut(order, fleet, { sweeps, fitting, chosen });
    if (options.wait === true) await untilEnded(fleet, chosen, sweeps);
    tell(message);
    if (options.json === true) printAnswer('act', { ...told(order, fitting, chosen), done: true, message });
    return 0;
  });
}

type Chosen = {
  readonly sweeps: readonly string[];
  readonly fitting: readonly RunSummary[];
  readonly chosen: readonly RunSummary[];
};

/** Returns what was done. To kill what has ended is no mistake: a script may ask twice. */
async function carriedOut(order: RunOrder, fleet: Fleet, { sweeps, fitting, chosen }: Chosen): Promise<string> {
  if (sweeps.length > 0) return killSweeps(fleet, sweeps);
  if (order.verb === 'kill' && fitting.length === 0) return `nothing to do, ${unfitting(order, chosen)}`;
  // If it applies to none, the supervisor's refusal explains it best.
  const ids = (fitting.length > 0 ? fitting : chosen).map(({ id }) => id);
  return promised(await fleet.act(order, ids));
}

/** The words, if all are names of sweeps: those of them that have runs, or may get further ones. */
function unfinishedSweeps(words: readonly string[], fleet: Fleet): string[] {
  if (!words.every((word) => fleet.sweeps.has(word))) return [];
  return words.filter((sweep) => isGrowing(fleet, sweep) || runsOf(fleet, sweep).some(({ state }) => !hasEnded(state)));
}

/** Ends sweeps as a whole: they get no further runs, either. */
async function killSweeps(fleet: Fleet, sweeps: readonly string[]): Promise<string> {
  const messages: string[] = [];
  for (const sweep of sweeps) messages.push(promised(await fleet.request({ verb: 'stop-sweep', sweep })));
  return messages.join('; ');
}

/** The announcement, as wide as the output: `kill 12 runs: A_{…}_s0 (3 left as they are)`. */
export function runsLine(verb: string, fitting: readonly RunSummary[], others: number): string {
  const rest = others === 0 ? '' : ` (${others} left as they are)`;
  const head = `${verb} ${fitting.length} run${fitting.length === 1 ? '' : 's'}: `;
  const ofOneSweep = new Set(fitting.map(({ sweep }) => sweep)).size === 1;
  const names = fitting.map(({ id, name }) => (ofOneSweep ? name : id));
  return `${head}${compactNames(names, outputWidth() - head.length - rest.length)}${rest}`;
}

/** `A_s0 is held already (and 2 more)`. */
function unfitting(order: RunOrder, [first, ...others]: readonly RunSummary[]): string {
  const why = refusalWords(refusalOf(order, first!)!);
  return `${first!.name} ${why}${others.length === 0 ? '' : ` (and ${others.length} more)`}`;
}

function told({ verb }: RunOrder, fitting: readonly RunSummary[], chosen: readonly RunSummary[]) {
  const others = chosen.filter((run) => !fitting.includes(run));
  return {
    verb,
    runs: fitting.map(({ id }) => id),
    unfitting: others.map(({ id, state }) => ({ id, state })),
  };
}

async function untilEnded(fleet: Fleet, chosen: readonly RunSummary[], sweeps: readonly string[]): Promise<void> {
  await fleet.until(() => {
    if (fleet.connection !== 'connected' || !sweeps.every((sweep) => isOver(fleet, runsOf(fleet, sweep)))) return false;
    return chosen.every(({ id }) => {
      const run = fleet.runs.get(id);
      return run === undefined || hasEnded(run.state);
    });
  });
}

/** An intended change. `disturbs`: it ends runs, or keeps them from running. `isFinal`: it deletes something for good. */
type Intention = {
  readonly verb: string;
  readonly count: number;
  readonly disturbs: boolean;
  readonly isFinal?: boolean;
};

/**
 * Whether it may be done: to one run always, to several if the user confirms it at the terminal or with `-y`. If nobody can be
 * asked, only changes that disturb no run are allowed.
 *
 * @throws {UserError} If nobody can be asked, and runs would be disturbed.
 */
export async function isAgreed(
  { verb, count, disturbs, isFinal = false }: Intention,
  { yes }: { yes?: boolean },
): Promise<boolean> {
  if ((count <= 1 && !isFinal) || yes === true) return true;
  if (hasPerson()) return confirm('Proceed?');
  if (!disturbs) return true;
  throw new UserError(
    `${verb} would affect ${counted(count, 'run')}, and there is no terminal to ask for confirmation. Nothing was done.`,
    'Confirm with -y; --dry-run shows which runs are affected.',
  );
}

/** Asks the user at the terminal; anything but a clear yes counts as no, which is then printed. */
export async function confirm(question: string): Promise<boolean> {
  const agreed = /^y(es)?$/i.test((await ask(`${question} [y/N] `)).trim());
  if (!agreed) remark('Nothing was done.');
  return agreed;
}

/** `memrl-tui kill QUERY`, `memrl-tui priority N QUERY`: `memrl-tui type QUERY LINE`: every verb in the table of run verbs. */
export function act(verb: RunVerb, words: readonly string[], options: ActOptions): Promise<number> {
  switch (rowOf(verb).takes) {
    case null:
      return actOnRuns(orderOf(verb), words, options);
    case 'number':
      return actOnRuns(orderOf(verb, numberIn(words[0]!, verb)), words.slice(1), options);
    case 'text':
      return actOnRuns(orderOf(verb, lineIn(words, verb)), words.slice(0, -1), options);
  }
}

/** The last argument is the line, which may be empty. */
function lineIn(words: readonly string[], verb: RunVerb): string {
  if (words.length > 1) return words.at(-1)!;
  throw new UserError(
    'There is a run, and no line to type.',
    `Write the line after the run, in quotes: \`memrl-tui ${verb} A_s0 "p loss"\`; \`''\` is an empty line.`,
  );
}

function numberIn(text: string, verb: RunVerb): number {
  if (/^[+-]?\d{1,9}$/.test(text)) return Number(text);
  throw new UserError(
    `\`${text}\` is not a ${verb}.`,
    `Write a whole number before the runs, for example \`memrl-tui ${verb} 10 group:A\`.`,
  );
}
