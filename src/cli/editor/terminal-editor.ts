import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../base/user-error.js';
import type { Ack, Fleet, RunSummary } from '../../client/fleet.js';
import { expandSweep } from '../../spec/expand/expand-sweep.js';
import { shellQuote } from '../../text/shell-words.js';
import { readIfThere, readRunRecord } from '../../files/run-record-file.js';
import { writeSweepText } from '../../files/sweep-text.js';
import type { EditorPort, Draft } from '../../tui/editor-port.js';
import { definedEnvironment } from '../environment.js';
import { requestedSlots } from '../options.js';
import { readSweepText } from '../read-sweep-text.js';
import { outputWidth } from '../terminal.js';
import { editText, openShell } from './borrowed-terminal.js';
import { clonePlan, cloneText, notCloneable } from './clone-text.js';
import { proposalOf, type Proposal } from './proposal.js';
import { planOf, sweepSource, type Launched, type SweepSource } from './sweep-source.js';

/** A text that is being written: what it was at first, what it comes to, and what has to be kept once it was submitted. */
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
    if (plan === null) return { ok: false, message: 'There is nothing new in it any more.', fix: 'Edit it again.' };
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
