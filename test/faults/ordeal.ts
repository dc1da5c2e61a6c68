/**
 * The proof of the claim that the supervisor may be killed at any moment: it is, hundreds of times, with more than a hundred
 * runs alive, while a person changes things; and then every run is called to account.
 */
import { spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { RunId } from '../../src/base/ids.js';
import type { Programs } from '../../src/client/ensure-supervisor.js';
import type { Fleet } from '../../src/client/fleet.js';
import { readProcesses } from '../../src/executors/local/process-table.js';
import { Testbed, waitFor } from '../supervisor/testbed.js';
import { type Fault, faults, numbers } from './fault-plan.js';
import { type Ordained, ordained, ordealPlan, type Places, SLOTS } from './sweep.js';
import { violations } from './verdict.js';

/** What came of it. `deaths`: by place and moment. */
export type Figure = {
  kills: number;
  deaths: Readonly<Record<string, number>>;
  runs: number;
  /** Runs that were alive, at the least, when a supervisor was killed. */
  alive: number;
  seconds: number;
  violations: string[];
};

/** A fault that has not come by then will not, ms. */
const LONGEST_LIFE_MS = 4000;
const LAST_PATIENCE_MS = 120_000;

/** Kills the supervisor so many times, then lets everything end in peace and judges. `short`: runs that last a moment. */
export async function ordeal(options: { kills: number; short: number; seed: number }): Promise<Figure> {
  const bed = new Testbed();
  try {
    return await new Ordeal(bed, options).run();
  } finally {
    await bed.close();
  }
}

class Ordeal {
  readonly #bed: Testbed;
  readonly #kills: number;
  readonly #all: Ordained[];
  readonly #places: Places;
  readonly #log: string;
  readonly #random: () => number;
  readonly #faults: Generator<Fault, never>;
  /** Of the supervisor that was started last; null: no more faults. */
  #fault: Fault | null = null;
  #isOver = false;
  #byHand = 0;

  constructor(bed: Testbed, { kills, short, seed }: { kills: number; short: number; seed: number }) {
    this.#bed = bed;
    this.#kills = kills;
    this.#all = ordained(short);
    this.#places = { starts: bed.path('.starts'), gate: bed.path('.gate') };
    this.#log = bed.path('.deaths');
    this.#random = numbers(seed + 1);
    this.#faults = faults(seed);
    mkdirSync(this.#places.starts);
    spawnSync('mkfifo', [this.#places.gate]);
    writeFileSync(this.#log, '');
  }

  async run(): Promise<Figure> {
    const begin = performance.now();
    const fleet = await this.#bed.fleet(await this.#programs());
    await this.#submit(fleet);
    const alive = await this.#killAndKill(fleet);
    this.#isOver = true;
    await this.#endInPeace(fleet);
    const kills = this.#deaths.length + this.#byHand;
    return {
      kills,
      deaths: tally([...this.#deaths, ...Array<string>(this.#byHand).fill('any time')]),
      runs: this.#all.length,
      alive,
      seconds: (performance.now() - begin) / 1000,
      violations: violations(this.#bed, fleet, this.#all, this.#places),
    };
  }

  get #deaths(): string[] {
    return readFileSync(this.#log, 'utf8').split('\n').filter(Boolean);
  }

  /** Every supervisor that is started gets the next fault. */
  async #programs(): Promise<Programs> {
    const next = () => {
      this.#fault = this.#isOver ? null : this.#faults.next().value;
      return this.#fault?.kind === 'at' ? `${this.#fault.place}:${this.#fault.n}:${this.#fault.moment}` : '';
    };
    const environment: Record<string, string> = {
      ...(process.env as Record<string, string>),
      NODE_OPTIONS: `--import=${pathToFileURL(resolve('test/faults/die-at.mjs')).href}`,
      MEMRL_FAULT_LOG: this.#log,
    };
    Object.defineProperty(environment, 'MEMRL_FAULT', { enumerable: true, get: next });
    return { ...(await this.#bed.programs()), environment };
  }

  /** The answer may get lost with the supervisor; asking twice is the same as once. */
  async #submit(fleet: Fleet): Promise<void> {
    const plan = ordealPlan(this.#bed.runs, this.#places, this.#all);
    await waitFor('the submit to be heard', async () => {
      const ack = await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: SLOTS, gpus: 'none' });
      return ack.ok;
    });
  }

  /** Gives the least number of runs that were alive at a death after all had come up. */
  async #killAndKill(fleet: Fleet): Promise<number> {
    let alive = Infinity;
    let present = { pid: 0, bornAt: 0 };
    while (this.#deaths.length + this.#byHand < this.#kills) {
      const pid = this.#bed.supervisorPid();
      if (pid !== null && pid !== present.pid) present = { pid, bornAt: performance.now() };
      const life = this.#fault?.kind === 'time' ? this.#fault.afterMs : LONGEST_LIFE_MS;
      if (pid !== null && performance.now() > present.bornAt + life) {
        if (this.#areSteady) alive = Math.min(alive, this.#countAlive());
        this.#byHand += kill(pid);
      }
      if (fleet.connection === 'connected') this.#meddle(fleet);
      await new Promise((wake) => setTimeout(wake, 20));
    }
    return alive;
  }

  get #areSteady(): boolean {
    const steady = this.#all.filter(({ kind }) => kind === 'steady');
    return steady.every(({ name }) => existsSync(`${this.#places.starts}/${name}`));
  }

  #countAlive(): number {
    const marks = readProcesses().map((entry) => entry.mark());
    return new Set(marks.filter((mark) => mark?.startsWith(this.#bed.runs))).size;
  }

  /** What a person might do meanwhile. Whether it was heard is seen later. */
  #meddle(fleet: Fleet): void {
    const dice = this.#random();
    const one = (kind: Ordained['kind']) => {
      const some = this.#all.filter((run) => run.kind === kind);
      return [idOf(some[Math.floor(this.#random() * some.length)]!)];
    };
    if (dice < 0.02) void fleet.kill(one('doomed'));
    else if (dice < 0.08) void fleet.hold(one('held'));
    else if (dice < 0.12) void fleet.release(one('held'));
    // Room for a few at a time, so that there is something to do, and to write down, in every life.
    else if (dice < 0.4) void fleet.setSlots({ slots: SLOTS - Math.floor(this.#random() * 8) });
  }

  async #endInPeace(fleet: Fleet): Promise<void> {
    await waitFor('a supervisor that stays', () => fleet.connection === 'connected');
    const ask = async () => {
      await fleet.release(idsOf(this.#all, 'held'));
      await fleet.kill(idsOf(this.#all, 'doomed'));
    };
    await fleet.setSlots({ slots: SLOTS });
    await ask();
    openGate(this.#places.gate);
    const end = () => fleet.connection === 'connected' && fleet.status.settled;
    await waitFor('the end of all runs', async () => end() || (await ask().then(() => false)), LAST_PATIENCE_MS);
  }
}

/** Lets through who waits now, and whoever comes later. */
function openGate(gate: string): void {
  const file = `${gate}.open`;
  writeFileSync(file, '\n');
  const fd = openSync(gate, 'r+');
  renameSync(file, gate);
  closeSync(fd);
}

/** 1 if there was someone to kill. */
function kill(pid: number): number {
  try {
    process.kill(pid, 'SIGKILL');
    return 1;
  } catch {
    return 0;
  }
}

function idOf({ name }: Ordained): RunId {
  return RunId.parse(`ordeal/${name}`);
}

function idsOf(all: readonly Ordained[], kind: Ordained['kind']): RunId[] {
  return all.filter((run) => run.kind === kind).map(idOf);
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
