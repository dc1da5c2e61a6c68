import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RunId } from '../../src/base/ids.js';
import type { Programs } from '../../src/client/ensure-supervisor.js';
import type { Fleet } from '../../src/client/fleet.js';
import { type ProcessEntry, readProcesses } from '../../src/processes/process-table.js';
import type { Turn } from '../../src/supervisor/core/turn-watch.js';
import { Testbed } from '../supervisor/testbed.js';
import { numbers } from './fault-plan.js';
import { Ledger } from './ledger.js';
import { makePlaces, type Measure, type Ordained, ordained, type Places } from './runs.js';
import type { Blow } from './verdict.js';

/** The shipped program. */
export const program = resolve('dist/memrl-tui.js');

/** Where an ordeal takes place: all that the kinds of faults work on. */
export class Scene {
  readonly bed: Testbed;
  readonly all: readonly Ordained[];
  readonly places: Places;
  readonly ledger: Ledger;
  readonly random: () => number;
  readonly blows: Blow[] = [];
  /** What was seen to be wrong on the way, in words. */
  readonly wrong: string[] = [];
  /** Runs that were submitted through the command line: their ids. */
  readonly side: Ordained[] = [];
  /** Environment of every program that is started; each value is asked for anew at each start. */
  readonly #environment: Record<string, string>;
  #fleet: Fleet | null = null;

  constructor(measure: Measure, seed: number) {
    const runtime = { XDG_RUNTIME_DIR: '' };
    this.bed = new Testbed(runtime);
    this.all = ordained(measure);
    this.places = makePlaces(this.bed.path('.ordeal'));
    this.ledger = new Ledger(this.places.ledger);
    this.random = numbers(seed + 1);
    runtime.XDG_RUNTIME_DIR = this.runtime;
    mkdirSync(this.runtime, { mode: 0o700 });
    for (const file of [this.#turns, this.deaths]) writeFileSync(file, '');
    this.#environment = {
      ...(process.env as Record<string, string>),
      ...{ XDG_RUNTIME_DIR: this.runtime, MEMRL_LEASES: this.bed.path('.leases') },
      ...{ MEMRL_TURNS: this.#turns, MEMRL_FAULT_LOG: this.deaths },
      NODE_OPTIONS: ['die-at.mjs', 'shift-clock.mjs', 'fail-at.mjs'].map(preload).join(' '),
    };
  }

  /** Where the sockets of this user are, until he logs out. */
  get runtime(): string {
    return this.bed.path('.ordeal', 'runtime');
  }

  /** File that tells of the supervisors that died at an operation. */
  get deaths(): string {
    return this.bed.path('.ordeal', 'deaths');
  }

  get #turns(): string {
    return this.bed.path('.ordeal', 'turns');
  }

  /** The client that stays. Null: it has not come yet. */
  get fleet(): Fleet {
    return this.#fleet!;
  }

  async open(): Promise<void> {
    this.#fleet = await this.bed.fleet({ ...(await this.bed.programs()), environment: this.#environment });
  }

  /** Ends everything that was started here, also what no supervisor knows of any more. */
  async close(): Promise<void> {
    await this.bed.close();
  }

  /** Every program that is started from now on gets in this variable what is then given; empty: nothing. */
  give(name: string, value: () => string): void {
    Object.defineProperty(this.#environment, name, { enumerable: true, configurable: true, get: value });
  }

  /** Environment of a client, which shall not die by itself. */
  clientEnvironment(): Record<string, string> {
    return { ...this.#environment, MEMRL_FAULT: '' };
  }

  async programs(): Promise<Programs> {
    return { ...(await this.bed.programs()), environment: this.#environment };
  }

  /** A whole number from 0 on. */
  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  ids(kind: Ordained['kind']): RunId[] {
    return this.all.filter((run) => run.kind === kind).map(idOf);
  }

  get supervisorPid(): number | null {
    return this.bed.supervisorPid();
  }

  /** Living processes of runs. */
  processes(): ProcessEntry[] {
    return readProcesses().filter((entry) => entry.mark()?.startsWith(this.bed.runs));
  }

  /** The long turns of all supervisors' loops, the longest first. */
  longTurns(): Turn[] {
    const lines = readFileSync(this.#turns, 'utf8').split('\n').filter(Boolean);
    const turns = lines.map((line): Turn => {
      const [, ms, computed] = line.split(' ');
      return { ms: Number(ms), computedMs: computed === '-' ? null : Number(computed) };
    });
    return turns.toSorted((a, b) => b.ms - a.ms);
  }
}

export function idOf({ kind, name }: Ordained): RunId {
  return RunId.parse(`${kind === 'side' ? 'side' : 'ordeal'}/${name}`);
}

function preload(file: string): string {
  return `--import=${pathToFileURL(resolve('test/faults', file)).href}`;
}
