import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../../base/ids.js';
import { errorText, UserError } from '../../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import { writeOutputText } from '../../files/output-file.js';
import { readIfThere, readRunRecord } from '../../files/run-directory/run-record-file.js';
import { type LaunchOverrides, readLaunchOverrides, writeSweepText } from '../../files/sweep-folder.js';
import { runInForeground } from '../../processes/started-program.js';
import { expandBeside } from '../../spec/expand/expand-sweep.js';
import type { Plan } from '../../spec/planned-run.js';
import { shellQuote } from '../../text/shell-words.js';
import type { Draft, EditorPort, OwnFile, Verdict } from '../../tui/state/port.js';
import { keepLaunched, surveysOf, withSnapshots } from '../launch/submit.js';
import { definedEnvironment, requestedSlots, runsDirectory } from '../options.js';
import { type Change, type Compared, type Difference, differenceOf, isQueued } from '../launch/compare.js';
import { differenceLines, differenceSummary } from '../launch/confirm.js';
import { estimateLive, estimateWords } from '../launch/estimate.js';
import { withoutSecrets } from '../launch/compare.js';
import { own } from '../ports.js';
import { plannedRuns, readSweepText } from '../launch/read.js';
import { outputWidth, print } from '../terminal.js';
import { clonePlan, cloneText, notCloneable } from './clone-text.js';
import { enterTerminal } from '../verbs/terminal.js';
import { type Launched, planOf, sweepSource, type SweepSource } from './sweep-source.js';

/**
 * A text that is being edited: its initial state, its effect, and its path once it was submitted; null: none. `isSubmitted`: the
 * initial text changes nothing.
 */
type Work = {
  readonly title: string;
  readonly path: string;
  readonly original: string;
  readonly isSubmitted: boolean;
  readonly read: (text: string) => Proposal;
  readonly source: SweepSource | null;
};

/** Implements the window's editor with the programs of its terminal. */
export class TerminalEditor implements EditorPort {
  readonly #fleet: Fleet;
  readonly #launched: Launched;
  readonly #works = new Map<string, Work>();

  constructor(fleet: Fleet, launched: Launched) {
    this.#fleet = fleet;
    this.#launched = launched;
  }

