import { valueText } from '../../src/query/text.js';
import { RunId } from '../../src/base/ids.js';
import { LogInMemory } from '../logs/log-bytes.js';
import type {
  Ack,
  FleetPort,
  FleetStatus,
  MetricReader,
  RunDetails,
  RunFilesPort,
  RunSummary,
  Series,
  SweepSummary,
} from '../../src/tui/state/port.js';
import type { Command } from '../../src/protocol/message.js';
import type { PlainVerb, RunOrder } from '../../src/protocol/run-verbs.js';

/** A run that waits, with whatever a test wants different. */
export function aRun(name: string, over: Partial<RunSummary> = {}): RunSummary {
  return {
    id: RunId.parse(`abcd/${name}`),
    sweep: 'abcd',
    group: name[0]!,
    subgroup: null,
    name,
    directory: `/runs/abcd/${name}`,
    parameters: {},
    argv: ['memrl', 'train'],
    state: 'queued',
    reason: null,
    attempt: 0,
    exit: null,
    slot: null,
    gpus: [],
    pid: null,
    startedAt: null,
    endedAt: null,
    killAt: null,
    ...{ retryAt: null, priority: 0, gpuMemory: null, warning: null },
    progress: null,
    etaSeconds: null,
    metrics: {},
    spark: [],
    health: 'ok',
    ...(over.state === 'held' ? { heldBy: 'person' } : {}),
    ...over,
  };
}

export function aSweep(over: Partial<SweepSummary> = {}): SweepSummary {
  return {
    name: 'abcd',
    description: null,
    directory: '/runs/abcd',
    groups: [],
    show: ['test/bits_known', 'env/reward', 'optim/entropy', 'optim/loss'],
    x: 'episodes',
    ...over,
  };
}

/** A fleet whose runs a test sets; it remembers what was asked of it. */
export class SimulatedFleet implements FleetPort {
  readonly sweeps = new Map<string, SweepSummary>();
  readonly runs = new Map<RunSummary['id'], RunSummary>();
  connection: 'connected' | 'reconnecting' = 'connected';
  readonly asked: string[] = [];
  answer: Ack = { ok: true, message: 'it will be done' };
  /** What happens because of an order, before it is answered. */
  obey: (verb: string, ids: readonly (string | number)[]) => void = () => undefined;
  status: FleetStatus = { settled: false, recalled: true, cpu: { slots: 2, busy: 2 }, gpus: [], problem: null };
  readonly #listeners = new Set<() => void>();
  #version = 0;

  constructor(sweeps: readonly SweepSummary[], runs: readonly RunSummary[]) {
    sweeps.forEach((sweep) => this.sweeps.set(sweep.name, sweep));
    runs.forEach((run) => this.runs.set(run.id, run));
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  version(): number {
    return this.#version;
  }

  change(id: string, over: Partial<RunSummary>): void {
    const key = RunId.parse(id);
    this.runs.set(key, { ...this.runs.get(key)!, ...over });
  }

  publish(): void {
    this.#version++;
    this.#listeners.forEach((listener) => listener());
  }

  act = (act: PlainVerb | RunOrder, ids: readonly RunSummary['id'][]): Promise<Ack> => {
    const order = typeof act === 'string' ? { verb: act } : act;
    return this.request({ ...order, ids: [...ids] });
  };
  request = (command: Command): Promise<Ack> => {
    switch (command.verb) {
      case 'set-slots':
        return this.#ask('slots', [JSON.stringify(command.slots)]);
      case 'drain':
        return this.#ask(command.drained ? 'drain' : 'undrain', command.gpus);
      case 'stop-sweep':
        return this.#ask('stop', [command.sweep]);
      case 'priority':
        return this.#ask(`priority ${command.priority}`, command.ids);
      default:
        return this.#ask(command.verb, 'ids' in command ? command.ids : []);
    }
  };

  async #ask(verb: string, ids: readonly (string | number)[]): Promise<Ack> {
    this.asked.push(`${verb} ${ids.join(' ')}`);
    this.obey(verb, ids);
    return this.answer;
  }
}

const SEEDS = [0, 1, 2];
const SIZES = [16, 64, 256, 1024, 4096];
const START = Date.UTC(2026, 0, 5, 12);

type Cell = { group: string; subgroup: string; name: string; parameters: RunSummary['parameters']; capacity: number };

