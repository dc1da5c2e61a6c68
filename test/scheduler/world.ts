import { GpuIndex, type RunId } from '../../src/base/ids.js';
import type { FailureClass, Outcome } from '../../src/base/outcome.js';
import type { SchedulerAction, SchedulerEvent } from '../../src/scheduler/event.js';
import { emptyState, type Run, type SchedulerState } from '../../src/scheduler/state.js';
import { step } from '../../src/scheduler/step.js';
import { drained, gpuSlots, id as runId, seen, type Seen, type Sketch, submitted } from './play.js';

/** A whole number below `below`, from a stream that a seed begins (mulberry32). */
export type Dice = (below: number) => number;

export function dice(seed: number): Dice {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

/** What is true of a GPU, whatever the scheduler believes. */
export type TrueGpu = { index: number; memory: number | null; foreignMemory: number; foreign: string[] } & {
  isThere: boolean;
  isDrained: boolean;
  leasedBy: string | null;
};

/** One event, what was before it, and what came of it. */
export type Moment = {
  event: SchedulerEvent;
  actions: readonly SchedulerAction[];
  before: ReadonlyMap<RunId, { phase: string; isHeld: boolean; notBefore: number | null }>;
};

const CLASSES: FailureClass[] = ['crash', 'oom', 'timeout', 'signal', 'lost'];
const GROUPS = ['main', 'last', 'alone', 'broken'];
const MEMORIES = [24_000, 24_000, 40_000, 40_000, 80_000, 80_000, null, 12_000];

function often(times: number, act: () => void): (() => void)[] {
  return Array.from({ length: times }, () => act);
}

const FREE = { isThere: true, leasedBy: null, foreignMemory: 0, foreign: [] };

/**
 * A machine with eight GPUs and the runs of one sweep, where anything may happen next. It obeys the orders it gets, and is
 * the judge of them: what it knows of GPUs and of memory is its own.
 */
export class World {
  readonly state: SchedulerState = emptyState();
  readonly events: SchedulerEvent[] = [];
  readonly actions: SchedulerAction[] = [];
  readonly gpus: TrueGpu[];
  /** By group: the most that counts as known, MiB. */
  readonly peaks = new Map<string, number>();
  readonly #roll: Dice;
  readonly #sketches: Sketch[];
  readonly #portion: number | undefined;
  readonly #watch: ((moment: Moment, world: World) => void) | null;
  granted: number[] = [];
  #at = 1;

  /** @param portion So many runs of a submission are taken in at once; absent: all. */
  constructor(seed: number, watch: ((moment: Moment, world: World) => void) | null = null, portion?: number) {
    this.#portion = portion;
    this.#roll = dice(seed);
    this.#watch = watch;
    this.gpus = MEMORIES.map((memory, index) => ({
      ...{ index, memory, foreignMemory: 0, foreign: [] },
      ...{ isThere: true, isDrained: false, leasedBy: null },
    }));
    this.#sketches = Array.from({ length: 60 }, (_, n) => this.#sketch(n));
    this.#grant();
    this.#submit();
  }

  /** Lets so many things happen. */
  live(events: number): void {
    for (const end = this.events.length + events; this.events.length < end;) this.#move();
  }

  /** Everything is as good as it can be, and everybody lets everything run to its end. */
  settle(): void {
    const ids = [...this.state.runs.keys()];
    this.granted = [0, 1, 2, 3, 4, 5, 6, 7];
    this.take(gpuSlots(this.#granted(), 4));
    for (const gpu of this.gpus) Object.assign(gpu, FREE);
    this.#look();
    for (const gpu of this.gpus) this.#drain(gpu, false);
    for (let round = 0; round < 1000 && this.#isBusy(); round++) {
      this.#at += 4e6;
      for (const verb of ['release', 'continue', 'resume'] as const) {
        this.take({ type: `${verb}-requested`, at: this.#at, ids: verb === 'resume' ? this.#undone() : ids });
      }
      this.take({ type: 'time-passed', at: this.#at });
      for (const id of [...this.state.active]) {
        const run = this.state.runs.get(id)!;
        if (run.state.phase === 'starting') this.#start(run);
        this.#end(run, { kind: 'done' });
      }
    }
  }

  take(event: SchedulerEvent): void {
    const before = this.#watch === null ? null : this.#standing();
    const { actions } = step(this.state, event);
    this.events.push(event);
    this.actions.push(...actions);
    if (before !== null) this.#watch?.({ event, actions, before }, this);
  }

  #standing(): Moment['before'] {
    return new Map(
      [...this.state.runs].map(([id, { state, hold }]) => [
        id,
        { phase: state.phase, isHeld: hold !== null, notBefore: state.phase === 'waiting' ? state.notBefore : null },
      ]),
    );
  }

  /** What may happen next, as often as it does. */
  readonly #moves = [
    ...often(8, () => this.#withRun(['starting'], (run) => this.#start(run))),
    ...often(4, () => this.#withRun(UP, (run) => this.#end(run, this.#outcome()))),
    ...often(3, () => this.take({ type: 'time-passed', at: this.#at })),
    ...often(2, () => this.#request()),
    ...often(1, () => this.#disturb()),
    ...often(1, () => this.#fail()),
    ...often(1, () => this.#drain(this.#gpu(), this.#roll(6) === 0)),
    ...often(1, () => (this.#roll(4) === 0 ? this.#grant() : this.#look())),
    ...often(1, () => (this.#roll(4) === 0 ? this.#submit() : this.#late())),
  ];

  #move(): void {
    this.#at += this.#roll(3000);
    this.#moves[this.#roll(this.#moves.length)]!();
  }

  #start({ id, attempt, state }: Run): void {
    if (state.phase !== 'starting') return;
    this.take({ type: 'run-started', at: this.#at, id, attempt, pid: 1, slot: state.slot });
  }

  #end(run: Run, outcome: Outcome): void {
    const { id, attempt } = run;
    const gpuMemory = this.#roll(3) === 0 ? { gpuMemory: 100 * this.#roll(120) } : {};
    if (gpuMemory.gpuMemory !== undefined) this.#learn(run, outcome, gpuMemory.gpuMemory);
    this.take({ type: 'run-ended', at: this.#at, id, attempt, outcome, ...gpuMemory });
  }

  /** What becomes known of the memory of a group; the first figure only from a run that lived its whole life. */
  #learn({ state, group }: Run, outcome: Outcome, memory: number): void {
    const cause = 'stop' in state && state.stop !== null ? state.stop.kind : outcome.kind;
    const peak = this.peaks.get(group);
    const isWhole = ['done', 'rule', 'oom', 'timeout'].includes(cause);
    if (memory > (peak ?? 0) && (isWhole || peak !== undefined)) this.peaks.set(group, memory);
  }

  /** A launch that comes to nothing. */
  #fail(): void {
    this.#withRun(['starting'], ({ id, attempt }) => {
      const at = this.#at;
      if (this.#roll(2) === 0) this.take({ type: 'launch-failed', at, id, attempt, reason: 'no' });
      else this.take({ type: 'launch-withdrawn', at, id, attempt });
    });
  }

  /** Others come to a GPU or leave it, take it for their own, or it vanishes. Seen at once. */
  #disturb(): void {
    const gpu = this.#gpu();
    const change = this.#roll(8);
    if (change === 0) gpu.isThere = !gpu.isThere;
    else if (change === 1) gpu.leasedBy = gpu.leasedBy === null ? '/other/dir' : null;
    else if (change < 4) Object.assign(gpu, { foreign: ['python (pid 7)'], foreignMemory: 500 * this.#roll(60) });
    else Object.assign(gpu, FREE);
    this.#look();
  }

  #look(): void {
    const there = this.gpus.filter(({ isThere }) => isThere);
    const found = there.map(({ index, memory, foreignMemory, foreign, leasedBy }): Seen => {
      return { index, memory, foreignMemory, foreign: [...foreign], leasedBy };
    });
    this.take({ ...seen(...found), at: this.#at });
  }

  #drain(gpu: TrueGpu, isDrained: boolean): void {
    gpu.isDrained = isDrained;
    this.take({ ...drained(gpu.index, isDrained), at: this.#at });
  }

  #grant(): void {
    this.granted = [3, 0, 1, 2, 7, 6, 5, 4].slice(0, this.#at === 1 ? 8 : 5 + this.#roll(4));
    this.take({ ...gpuSlots(this.#granted(), this.#roll(5)), at: this.#at });
  }

  #granted(): { index: number; memory?: number }[] {
    return this.granted.map((index) => {
      const memory = this.gpus[index]!.memory;
      return memory === null ? { index } : { index, memory };
    });
  }

  /** A person wants something, mostly of runs for which it makes sense. */
  #request(): void {
    const verb = VERBS[this.#roll(VERBS.length)]!;
    const isForUp = verb === 'stop' || verb === 'pause' || verb === 'continue';
    const runs = [...this.state.runs.values()].filter(
      ({ state }) => !isForUp || 'pid' in state || this.#roll(20) === 0,
    );
    const count = runs.length === 0 ? 0 : 1 + this.#roll(verb === 'release' ? 20 : 4);
    const ids = Array.from({ length: count }, () => runs[this.#roll(runs.length)]!.id);
    if (verb === 'priority') this.take({ type: 'priority-requested', at: this.#at, ids, priority: this.#roll(3) });
    else this.take({ type: `${verb}-requested`, at: this.#at, ids });
  }

  /** The sweep as it looks at this moment. */
  #submit(): void {
    const known = new Map([...this.state.runs].map(([id, run]) => [id as string, run]));
    const runs = this.#sketches.map((sketch): Sketch => {
      const run = known.get(`s/${sketch.name}`);
      return { ...sketch, wish: this.#wishFor(run), attempts: run?.attempt ?? 0 };
    });
    const breaker = { failures: 3, withinMs: 10_000 };
    const event = submitted(runs, { main: ['warmup'], last: ['main'] }, breaker);
    this.take({ ...event, at: this.#at, ...(this.#portion === undefined ? {} : { portion: this.#portion }) });
  }

  #wishFor(run: Run | undefined): NonNullable<Sketch['wish']> {
    if (run === undefined) return 'run';
    if ('slot' in run.state) return this.#roll(3) === 0 ? 'extend' : 'keep';
    // Its directory says that it is up, though nobody knows of it.
    if (this.#roll(30) === 0) return 'adopt';
    return run.state.phase === 'ended' ? 'run' : 'keep';
  }

  /** News of an attempt that is over. */
  #late(): void {
    this.#withRun(['ended', 'waiting'], ({ id, attempt }) => {
      if (attempt === 0) return;
      const news = { at: this.#at, id, attempt };
      if (this.#roll(2) === 0) this.take({ type: 'run-started', ...news, pid: 1 });
      else this.take({ type: 'run-ended', ...news, outcome: { kind: 'done' } });
    });
  }

  #withRun(phases: readonly string[], act: (run: Run) => void): void {
    const runs = [...this.state.runs.values()].filter(({ state }) => phases.includes(state.phase));
    if (runs.length > 0) act(runs[this.#roll(runs.length)]!);
  }

  #outcome(): Outcome {
    const outcomes: Outcome[] = [
      ...Array.from({ length: 6 }, (): Outcome => ({ kind: 'done' })),
      ...[{ kind: 'failed', code: 1 } as const, { kind: 'signal', signal: 'SIGSEGV' } as const],
      ...[{ kind: 'oom', line: 'CUDA out of memory' } as const, { kind: 'lost', reason: 'gone' } as const],
    ];
    return outcomes[this.#roll(outcomes.length)]!;
  }

  #gpu(): TrueGpu {
    return this.gpus[this.#roll(this.gpus.length)]!;
  }

  #sketch(n: number): Sketch {
    const gpus = [0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3][this.#roll(12)]!;
    const isDeclared = this.#roll(3) === 0;
    return {
      ...{ name: `r${n}`, group: n < 3 ? 'warmup' : GROUPS[this.#roll(GROUPS.length)]!, priority: this.#roll(3) },
      need: {
        ...{ gpus, perGpu: 1 + this.#roll(4), memory: isDeclared ? 1000 * (1 + this.#roll(30)) : null },
        ...(this.#roll(4) === 0 ? { cpus: 1 + this.#roll(3) } : {}),
        ...(gpus > 0 && this.#roll(5) === 0 ? { within: [2, 0, 5, 3].map((index) => GpuIndex.parse(index)) } : {}),
      },
      // Of a group that none of those it needs waits for.
      ...(n > 3 && this.#roll(6) === 0 ? { needs: [runId(`r${this.#roll(3)}`)] } : {}),
      timeoutMs: this.#roll(3) === 0 ? 30_000 : null,
      retry: { max: this.#roll(4), backoffMs: 2000 * this.#roll(4), on: CLASSES.slice(this.#roll(5)) },
    };
  }

  #isBusy(): boolean {
    return this.state.active.size > 0 || this.#undone().length > 0;
  }

  #undone(): RunId[] {
    const runs = [...this.state.runs.values()];
    return runs.filter(({ state }) => state.phase !== 'ended' || state.outcome.kind !== 'done').map(({ id }) => id);
  }
}

const VERBS = ['stop', 'resume', 'hold', 'release', 'pause', 'continue', 'priority'] as const;
const UP = ['running', 'stopping', 'killing'];