  #readLaunchOverrides(sweep: string): LaunchOverrides {
    const directory = this.#fleet.sweeps.get(sweep)?.directory;
    return directory === undefined ? { set: [] } : readLaunchOverrides(directory);
  }

  commandOf(run: RunSummary): string {
    const record = readRunRecord(run.directory);
    const command = shellQuote(record?.argv ?? run.argv);
    return record === null ? command : `cd ${shellQuote([record.cwd])} && ${command}`;
  }

  openShell(directory: string): void {
    openShell(directory, own().env);
  }

  openTerminal(run: RunSummary): void {
    enterTerminal(run, own().env);
  }

  extend(sweep: string): Draft {
    const source = sweepSource(this.#fleet, sweep, this.#launched);
    const path = draftPath(`${sweep}${source.ending}`, source.text);
    return this.#begin({
      title: `extend ${sweep}`,
      path,
      original: source.text,
      isSubmitted: source.isSubmitted,
      read: (text) => this.#extension(source, text, path),
      source,
    });
  }

  clone(run: RunSummary): Draft {
    const source = sweepSource(this.#fleet, run.sweep, this.#launched);
    if (source.file.kind !== 'groups') throw notCloneable(run.sweep);
    const block = source.file.blocks.find(({ group }) => group === run.group);
    const { plan } = expandBeside(source.file, source.options, source.existing);
    const planned = plan.runs.find(({ name }) => name === run.name);
    if (block === undefined) throw goneFrom(run);
    const text = cloneText(planned ?? run, block, this.#freshName(run));
    const path = draftPath(`${run.name}.yaml`, text);
    return this.#begin({
      title: `clone ${run.name}`,
      path,
      original: text,
      isSubmitted: true,
      read: (edited) => this.#clone(clonePlan(source, edited, path, block)),
      source: null,
    });
  }

  edit(draft: Draft): Draft {
    return this.#edited(this.#workOf(draft));
  }

  async submit(draft: Draft): Promise<Ack> {
    const work = this.#workOf(draft);
    const text = readSweepText(work.path);
    const { plan, order } = work.read(text);
    if (plan === null)
      return { ok: false, message: 'It changes nothing any more: its runs have moved on.', fix: 'Edit it again.' };
    const perGpu = requestedSlots(this.#launched.options).perGpu ?? this.#readLaunchOverrides(plan.sweep).perGpu;
    const wish = perGpu === undefined ? {} : { perGpu };
    const environment = definedEnvironment();
    const surveys = await surveysOf(plan, runsDirectory(this.#launched.options.runs), environment);
    const rows = this.#fleet.runs;
    const whole = await withSnapshots(plan, plannedRuns(plan), surveys, { rows, environment });
    const ack = await this.#fleet.submit(whole, environment, wish, order);
    const unkept = ack.ok && work.source !== null ? this.#keep(work.source, text) : null;
    return ack.ok && unkept !== null ? { ...ack, message: `${ack.message}. ${unkept}` } : ack;
  }

  ownFile(draft: Draft): OwnFile | null {
    const { source } = this.#workOf(draft);
    if (source === null || source.ownPath === null) return null;
    const { ownPath: path, kept } = source;
    return { path, kept, isAsKnown: readIfThere(path) === source.text };
  }

  writeOwnFile(draft: Draft): void {
    const own = this.ownFile(draft);
    if (own === null) return;
    const { path, kept } = own;
    if (!own.isAsKnown)
      throw new UserError(
        `${path} differs from the text before this edit, and is left as it is.`,
        `The edited text is in ${kept}.`,
      );
    try {
      writeOutputText(path, readSweepText(draft.path));
    } catch (error) {
      throw new UserError(`${path} could not be written: ${errorText(error)}.`, `The edited text is in ${kept}.`);
    }
  }

  #begin(work: Work): Draft {
    this.#works.set(work.path, work);
    return this.#edited(work);
  }

  #edited(work: Work): Draft {
    const { title, path, original, isSubmitted } = work;
    editText(path, own().env);
    try {
      const text = readSweepText(path);
      if (text === original && isSubmitted) {
        const why = `Nothing was changed, so there is nothing to ${title}.`;
        return { title, path, verdict: { kind: 'unchanged', why } };
      }
      return { title, path, verdict: work.read(text).verdict };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { title, path, verdict: { kind: 'refused', lines: [...error.message.split('\n'), `→ ${error.fix}`] } };
    }
  }

  #extension(source: SweepSource, text: string, path: string): Proposal {
    const groups = this.#fleet.sweeps.get(source.sweep)?.groups ?? [];
    const { plan, names, leftOut } = planOf(source, text, path, new Set(groups.map(({ name }) => name)));
    if (plan.sweep === source.sweep) return this.#proposed({ ...shown(plan), names, leftOut });
    throw new UserError(
      `The file now calls the sweep \`${plan.sweep}\`; what is extended is \`${source.sweep}\`.`,
      `Write \`name: ${source.sweep}\` again, or launch the file as a sweep of its own.`,
    );
  }

  #proposed(compared: Compared): Proposal {
    const difference = differenceOf(compared, this.#fleet.runs.values());
    const now = Date.now();
    const estimate = estimateLive(difference, compared.plan, this.#fleet, { leavesBroken: true, now });
    const time = estimateWords(estimate, true);
    return proposalOf(compared.plan, difference, { time, width: outputWidth() - 8 });
  }

  /** The proposal of a clone, which does not affect other runs of the sweep. */
  #clone(plan: Plan): Proposal {
    const difference = { ...differenceOf({ ...shown(plan), leftOut: [] }, this.#fleet.runs.values()), absent: [] };
    return { ...proposalOf(plan, difference, { time: null, width: outputWidth() - 8 }), order: [] };
  }

  #keep({ sweep, ending }: SweepSource, text: string): string | null {
    const directory = this.#fleet.sweeps.get(sweep)?.directory;
    return directory === undefined ? null : keepLaunched(directory, () => writeSweepText(directory, text, ending));
  }

  #freshName({ sweep, name }: RunSummary): string {
    const taken = new Set<string>(this.#fleet.runs.keys());
    for (let number = 2; ; number += 1) if (!taken.has(`${sweep}/${name}_${number}`)) return `${name}_${number}`;
  }

  #workOf({ path }: Draft): Work {
    return this.#works.get(path)!;
  }
}