/** The 48 runs of the memory sweep: four groups, sixteen settings, three seeds each. */
function cells(): Cell[] {
  const one = (stem: string, subgroup: string, more: RunSummary['parameters'], capacity: number) =>
    SEEDS.map((seed): Cell => {
      const parameters = { seed, ...more, group_size: 4, batch_size: 1, learning_rate: 4e-5, eval_every: 100 };
      return { group: stem[0]!, subgroup, name: `${stem}_s${seed}`, parameters, capacity };
    });
  return [
    ...['binary', 'B4', 'B8', 'B16', 'B32'].flatMap((reward, index) =>
      one(`A_bsweep_single_N1024_${reward}`, reward, { N: 1024, env_type: 'single_step', reward }, 1 + index),
    ),
    ...SIZES.flatMap((N) =>
      one(`B_nsweep_single_B8_N${N}`, `N${N}`, { N, env_type: 'single_step', reward: 'B8' }, 14 - Math.log2(N)),
    ),
    ...SIZES.flatMap((N) =>
      one(`C_dense_multi_N${N}`, `N${N}`, { N, env_type: 'multi_step', reward: 'dense' }, 16 - Math.log2(N)),
    ),
    ...one('D_sft_N1024', 'sft', { N: 1024, env_type: 'sft', reward: 'none' }, 12),
  ];
}

/** Bits known after a fraction of the run, with the seed's own luck. Rises when the secret is first found. */
function bitsAt({ parameters, capacity }: Cell, fraction: number): number {
  const most = Math.log2(Number(parameters['N']));
  const luck = 0.75 + 0.25 * Math.sin(Number(parameters['seed']) * 2.4 + capacity);
  const rise = 1 / (1 + Math.exp(-14 * (fraction - 0.55 + 0.04 * capacity * luck)));
  return most * rise * (0.985 + 0.015 * Math.sin(fraction * 60 + Number(parameters['seed'])));
}

const POINTS = 200;

function curveOf(cell: Cell, key: string, upTo: number): Series {
  const count = Math.max(1, Math.floor(upTo * POINTS));
  const most = Math.log2(Number(cell.parameters['N']));
  const x = Float64Array.from({ length: count }, (_, index) => (index + 1) * 400);
  const noise = (index: number) => Math.sin(index * 12.9898 + Number(cell.parameters['seed']) * 78.233) * 0.5;
  const y = Float64Array.from({ length: count }, (_, index) => {
    const bits = bitsAt(cell, (index + 1) / POINTS);
    if (key === 'test/bits_known') return bits;
    if (key === 'env/reward') return Math.min(1, Math.max(0, bits / most + 0.08 * noise(index)));
    if (key === 'optim/entropy') return Math.max(0.02, most - bits + 0.2 * noise(index));
    return 0.3 * (1 - bits / most) * noise(index);
  });
  return { x, y };
}

/** The memory sweep in the middle of its life: two slots, some done, one failed, one being stopped. */
export function memorySweep(elapsedSeconds = 312): { fleet: SimulatedFleet; files: RunFilesPort; now: number } {
  const all = cells();
  const now = START + elapsedSeconds * 1000;
  const runs = all.map((cell, index) => summaryOf(cell, index, now));
  const titles: Record<string, string> = {
    A: 'reward resolution, N=1024',
    B: 'secret size, 8 reward bins',
    C: 'dense reward, a bit per step',
    D: 'supervised, the ceiling',
  };
  const groups = Object.entries(titles).map(([name, title]) => ({ name, title, needs: [] }));
  const fleet = new SimulatedFleet([aSweep({ groups })], runs);
  const byDirectory = new Map(all.map((cell) => [`/runs/abcd/${cell.name}`, cell]));
  const progressOf = (directory: string) => runs.find((run) => run.directory === directory)?.progress ?? 0;
  const files: RunFilesPort = {
    metrics: (directory) => readerOf(byDirectory.get(directory)!, progressOf(directory)),
    logTail: (directory, count) => logOf(byDirectory.get(directory)!, progressOf(directory)).slice(-count),
    openLog: (directory) => new LogInMemory(logText(logOf(byDirectory.get(directory)!, progressOf(directory)))),
    runDetails: (directory) =>
      detailsOf(
        byDirectory.get(directory)!,
        runs.find((run) => run.directory === directory)!,
      ),
  };
  return { fleet, files, now };
}

function readerOf(cell: Cell, progress: number): MetricReader {
  const lines = progress === 0 ? [] : linesOf(cell);
  return {
    refresh: () => false,
    keys: () => (progress === 0 ? [] : ['test/bits_known', 'env/reward', 'optim/entropy', 'optim/loss']),
    series: (key) => (progress === 0 ? { x: new Float64Array(), y: new Float64Array() } : curveOf(cell, key, progress)),
    lines: () => lines,
  };
}

/** What the study of a run declares for its charts. */
function linesOf({ parameters }: Cell): ReturnType<NonNullable<MetricReader['lines']>> {
  const bits = Math.log2(Number(parameters['N']));
  return [{ metrics: ['test/bits_known'], y: bits, per: null, text: `log2 N = ${bits}` }];
}

