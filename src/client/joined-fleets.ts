import { groupBy } from '../base/group-by.js';
import { GPUS_OF_A_HOST } from '../base/ids.js';
import type { GpuStatus, NodeStatus } from '../protocol/run-summary.js';
import type { Ack, Command, Fleet, FleetStatus, RunSummary, SweepSummary } from './fleet.js';

type RunId = RunSummary['id'];

/** `name`: of its host; no other has it. */
type JoinedFleet = { readonly name: string; readonly fleet: FleetView };
type FleetView = Pick<
  Fleet,
  'sweeps' | 'runs' | 'status' | 'connection' | 'problem' | 'subscribe' | 'version' | 'act' | 'request'
>;

/**
 * The supervisors of other hosts as one, for a window. Directories have the name of their host before them, as for scp. Where
 * there are several hosts, so have GPUs, and sweeps have it behind them (`lr@gpubox`): the same sweep may be on each. What is done
 * to a run is done on its host.
 */
export class JoinedFleets implements Omit<FleetView, 'problem'> {
  readonly #members: readonly Member[];
  #known: { readonly version: number; readonly runs: ReadonlyMap<RunId, RunSummary> } | null = null;

  constructor(fleets: readonly JoinedFleet[]) {
    this.#members = fleets.map((each, place) => new Member(each, fleets.length === 1 ? null : place));
  }