function draftPath(name: string, text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), 'memrl-')), name);
  writeFileSync(path, text, { mode: 0o600 });
  return path;
}

function goneFrom({ name, group, sweep }: RunSummary): UserError {
  return new UserError(
    `${name} is of group ${group}, which is no longer in the file of ${sweep}.`,
    'Add the group again: e extends the sweep.',
  );
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens a text in the user's editor, and waits for it.
 *
 * @throws {UserError} When it cannot be started, or exits with anything but 0, as vim does on `:cq`.
 */
function editText(path: string, environment: Environment): void {
  // By convention the variable is a shell command and may have arguments (`code --wait`).
  const editor = said(environment['VISUAL']) ?? said(environment['EDITOR']) ?? 'vi';
  const { status, error } = runInForeground('sh', ['-c', `${editor} "$1"`, 'editor', path]);
  if (error === undefined && status === 0) return;
  const how = error?.message ?? (status === 127 ? 'it was not found' : `it ended with ${status ?? 'a signal'}`);
  throw new UserError(
    `The editor \`${editor}\` failed: ${how}. Nothing was submitted; the text is in ${path}.`,
    'Set EDITOR to an editor that waits until the file is closed, for example `EDITOR=nano`.',
  );
}

/**
 * Opens the user's shell in a directory, and waits for its end, whatever its exit code.
 *
 * @throws {UserError} When the directory does not exist, or the shell cannot be started.
 */
export function openShell(directory: string, environment: Environment): void {
  const shell = said(environment['SHELL']) ?? 'sh';
  print(['', directory, 'exit (or Ctrl-D) brings the window back.']);
  const { error } = runInForeground(shell, [], { cwd: directory });
  if (error === undefined) return;
  throw new UserError(
    `No shell could be opened in ${directory}: ${error.message}.`,
    'Check that the directory exists (a run has one once it has started) and what SHELL is set to.',
  );
}

function said(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text;
}

/** A plan with what is left to do of its runs, without secrets, like the supervisor's rows. */
function shown(plan: Plan): Pick<Compared, 'plan' | 'planned'> {
  return { plan, planned: withoutSecrets(plannedRuns(plan), definedEnvironment()) };
}

/**
 * What a text would submit. `plan`: only the runs that it changes; null: there are none. `order`: all runs of the file, if those
 * are only some of them; empty: the plan is of no file, and says nothing of other runs.
 */
type Proposal = { readonly verdict: Verdict; readonly plan: Plan | null; readonly order: readonly RunId[] };

/**
 * The changes that a plan makes: new runs, runs with a larger budget, and queued runs with other settings. Failed and killed runs
 * are left alone, as extending a sweep is no request to retry them.
 */
function proposalOf(
  plan: Plan,
  difference: Difference,
  { time, width }: { readonly time: string | null; readonly width: number },
): Proposal {
  const changes = difference.changes.filter(isSubmitted);
  const ids = new Set(changes.map(({ run }) => run.id));
  const lines = differenceLines(difference, { width, leavesBroken: true });
  const order = plan.runs.map(({ id }) => id);
  if (ids.size === 0) {
    const why = [`Nothing changes: all ${plan.runs.length} runs of this file already exist.`, ...lines];
    return {
      verdict: { kind: 'refused', lines: [...why, '→ Add values or a group, or discard it.'] },
      plan: null,
      order,
    };
  }
  const summary = differenceSummary({ ...difference, changes }) + (time === null ? '' : `; ${time}`);
  const runs = plan.runs.filter(({ id }) => ids.has(id));
  return { verdict: { kind: 'ready', summary, lines }, plan: { ...plan, runs }, order };
}

function isSubmitted({ kind, state, settings }: Change): boolean {
  if (kind === 'same') return isQueued(state) && settings.length > 0;
  if (kind === 'longer') return state !== 'failed' && state !== 'killed' && state !== 'lost';
  return kind === 'new';
}