function logText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** What the supervisor would have written down of a run that was started. */
function detailsOf(cell: Cell, run: RunSummary): RunDetails | null {
  if (run.startedAt === null) return null;
  const words = Object.entries(cell.parameters).map(([key, value]) => `${key}=${valueText(value)}`);
  const record: RunDetails['record'] = {
    version: 1,
    ...{ sweep: 'abcd', group: cell.group, subgroup: cell.subgroup, name: cell.name, identity: '08ac238893cdcba1' },
    parameters: cell.parameters,
    argv: ['memrl', 'train', `log_path=${run.directory}`, ...words],
    cwd: '/home/ada/memory rl',
    host: 'turing',
    git: { commit: '57b58f7c0496436ace7d17fb41732acad1c599d2', dirty: true, branch: 'main', diff: 'code/3fa1.diff' },
    packages: 'code/packages-91ce.json',
    attempts: attemptsOf(run),
  };
  return { record, packages: 214 };
}

/** A run that failed had been tried before. */
function attemptsOf({ state, startedAt, endedAt, exit, reason }: RunSummary): RunDetails['record']['attempts'] {
  const slot = 'cpu 0';
  const commit = '57b58f7c0496436ace7d17fb41732acad1c599d2';
  if (state === 'failed') {
    const line = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB';
    return [
      {
        number: 1,
        slot,
        startedAt: startedAt! - 9000,
        endedAt: startedAt! - 2000,
        outcome: { kind: 'oom', line },
        commit,
      },
      { number: 2, slot, startedAt: startedAt!, endedAt, outcome: { kind: 'failed', code: 1, line: reason! }, commit },
    ];
  }
  const outcome =
    exit?.class === 'done' ? ({ kind: 'done' } as const) : exit === null ? null : ({ kind: 'killed' } as const);
  return [{ number: 1, slot, startedAt: startedAt!, endedAt, outcome, commit }];
}

function logOf(cell: Cell, progress: number): string[] {
  if (progress === 0) return [];
  const count = Math.floor(progress * POINTS);
  const lines = Array.from({ length: count }, (_, index) => {
    const step = (index + 1) * 100;
    const bits = bitsAt(cell, (index + 1) / POINTS).toFixed(3);
    return `step ${step} | episodes ${step * 4} | bits known ${bits} | 1.04 ms/step`;
  });
  if (cell.name === 'B_nsweep_single_B8_N64_s2') {
    lines.push(
      'Traceback (most recent call last):',
      '  File "train.py", line 214, in step',
      'ValueError: loss is NaN at step 7240',
    );
  }
  return lines;
}

function summaryOf(cell: Cell, index: number, now: number): RunSummary {
  const base = aRun(cell.name, { group: cell.group, subgroup: cell.subgroup, parameters: cell.parameters });
  const life = lifeOf(cell, index, now);
  const progress = life.progress ?? 0;
  if (life.state === 'queued') return { ...base, ...life };
  const last = Object.fromEntries(
    ['test/bits_known', 'env/reward', 'optim/entropy', 'optim/loss'].map((key) => [
      key,
      curveOf(cell, key, progress).y.at(-1)!,
    ]),
  );
  const spark = Array.from({ length: 32 }, (_, at) => bitsAt(cell, (progress * (at + 1)) / 32));
  return { ...base, attempt: 1, metrics: last, spark, ...life };
}

function lifeOf(cell: Cell, index: number, now: number): Partial<RunSummary> {
  const begun = START + Math.floor(index / 2) * 19_000;
  if (cell.name === 'B_nsweep_single_B8_N64_s2') {
    const exit = { class: 'failed', code: 1, signal: null } as const;
    const reason = 'ValueError: loss is NaN at step 7240';
    return { state: 'failed', exit, reason, startedAt: begun, endedAt: begun + 7400, progress: 0.36 };
  }
  if (cell.name === 'B_nsweep_single_B8_N16_s1') {
    const exit = { class: 'killed', code: null, signal: 'SIGTERM' } as const;
    return { state: 'killed', exit, startedAt: begun, endedAt: begun + 11_000, progress: 0.52 };
  }
  const fraction = (now - begun) / 20_500;
  if (fraction >= 1) {
    const exit = { class: 'done', code: 0, signal: null } as const;
    return { state: 'done', exit, startedAt: begun, endedAt: begun + 20_500 - (index % 3) * 900, progress: 1 };
  }
  if (fraction <= 0) {
    return { state: 'queued', reason: cell.group === 'D' ? 'waiting for warmup' : 'waiting for a slot, 2 of 2 busy' };
  }
  const running = { slot: `cpu ${index % 2}`, pid: 41_200 + index, startedAt: begun, progress: fraction };
  if (index % 2 === 1 && fraction > 0.5) return { ...running, state: 'stopping', killAt: now + 7000 };
  return { ...running, state: 'running', etaSeconds: 20.5 * (1 - fraction) };
}
