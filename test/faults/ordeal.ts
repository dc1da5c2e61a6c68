/**
 * The proof of the claim that anything may be killed at any moment: supervisors, clients, and the runs' own processes are, by
 * the hundreds, with more than a hundred runs alive, while a person changes things and the world changes about them; and then
 * every run is called to account, by what it wrote down itself.
 */
import { closeSync, cpSync, lstatSync, openSync, renameSync, writeFileSync } from 'node:fs';
import type { Fleet } from '../../src/client/fleet.js';
import { LONG_TURN_MS, longTurnWords, type Turn } from '../../src/supervisor/core/turn-watch.js';
import { waitFor } from '../supervisor/testbed.js';
import { accounts } from './accounts.js';
import type { Killer, Trial } from './kind.js';
import { clientDeaths, submitWords } from './kinds/clients.js';
import { commandDeaths } from './kinds/commands.js';
import { letTheClockJump } from './kinds/clock.js';
import { letFilesFail } from './kinds/errors.js';
import { handshakes } from './kinds/handshakes.js';
import { logouts } from './kinds/logout.js';
import { crowded } from './kinds/many-files.js';
import { strangers } from './kinds/namespace.js';
import { paths } from './kinds/paths.js';
import { processDeaths } from './kinds/processes.js';
import { type Deaths, isMarked, kill, supervisorDeaths } from './kinds/supervisors.js';
import { codeWrong, typed } from './kinds/typed.js';
import { isThere } from './ledger.js';
import { ordealPlan, SLOTS } from './runs.js';
import { Scene } from './scene.js';
import { violations } from './verdict.js';

/** What came of it. `deaths`: of supervisors, by place and moment. */
export type Figure = {
  /** By whom they were of. */
  kills: Readonly<Record<string, number>>;
  deaths: Readonly<Record<string, number>>;
  /** Names of what was done besides, and what could not be done, with the reason. */
  trials: string[];
  skipped: string[];
  runs: number;
  /** Runs that were alive, at the least, when a supervisor was killed. */
  alive: number;
  seconds: number;
  /** Of the loops of all supervisors; null: not measured. `computing`: the one in which most was computed. */
  turns: { longest: Turn; computing: Turn } | null;
  violations: string[];
};

/**
 * `without`: names of killers and trials, `clock jumps`, `spoilers`, `errors` and `turns`,
 * that are left out. `computingMs`: what a turn of a supervisor may compute; how long it waits for a process that it starts to get a
 * processor, and for the kernel to make a cgroup, depends on what else the machine does.
 * `files`: of each format, in the directory of one run. `broken`: rejects when nobody wants to know any more. `keep`: where to copy the
 * runs directory to if anything was wrong.
 */
export type OrdealOptions = {
  kills: number;
  seed: number;
  without?: readonly string[];
  computingMs?: number;
  files?: number;
  broken?: Promise<never>;
  keep?: string;
};

/** More than are read of one run. */
const FILES = 1100;
const LAST_PATIENCE_MS = 60_000;
/** Kills that have not been possible by then will not be: ms for each, and for all together. */
const KILL_PATIENCE_MS = 1000;
const STORM_PATIENCE_MS = 60_000;
/** Between two rounds of all killers, ms. */
const ROUND_MS = 10;

/** Kills so many, then lets everything end in peace and judges. The same seed kills at the same operations. */
export async function ordeal(options: OrdealOptions): Promise<Figure> {
  const { kills, without = [] } = options;
  const share = kills / 4;
  const measure = {
    ...{ short: Math.ceil(kills / 2), prey: Math.ceil(kills * 1.1) },
    ...{ spoilers: !without.includes('spoilers'), errors: !without.includes('errors') },
  };
  const scene = new Scene(measure, options.seed);
  try {
    const given = new Ordeal(scene, options, supervisorDeaths(scene, share / kills, options.seed)).run();
    const figure = await (options.broken === undefined ? given : Promise.race([given, options.broken]));
    const { keep } = options;
    if (keep !== undefined && figure.violations.length > 0)
      cpSync(scene.bed.runs, keep, { recursive: true, filter: isCopied });
    return figure;
  } finally {
    await scene.close();
  }
}

/** Pipes and sockets cannot be copied. */
function isCopied(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat !== undefined && (stat.isFile() || stat.isDirectory());
}

class Ordeal {
  readonly #scene: Scene;
  readonly #options: OrdealOptions;
  readonly #deaths: Deaths;
  readonly #killers: readonly Killer[];
  readonly #trials: readonly Trial[];
  readonly #kills = new Map<string, number>();