  get sweeps(): ReadonlyMap<string, SweepSummary> {
    return new Map(this.#members.flatMap((member) => member.sweeps.map((sweep) => [sweep.name, sweep] as const)));
  }

  get runs(): ReadonlyMap<RunId, RunSummary> {
    const version = this.version();
    if (this.#known?.version !== version) {
      const rows = this.#members.flatMap((member) => member.rows);
      this.#known = { version, runs: new Map(rows.map((run) => [run.id, run])) };
    }
    return this.#known.runs;
  }

  get status(): FleetStatus {
    const all = this.#members.map((member) => member.status);
    const sum = (of: (status: FleetStatus) => number) => all.reduce((total, status) => total + of(status), 0);
    const problems = this.#members.flatMap(({ problem }) => problem ?? []);
    const growing = all.flatMap((status) => status.growing ?? []);
    const nodes = all.flatMap((status) => status.nodes ?? []);
    const readOnly = all.find((status) => status.readOnly)?.readOnly;
    return {
      settled: all.every(({ settled }) => settled),
      recalled: all.every(({ recalled }) => recalled),
      unread: sum(({ unread }) => unread ?? 0),
      ...(growing.length === 0 ? {} : { growing }),
      cpu: { slots: sum(({ cpu }) => cpu.slots), busy: sum(({ cpu }) => cpu.busy) },
      gpus: all.flatMap(({ gpus }) => gpus),
      ...(nodes.length === 0 ? {} : { nodes }),
      problem: problems.length === 0 ? null : problems.join('; '),
      ...(readOnly === undefined ? {} : { readOnly }),
    };
  }

  /** Lost when no host is there. */
  get connection(): Fleet['connection'] {
    return this.#members.some(({ fleet }) => fleet.connection === 'connected') ? 'connected' : 'reconnecting';
  }

  version(): number {
    return this.#members.reduce((sum, { fleet }) => sum + fleet.version(), 0);
  }

  subscribe(listener: () => void): () => void {
    const ends = this.#members.map(({ fleet }) => fleet.subscribe(listener));
    return () => ends.forEach((end) => end());
  }

  async act(act: Parameters<Fleet['act']>[0], ids: readonly RunId[]): Promise<Ack> {
    return together([...this.#byHost(ids)].map(([{ fleet, idsOf }, own]) => fleet.act(act, idsOf(own))));
  }

  /** Each host gets its part. */
  async request(command: Command): Promise<Ack> {
    if ('ids' in command) {
      const parts = [...this.#byHost(command.ids)];
      return together(parts.map(([{ fleet, idsOf }, ids]) => fleet.request({ ...command, ids: idsOf(ids) })));
    }
    if (command.verb === 'drain') {
      const parts = this.#members.map(
        (member) => [member, command.gpus.flatMap((gpu) => member.gpuOf(gpu) ?? [])] as const,
      );
      const own = parts.filter(([, gpus]) => gpus.length > 0);
      return together(own.map(([{ fleet }, gpus]) => fleet.request({ ...command, gpus })));
    }
    if ('sweep' in command) {
      const member = this.#members.find(({ fleet, sweepOf }) => fleet.sweeps.has(sweepOf(command.sweep) ?? ''));
      return member?.fleet.request({ ...command, sweep: member.sweepOf(command.sweep)! }) ?? severalHosts;
    }
    const [only, ...others] = this.#members;
    return others.length === 0 ? only!.fleet.request(command) : severalHosts;
  }

  #byHost(ids: readonly RunId[]): Map<Member, RunId[]> {
    return groupBy(ids, (id) => this.#members.find((member) => member.hasRun(id)) ?? this.#members[0]!);
  }
}

/** One host, in the words of all. */
class Member {
  readonly fleet: FleetView;
  readonly #name: string;
  /** Null: it is the only one. */
  readonly #place: number | null;
  /** A row in these words, as long as it stays what it is. */
  readonly #rows = new WeakMap<RunSummary, RunSummary>();

  constructor({ name, fleet }: JoinedFleet, place: number | null) {
    this.#name = name;
    this.fleet = fleet;
    this.#place = place;
  }

  get sweeps(): SweepSummary[] {
    return [...this.fleet.sweeps.values()].map((sweep) => ({
      ...sweep,
      name: this.#sweep(sweep.name),
      directory: `${this.#name}:${sweep.directory}`,
    }));
  }

  get rows(): RunSummary[] {
    return [...this.fleet.runs.values()].map((run) => {
      const known = this.#rows.get(run) ?? this.#row(run);
      this.#rows.set(run, known);
      return known;
    });
  }

  get status(): FleetStatus {
    const { status } = this.fleet;
    if (this.#place === null) return status;
    const growing = status.growing?.map((group) => ({ ...group, sweep: this.#sweep(group.sweep) }));
    const nodes = status.nodes?.map((node): NodeStatus => ({ ...node, name: this.#node(node.name) }));
    const own = { ...(growing === undefined ? {} : { growing }), ...(nodes === undefined ? {} : { nodes }) };
    return { ...status, ...own, gpus: status.gpus.map((gpu) => this.#gpu(gpu)) };
  }

  /** What keeps it from its work, or from being seen; null: nothing. */
  get problem(): string | null {
    const { connection, problem, status } = this.fleet;
    const why = connection === 'connected' ? status.problem : (problem ?? 'the connection is lost');
    return why === null ? null : `${this.#name}: ${why}`;
  }

  hasRun(id: RunId): boolean {
    return this.#place === null || this.fleet.runs.has(this.idOf(id));
  }

  readonly idsOf = (ids: readonly RunId[]): RunId[] => ids.map((id) => this.idOf(id));

  idOf(id: RunId): RunId {
    return id.replace(/^[^/]*/, (sweep) => this.sweepOf(sweep) ?? '') as RunId;
  }

  /** The sweep by its name on this host; null: it is of another one. */
  readonly sweepOf = (sweep: string): string | null => {
    if (this.#place === null) return sweep;
    return sweep.endsWith(`@${this.#name}`) ? sweep.slice(0, -1 - this.#name.length) : null;
  };

  /** The GPU by its index on this host; null: it is of another one. */
  gpuOf(index: number): number | null {
    const own = index - this.#firstGpu;
    return own >= 0 && own < GPUS_OF_A_HOST ? own : null;
  }

  get #firstGpu(): number {
    return this.#place === null ? 0 : (this.#place + 1) * GPUS_OF_A_HOST;
  }

  #sweep(name: string): string {
    return this.#place === null ? name : `${name}@${this.#name}`;
  }

  #row(run: RunSummary): RunSummary {
    const directory = `${this.#name}:${run.directory}`;
    if (this.#place === null) return { ...run, directory };
    const id = this.#id(run.id) as RunId;
    const slot = run.nodeGpus === undefined || run.slot === null ? run.slot : this.#node(run.slot);
    const gpus = run.gpus.map((gpu) => gpu + this.#firstGpu);
    return { ...run, id, sweep: this.#sweep(run.sweep), directory, slot, gpus };
  }

  #node(name: string): string {
    return `${name}@${this.#name}`;
  }

  #id(id: string): string {
    return id.replace(/^[^/]*/, (sweep) => this.#sweep(sweep));
  }

  #gpu(gpu: GpuStatus): GpuStatus {
    const name = [this.#name, ...(gpu.name === null ? [] : [gpu.name])].join(' ');
    return { ...gpu, name, index: gpu.index + this.#firstGpu, runs: gpu.runs.map((id) => this.#id(id)) };
  }
}

/** One answer of several: a refusal, if there is one. */
async function together(asked: readonly Promise<Ack>[]): Promise<Ack> {
  const answers = await Promise.all(asked);
  const messages = [...new Set(answers.map(({ message }) => message))].join('; ');
  const refusal = answers.find((answer) => !answer.ok);
  return refusal === undefined ? { ok: true, message: messages } : { ...refusal, message: messages };
}

const severalHosts: Ack = {
  ok: false,
  message: 'this concerns one host, and the window shows several',
  fix: 'Use the command line: `memrl-tui slots 4 --host HOST`.',
};
