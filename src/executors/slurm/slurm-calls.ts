import { programFile } from '../../processes/program-file.js';
import { askProgram } from '../../processes/short-call.js';
import type { ClusterNode } from '../executor.js';
import { clusterNode, NODE_FIELDS } from './cluster-nodes.js';

/** One job, or one task of an array, as `squeue` tells it. */
export type QueuedJob = {
  /** `12`, or `12_3` of an array: what `scancel` is told. */
  address: string;
  /** Of the job itself; a task of an array that waits has the array's. */
  number: number;
  state: string;
  /** Why it waits or how it ended, in Slurm's word; `None`. */
  reason: string;
  nodes: string;
  /** When it is expected to start, or did: local time, `N/A`. */
  start: string;
  /** How long it has been up, seconds. */
  seconds: number;
  /** Of its submission; null: nobody of ours submitted it. */
  key: string | null;
};

/** `unknown`: nobody can say whether it was submitted. `transient`: later it may be taken. */
export type Submitted =
  | { kind: 'accepted'; job: string }
  | { kind: 'refused'; reason: string; transient: boolean }
  | { kind: 'unknown'; reason: string };

/** `arraySize`: tasks of one array. */
type Limits = { arraySize: number; gpus: number };

/** Which nodes take no jobs, since when and why, as whoever took them out has said; null: Slurm says of none. `areAll`: no node takes any. */
type Unavailable = { words: string | null; areAll: boolean };

type Environment = Readonly<Record<string, string>>;

/** The controller answers a client within 9 s or not at all, ms. */
const PATIENCE_MS = 15_000;
/** Its script has a line for each task. */
const LARGEST_ARRAY = 1000;
/** Output for some hundred thousand jobs, bytes. */
const MOST = 64 << 20;

const QUEUE_FORMAT = '%i|%A|%T|%r|%N|%S|%M|%K|%k';
/** Before the key in the comment of a job. */
const MARK = 'memrl ';

/** @param key Of the jobs of one submission; the tasks of an array have `KEY.INDEX`. */
export function commentFor(key: string): string {
  return `${MARK}${key}`;
}

/** The commands of Slurm, called by the environment of the supervisor. None of them throws, and none takes longer than its limit. */
export class SlurmCalls {
  readonly #environment: Environment;
  #limits: Promise<Limits> | null = null;
  /** As told last; asked again after that time. */
  #unavailable: Unavailable & { until: number } = { words: null, areAll: false, until: -Infinity };

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /** @param environment Of the job. */
  async submit(args: readonly string[], script: string, environment: Environment): Promise<Submitted> {
    const asked = { ...forJob(environment), ...this.#address() };
    const answer = await this.#call('sbatch', ['--parsable', ...args], { environment: asked, input: script });
    if (answer.kind === 'hung') return { kind: 'unknown', reason: silent };
    if (answer.kind === 'answered') {
      const job = /^(\d+)/m.exec(answer.stdout)?.[1];
      return job === undefined ? { kind: 'unknown', reason: 'sbatch named no job' } : { kind: 'accepted', job };
    }
    const refusal = refusalOf(answer.reason, answer.code);
    return noSuchNode.test(answer.reason) ? this.#untilNodesAreBack(refusal) : refusal;
  }

  /** A controller that has just started knows of no node what it has, and finds none for anything. */
  async #untilNodesAreBack(refusal: Submitted): Promise<Submitted> {
    const unknown = await this.#call('sinfo', ['-h', '-t', 'unknown', '-o', '%N']);
    const nodes = unknown.kind === 'answered' ? unknown.stdout.trim() : '';
    if (nodes === '') return refusal;
    const reason = `${nodes} have not come back to Slurm's controller yet`;
    return { kind: 'refused', reason, transient: true };
  }

  /** What holds of the cluster; asked once. `gpus`: of a run that takes one where there are any. */
  limits(): Promise<Limits> {
    this.#limits ??= this.#askLimits();
    return this.#limits;
  }