  constructor(scene: Scene, options: OrdealOptions, deaths: Deaths) {
    this.#scene = scene;
    this.#options = options;
    const isWanted = ({ name }: { name: string }) => this.#isWanted(name);
    this.#deaths = deaths;
    this.#killers = [
      deaths.killer,
      clientDeaths(0.12),
      commandDeaths(0.06),
      processDeaths('shim', 0.21),
      processDeaths('command', 0.21),
      processDeaths('group', 0.21),
    ].filter(isWanted);
    this.#trials = [...logouts, ...strangers, crowded(options.files ?? FILES), ...paths, ...handshakes].filter(
      isWanted,
    );
  }

  async run(): Promise<Figure> {
    const begin = performance.now();
    if (this.#isWanted('clock jumps')) letTheClockJump(this.#scene);
    if (this.#isWanted('errors')) letFilesFail(this.#scene);
    await this.#scene.open();
    await this.#submit();
    await this.#storm();
    await this.#calm();
    await this.#endInPeace();
    return this.#judge((performance.now() - begin) / 1000);
  }

  #isWanted(name: string): boolean {
    return !(this.#options.without ?? []).includes(name);
  }

  /** The answer may get lost with the supervisor; asking twice is the same as once. */
  async #submit(): Promise<void> {
    const { bed, places, all, fleet } = this.#scene;
    const plan = ordealPlan(bed.runs, places, all);
    await waitFor('the submit to be heard', async () => {
      const ack = await fleet.submit(plan, { PATH: process.env['PATH']! }, { slots: SLOTS, gpus: 'none' });
      return ack.ok;
    });
  }

  async #storm(): Promise<void> {
    const { kills } = this.#options;
    const end = performance.now() + STORM_PATIENCE_MS + kills * KILL_PATIENCE_MS;
    const isShort = ({ name, share }: Killer) => (this.#kills.get(name) ?? 0) < share * kills;
    // Supervisors die as long as anything does.
    for (let left = this.#killers.filter(isShort); left.length > 0; left = this.#killers.filter(isShort)) {
      for (const killer of new Set([this.#deaths.killer, ...left]))
        this.#count(killer.name, killer.strike(this.#scene));
      this.#lookAtBodies();
      if (this.#scene.fleet.connection === 'connected') this.#meddle(this.#scene.fleet);
      if (performance.now() > end) return void left.forEach((killer) => this.#missed(killer));
      await new Promise((wake) => setTimeout(wake, ROUND_MS));
    }
  }

  #count(name: string, kills: number): void {
    this.#kills.set(name, (this.#kills.get(name) ?? 0) + kills);
  }

  #missed({ name, share }: Killer): void {
    const wanted = Math.ceil(share * this.#options.kills);
    this.#scene.wrong.push(`only ${this.#kills.get(name) ?? 0} of ${wanted} ${name} could be killed`);
  }

  /** A run whose shim was killed has not ended while its command lives, whatever can be known of it. */
  #lookAtBodies(): void {
    const { blows, ledger, fleet, wrong } = this.#scene;
    const recent = new Set(blows.slice(-20).map(({ process }) => process));
    const starts = ledger
      .entries()
      .slice(-400)
      .filter(({ kind, process }) => kind === 'start' && recent.has(process));
    for (const { run, attempt, process } of starts) {
      const row = [...fleet.runs.values()].find(({ id }) => id === run);
      // While no supervisor answers, the row is of an earlier attempt.
      if (row === undefined || row.attempt < attempt) continue;
      const isOver = row.attempt > attempt || ['done', 'failed', 'killed', 'lost'].includes(row.state);
      const words = `attempt ${attempt} of ${run} is over (${row.state}, attempt ${row.attempt}) while its process is alive`;
      if (isOver && isThere({ process }) && !wrong.includes(words)) wrong.push(words);
    }
  }

  /** What a person might do meanwhile. Whether it was heard is seen later. */
  #meddle(fleet: Fleet): void {
    const scene = this.#scene;
    const dice = scene.random();
    const one = (kind: Parameters<Scene['ids']>[0]) => [scene.ids(kind)[scene.below(scene.ids(kind).length)]!];
    if (dice < 0.01) void fleet.act('kill', one('doomed'));
    else if (dice < 0.04) void fleet.act('hold', one('held'));
    else if (dice < 0.06) void fleet.act('release', one('held'));
    else if (dice < 0.07) void fleet.act('resume', one('prey'));
    // Room for fewer at times, so that there is something to do, and to write down, in every life.
    else if (dice < 0.15) void fleet.request({ verb: 'set-slots', slots: { slots: SLOTS - scene.below(16) } });
  }

  /** Lets a supervisor live, and does to it what else there is. */
  async #calm(): Promise<void> {
    const { fleet, wrong } = this.#scene;
    await this.#peace();
    for (const trial of this.#trials) {
      if (trial.why() === null) wrong.push(...(await trial.undergo(this.#scene)));
      await waitFor(`the supervisor after ${trial.name}`, () => fleet.connection === 'connected');
    }
  }

  /** From now on the supervisor lives; one that is to die by itself does so now. */
  async #peace(): Promise<void> {
    const { fleet } = this.#scene;
    const before = this.#scene.supervisorPid;
    this.#deaths.spare();
    const isUp = () => {
      const pid = this.#scene.supervisorPid;
      if (pid !== null && (pid === before || isMarked(pid))) kill(pid);
      else return pid !== null && fleet.connection === 'connected';
    };
    await waitFor('a supervisor that stays', isUp, LAST_PATIENCE_MS);
  }

  async #endInPeace(): Promise<void> {
    const scene = this.#scene;
    const { fleet } = scene;
    const ask = async () => {
      await fleet.act('release', scene.ids('held'));
      await fleet.act('kill', scene.ids('doomed'));
    };
    await fleet.request({ verb: 'set-slots', slots: { slots: SLOTS } });
    await ask();
    scene.wrong.push(...codeWrong('the last launch', await typed(scene, submitWords(scene, 1))));
    openGate(scene.places.gate);
    const end = () => fleet.connection === 'connected' && fleet.status.settled;
    await waitFor('the end of all runs', async () => end() || (await ask().then(() => false)), LAST_PATIENCE_MS).catch(
      () => scene.wrong.push(`the end did not come: ${unsettled(fleet).join(', ')}`),
    );
    await waitFor('the helpers of killed runs to end', () => strays(scene).length === 0).catch(() => undefined);
  }

  #turnWrong(turns: Figure['turns']): string[] {
    const { computingMs = LONG_TURN_MS } = this.#options;
    if (turns === null || !this.#isWanted('turns') || computing(turns.computing) <= computingMs) return [];
    return [`a supervisor says: ${longTurnWords([turns.computing])}`];
  }

  #judge(seconds: number): Figure {
    const scene = this.#scene;
    const { fleet, wrong } = scene;
    const turns = extremes(scene.longTurns());
    const all = accounts(scene);
    return {
      ...{ kills: Object.fromEntries(this.#kills), deaths: tally(this.#deaths.places()) },
      trials: this.#trials.filter(({ why }) => why() === null).map(({ name }) => name),
      skipped: this.#trials.filter(({ why }) => why() !== null).map(({ name, why }) => `${name}: ${why()}`),
      ...{ runs: all.length, alive: this.#deaths.alive(), seconds, turns },
      violations: [
        ...wrong,
        ...all.flatMap(violations),
        ...(fleet.status.cpu.busy === 0 ? [] : [`${fleet.status.cpu.busy} slots are still taken`]),
        ...strays(scene),
        ...this.#turnWrong(turns),
      ],
    };
  }
}

/** @param turns The longest first. */
function extremes(turns: readonly Turn[]): Figure['turns'] {
  const [longest] = turns;
  if (longest === undefined) return null;
  return { longest, computing: turns.reduce((most, turn) => (computing(turn) > computing(most) ? turn : most)) };
}

/** All of it where the system does not say, ms. */
function computing({ ms, computedMs }: Turn): number {
  return computedMs ?? ms;
}

/** The runs that have not ended, and where they are. */
function unsettled({ runs, status }: Fleet): string[] {
  const left = [...runs.values()].filter(({ state }) => !['done', 'failed', 'killed', 'lost'].includes(state));
  return [status.problem ?? 'no problem', ...left.map(({ id, state, reason }) => `${id} is ${state} (${reason})`)];
}

/** Lets through who waits now, and whoever comes later. */
function openGate(gate: string): void {
  const file = `${gate}.open`;
  writeFileSync(file, '\n');
  const fd = openSync(gate, 'r+');
  renameSync(file, gate);
  closeSync(fd);
}

/** Processes of runs that are still there. */
function strays(scene: Scene): string[] {
  return scene.processes().map(({ pid, name }) => `process ${pid} (${name}) was left behind`);
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words.toSorted()) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
