import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupBy } from '../../base/group-by.js';
import { UserError } from '../../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import { readRunFacts } from '../../files/completion-facts.js';
import { readIfThere, readRunRecord } from '../../files/run-record-file.js';
import { writeSweepText } from '../../files/sweep-text.js';
import { expandSweep } from '../../spec/expand/expand-sweep.js';
import type { Plan, PlannedRun } from '../../spec/planned-run.js';
import { completionOf } from '../../spec/policy/completion.js';
import { doneTest } from '../../spec/policy/done-rule.js';
import { shellQuote } from '../../text/shell-words.js';
import type { Draft, EditorPort, Verdict } from '../../tui/state/editor-port.js';
import { definedEnvironment, requestedSlots } from '../options.js';
import { compactNames } from '../plan/compact-names.js';
import { readSweepText } from '../read-plan.js';
import { outputWidth, print } from '../terminal.js';
import { clonePlan, cloneText, notCloneable } from './clone-text.js';
import { type Launched, planOf, sweepSource, type SweepSource } from './sweep-source.js';

/** A text that is being written: what it was at first, what it would do, and what has to be kept once it was submitted. */
type Work = {
  readonly title: string;
  readonly path: string;
  readonly original: string;
  readonly read: (text: string) => Proposal;
  readonly submitted: (text: string) => void;
};

/** Carries out what the window's desk asks for, with the programs of the terminal it runs in. */
export class TerminalEditor implements EditorPort {
  readonly #fleet: Fleet;
  readonly #launched: Launched;
  readonly #works = new Map<string, Work>();

  constructor(fleet: Fleet, launched: Launched) {
    this.#fleet = fleet;
    this.#launched = launched;
  }

  commandOf(run: RunSummary): string {
    const record = readRunRecord(run.directory);
    const command = shellQuote(record?.argv ?? run.argv);
    return record === null ? command : `cd ${shellQuote([record.cwd])} && ${command}`;
  }

  openShell(directory: string): void {
    openShell(directory, process.env);
  }