  async #askLimits(): Promise<Limits> {
    const [config, nodes] = await Promise.all([
      this.#call('scontrol', ['show', 'config']),
      this.#call('sinfo', ['-h', '-o', '%G']),
    ]);
    // Asked again next time.
    if (config.kind !== 'answered' || nodes.kind !== 'answered') this.#limits = null;
    const size = Number(/^MaxArraySize\s*=\s*(\d+)/m.exec(config.stdout)?.[1] ?? LARGEST_ARRAY + 1);
    return { arraySize: Math.max(1, Math.min(size - 1, LARGEST_ARRAY)), gpus: /\bgpu\b/.test(nodes.stdout) ? 1 : 0 };
  }

  /** All jobs of this person, ended ones as long as Slurm remembers them; null: the controller does not answer. */
  async queue(): Promise<QueuedJob[] | null> {
    const answer = await this.#call('squeue', ['-h', '--me', '-r', '-t', 'all', '-o', QUEUE_FORMAT]);
    if (answer.kind !== 'answered') return null;
    const jobs = answer.stdout.split('\n').flatMap((line) => queuedJob(line) ?? []);
    const stuck = jobs.filter(({ state, reason }) => state === 'PENDING' && nodesUnavailable.test(reason));
    if (stuck.length > 0) {
      if (performance.now() > this.#unavailable.until)
        this.#unavailable = { ...(await this.#askUnavailable()), until: performance.now() + NODES_EVERY_MS };
      const { words, areAll } = this.#unavailable;
      if (words !== null) for (const job of stuck) job.reason = `${beforeReasons(job.reason, areAll)}: ${words}`;
    }
    return jobs;
  }

  async #askUnavailable(): Promise<Unavailable> {
    const [down, nodes] = await Promise.all([this.#call('sinfo', ['-h', '-R', '-o', '%N|%H|%E']), this.nodes()]);
    const lines = down.stdout.split('\n').filter((line) => line.includes('|'));
    const areAll = nodes?.every(({ takesRuns }) => !takesRuns) ?? false;
    return { words: lines.length === 0 ? null : unavailableWords(lines), areAll };
  }

  /** The nodes of all partitions; null: the controller does not answer. */
  async nodes(): Promise<ClusterNode[] | null> {
    const answer = await this.#call('sinfo', ['-h', '-N', '-O', NODE_FIELDS]);
    if (answer.kind !== 'answered') return null;
    // A node has a line for each of its partitions.
    const nodes = answer.stdout.split('\n').flatMap((line) => clusterNode(line) ?? []);
    return [...new Map(nodes.map((node) => [node.name, node])).values()];
  }

  /**
   * Whether a node that takes no jobs now has what one asks for. `sbatch --test-only` finds no node for anything while all of them are
   * drained or down, where `sbatch` itself accepts the job, which waits until one is back.
   */
  async hasUnavailableNodeFor({ cpus, gpus }: { readonly cpus: number; readonly gpus: number }): Promise<boolean> {
    const answer = await this.#call('sinfo', ['-h', '-N', '-O', `CPUs:.20|,${NODE_FIELDS}`]);
    if (answer.kind !== 'answered') return false;
    return answer.stdout.split('\n').some((line) => {
      const bar = line.indexOf('|');
      const node = clusterNode(line.slice(bar + 1));
      return node !== null && !node.takesRuns && node.gpus >= gpus && Number(line.slice(0, bar)) >= cpus;
    });
  }

  /** What accounting says of jobs that the controller has forgotten; null: there is none, or it does not answer. */
  async accounted(jobs: readonly string[]): Promise<QueuedJob[] | null> {
    const fields = 'JobID,JobIDRaw,State,Reason,NodeList,Start,ElapsedRaw,Comment';
    const answer = await this.#call('sacct', ['-n', '-P', '-X', '-D', '-j', jobs.join(','), '-o', fields]);
    if (answer.kind !== 'answered') return null;
    return answer.stdout.split('\n').flatMap((line) => accountedJob(line) ?? []);
  }

  /** Signals jobs, or cancels them. @param words Before the addresses. */
  async cancel(words: readonly string[], addresses: readonly string[]): Promise<boolean> {
    return (await this.#call('scancel', [...words, ...addresses])).kind === 'answered';
  }

  #call(program: string, args: readonly string[], { environment = this.#environment, input = '' } = {}) {
    const found = programFile(program, this.#environment['PATH'] ?? '') ?? program;
    return askProgram({ program: found, args, environment, patienceMs: PATIENCE_MS, most: MOST, input });
  }

  /** Which cluster it is, and where its programs are: the job's own PATH comes back in its script. */
  #address(): Environment {
    const names = ['SLURM_CONF', 'SLURM_CLUSTERS'].filter((name) => name in this.#environment);
    return Object.fromEntries(names.map((name) => [name, this.#environment[name]!]));
  }
}

/** What Slurm says of a job that waits for nodes that are drained, down or reserved. */
const nodesUnavailable = /^ReqNodeNotAvail|^Nodes required for job are DOWN/;
function unavailableWords(lines: readonly string[]): string {
  const told = lines.slice(0, REASONS_TOLD).map((line) => {
    const [nodes = '', at = '', ...why] = line.split('|');
    return `${nodes} since ${at.slice(0, 16).replace('T', ' ')}: ${why.join('|').trim()}`;
  });
  const names = lines.map((line) => line.split('|')[0]).join(',');
  const more = lines.length > told.length ? `; and ${lines.length - told.length} more` : '';
  const silent = lines.some((line) => /^Not responding/.test(line.split('|')[2]!));
  const when = silent ? ', once slurmd answers there' : '';
  return `${told.join('; ')}${more}; whoever runs the cluster ends that by: scontrol update nodename=${names} state=resume${when}`;
}

/** Slurm says in one word that a node takes no jobs, and that it is kept for others. */
function beforeReasons(reason: string, areAll: boolean): string {
  return !areAll && /^Nodes required.*reserved/.test(reason)
    ? 'its nodes take no jobs, or are kept for a partition of higher priority; of all nodes take no jobs'
    : 'nodes take no jobs';
}

/** Between looks at why nodes take no jobs, while jobs wait for them, ms: whoever runs the cluster changes it by hand. */
const NODES_EVERY_MS = 15_000;
/** Reasons of nodes in the words of a job; a large cluster has many. */
const REASONS_TOLD = 3;

/** What Slurm says where no node has what a job asks for. */
export const noSuchNode = /Requested node configuration is not available/i;
const silent = "Slurm's controller does not answer";

/** Whether a variable says what a job is and which GPUs it has: to another job it would tell what is not so. */
export function isOfEnclosingJob(name: string): boolean {
  return /^(SLURM_|SLURMD_|SLURM$|CUDA_VISIBLE_DEVICES$|ROCR_VISIBLE_DEVICES$|GPU_DEVICE_ORDINAL$)/.test(name);
}

function forJob(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !isOfEnclosingJob(name)));
}

function refusalOf(said: string, code: number | null): Submitted {
  const reason = said.replaceAll(/sbatch: (error: )?/g, '').trim();
  if (code === null) return { kind: 'refused', reason: `sbatch: ${reason}`, transient: false };
  if (/timed out|zero bytes|connection (reset|aborted)/i.test(reason)) return { kind: 'unknown', reason };
  const later =
    /unable to contact|fetch_config|temporarily|submit limit|MaxSubmit|QOSMaxSubmit|too many jobs|slurmctld|in configuring|MaxJobCount/i;
  return { kind: 'refused', reason: `Slurm refuses it: ${reason}`, transient: later.test(reason) };
}

function queuedJob(line: string): QueuedJob | null {
  const [address, number, state, reason, nodes, start, used, index, ...comment] = line.split('|');
  if (comment.length === 0) return null;
  const key = keyIn(comment.join('|'), /^\d+$/.test(index!) ? index! : null);
  return {
    ...{ address: address!, number: Number(number), state: state!, reason: reason!, nodes: nodes!, start: start!, key },
    seconds: secondsOf(used!),
  };
}

function accountedJob(line: string): QueuedJob | null {
  const [address, number, state, reason, nodes, start, seconds, ...comment] = line.split('|');
  if (comment.length === 0) return null;
  const index = /^\d+_(\d+)$/.exec(address!)?.[1] ?? null;
  // `CANCELLED by 1000` is one word elsewhere; the clock of accounting is in seconds.
  const words = [
    address,
    number,
    state!.split(' ')[0],
    reason,
    nodes === 'None assigned' ? '' : nodes,
    start,
    `0:${seconds}`,
    index ?? 'N/A',
    ...comment,
  ];
  return queuedJob(words.join('|'));
}

function keyIn(comment: string, index: string | null): string | null {
  if (!comment.startsWith(MARK)) return null;
  const key = comment.slice(MARK.length);
  return index === null ? key : `${key}.${index}`;
}

/** `1-02:03:04`, `02:03:04`, `3:04`. */
export function secondsOf(text: string): number {
  const [days, clock] = text.includes('-') ? text.split('-') : ['0', text];
  return clock!.split(':').reduce((sum, part) => sum * 60 + Number(part), 0) + Number(days) * 86_400 || 0;
}