  extend(sweep: string): Draft {
    const source = sweepSource(this.#fleet, sweep, this.#launched);
    const path = draftPath(`${sweep}${source.ending}`, source.text);
    return this.#begin({
      title: `extend ${sweep}`,
      path,
      original: source.text,
      read: (text) => this.#extension(source, text, path),
      submitted: (text) => this.#keep(source, text),
    });
  }

  clone(run: RunSummary): Draft {
    const source = sweepSource(this.#fleet, run.sweep, this.#launched);
    if (source.file.kind !== 'groups') throw notCloneable(run.sweep);
    const block = source.file.blocks.find(({ group }) => group === run.group);
    const planned = expandSweep(source.file, source.options).runs.find(({ name }) => name === run.name);
    if (block === undefined) throw goneFrom(run);
    const text = cloneText(planned ?? run, block, this.#freshName(run));
    const path = draftPath(`${run.name}.yaml`, text);
    return this.#begin({
      title: `clone ${run.name}`,
      path,
      original: text,
      read: (edited) => this.#proposed(clonePlan(source, edited, path, block)),
      submitted: () => undefined,
    });
  }

  edit(draft: Draft): Draft {
    return this.#edited(this.#workOf(draft));
  }

  async submit(draft: Draft): Promise<Ack> {
    const work = this.#workOf(draft);
    const text = readSweepText(work.path);
    const { plan } = work.read(text);
    if (plan === null) return { ok: false, message: 'It no longer contains anything new.', fix: 'Edit it again.' };
    const { perGpu } = requestedSlots(this.#launched.options);
    const wish = perGpu === undefined ? {} : { perGpu };
    const ack = await this.#fleet.submit(plan, definedEnvironment(), wish);
    if (ack.ok) work.submitted(text);
    return ack;
  }

  #begin(work: Work): Draft {
    this.#works.set(work.path, work);
    return this.#edited(work);
  }

  #edited(work: Work): Draft {
    const { title, path, original } = work;
    editText(path, process.env);
    try {
      const text = readSweepText(path);
      if (text === original) {
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
    const plan = planOf(source, text, path, new Set(groups.map(({ name }) => name)));
    if (plan.sweep === source.sweep) return this.#proposed(plan);
    throw new UserError(
      `The file now calls the sweep \`${plan.sweep}\`; what is extended is \`${source.sweep}\`.`,
      `Write \`name: ${source.sweep}\` again, or launch the file as a sweep of its own.`,
    );
  }

  #proposed(plan: Parameters<typeof proposalOf>[0]): Proposal {
    return proposalOf(plan, this.#fleet.runs, outputWidth() - 8);
  }

  /** The person's own file is changed too, unless someone else has changed it in the meantime. */
  #keep({ sweep, text: before }: SweepSource, text: string): void {
    const { path } = this.#launched;
    const directory = this.#fleet.sweeps.get(sweep)?.directory;
    if (directory !== undefined) writeSweepText(directory, text);
    if (path !== null && readIfThere(path) === before) writeFileSync(path, text);
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
 * Opens a text in the person's editor, and waits for it.
 *
 * @throws {UserError} When it cannot be started, or ends with anything but 0, as vim does on `:cq`.
 */
function editText(path: string, environment: Environment): void {
  // The variable may hold arguments (`code --wait`): it is a piece of shell by custom.
  const editor = said(environment['VISUAL']) ?? said(environment['EDITOR']) ?? 'vi';
  const { status, error } = spawnSync('sh', ['-c', `${editor} "$1"`, 'editor', path], { stdio: 'inherit' });
  if (error === undefined && status === 0) return;
  const how = error?.message ?? (status === 127 ? 'it was not found' : `it ended with ${status ?? 'a signal'}`);
  throw new UserError(
    `The editor \`${editor}\` failed: ${how}. Nothing was submitted; the text is in ${path}.`,
    'Set EDITOR to an editor that waits until the file is closed, for example `EDITOR=nano`.',
  );
}

/**
 * Opens the person's shell in a directory, and waits for its end, however it ends.
 *
 * @throws {UserError} When there is no such directory, or the shell cannot be started.
 */
function openShell(directory: string, environment: Environment): void {
  const shell = said(environment['SHELL']) ?? 'sh';
  print(['', directory, 'exit (or Ctrl-D) brings the window back.']);
  const { error } = spawnSync(shell, [], { stdio: 'inherit', cwd: directory });
  if (error === undefined) return;
  throw new UserError(
    `No shell could be opened in ${directory}: ${error.message}.`,
    'Check that the directory exists (a run has one once it has started) and what SHELL is set to.',
  );
}

function said(text: string | undefined): string | null {
  return text === undefined || text.trim() === '' ? null : text;
}

/** What a text would submit. `plan`: only the runs that are new or have more to do; null: there are none. */
type Proposal = { readonly verdict: Verdict; readonly plan: Plan | null };

/**
 * What is new in a plan against the runs that are known: runs that are not there yet, and runs that have more to do
 * because a budget grew. Runs that failed or were killed are left as they are: who extends a sweep did not ask for them.
 */
function proposalOf(plan: Plan, known: ReadonlyMap<string, RunSummary>, width: number): Proposal {
  const fresh = plan.runs.filter(({ id }) => !known.has(id));
  const grown = plan.runs.flatMap((run) => {
    const why = known.has(run.id) ? growthOf(run) : null;
    return why === null ? [] : [{ run, why }];
  });
  const runs = [...fresh, ...grown.map(({ run }) => run)];
  const others = plan.runs.length - runs.length;
  if (runs.length === 0) {
    const lines = [
      `All ${plan.runs.length} runs of this file already exist.`,
      '→ Add values or a group, or discard it.',
    ];
    return { verdict: { kind: 'refused', lines }, plan: null };
  }
  const parts = [
    ...(fresh.length === 0 ? [] : [`${fresh.length} new ${fresh.length === 1 ? 'run' : 'runs'}`]),
    ...(grown.length === 0 ? [] : [`${grown.length} with a larger budget`]),
  ];
  const lines = [
    ...groupLines(fresh, width),
    ...grown.slice(0, mostGrown).map(({ run, why }) => `${run.name}: ${why}`),
    ...(grown.length > mostGrown ? [`and ${grown.length - mostGrown} more`] : []),
    ...(others === 0 ? [] : [`${others} unchanged`]),
  ];
  return { verdict: { kind: 'ready', summary: parts.join(', '), lines }, plan: { ...plan, runs } };
}

const mostGrown = 6;

/** One line for each group: `A  12: A_N{16,64}_s{0,1,2}`. */
function groupLines(runs: readonly PlannedRun[], width: number): string[] {
  return [...groupBy(runs, ({ group }) => group)].map(([group, members]) => {
    const names = members.map(({ name }) => name);
    const head = `${group}  ${names.length}: `;
    return head + compactNames(names, width - head.length);
  });
}

function growthOf(run: PlannedRun): string | null {
  const { state, reason } = completionOf(run, readRunFacts(run.directory, run.done, doneTest(run)));
  return state === 'resume' && /\b(grew|changed) from\b/.test(reason) ? reason : null;
}
