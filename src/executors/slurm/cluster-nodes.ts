import type { ClusterNode } from '../executor.js';

/** Fields of `sinfo -O` with their widths, as a field without one is cut at 20 characters. The reason may contain anything. */
export const NODE_FIELDS = 'NodeList:.80|,Gres:.200|,GresUsed:.200|,StateLong:.40|,Reason:.200';

/** A line of `sinfo` with these fields; null: it is none. */
export function clusterNode(line: string): ClusterNode | null {
  const [name, gres, used, state, ...reason] = line.split('|').map((field) => field.trim());
  if (!name || state === undefined) return null;
  const gpus = gpusIn(gres!) ?? 0;
  return { name, ...stateOf(state, reason.join(' | ')), gpus, gpusInUse: gpus === 0 ? 0 : gpusIn(used!) };
}

/** `gpu:4`, `gpu:a100:2(S:0-1),gpu:v100:1`, `gpu:a100:1(IDX:0)`; null: no GPU is mentioned. */
function gpusIn(gres: string): number | null {
  const counts = [...gres.matchAll(/\bgpu(?::[^:,()]+)??:(\d+)(?=[(,]|$)/g)].map(([, count]) => Number(count));
  return counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0);
}

/** Words for states of nodes, and whether Slurm starts jobs there. */
const states: Readonly<Record<string, { words: string; takesRuns: boolean }>> = {
  idle: { words: 'free', takesRuns: true },
  mixed: { words: 'partly in use', takesRuns: true },
  allocated: { words: 'in use', takesRuns: true },
  completing: { words: 'a job there is ending', takesRuns: true },
  planned: { words: 'reserved for a job that waits', takesRuns: true },
  draining: { words: 'draining: its jobs go on, and no others start', takesRuns: false },
  drained: { words: 'drained: no jobs start', takesRuns: false },
  down: { words: 'down', takesRuns: false },
  maint: { words: 'in maintenance', takesRuns: false },
  reserved: { words: 'reserved', takesRuns: false },
};
/** What Slurm appends to the state of a node. */
const flags: Readonly<Record<string, string>> = {
  '*': 'it does not answer',
  '~': 'powered off until a job needs it',
  '#': 'it is being powered up',
  '!': 'it is to be powered off',
  '%': 'it is being powered off',
  $: 'it is to be maintained',
  '@': 'it is to be rebooted',
  '^': 'it is being rebooted',
};

function stateOf(said: string, reason: string): Pick<ClusterNode, 'state' | 'takesRuns'> {
  const [, name = '', flag = ''] = /^(.*?)([*~#!%$@^+-]*)$/.exec(said)!;
  const { words, takesRuns } = states[name] ?? { words: name.replaceAll('_', ' '), takesRuns: false };
  const marks = [...flag].flatMap((each) => flags[each] ?? []);
  // Slurm also says why of nodes that are fine again.
  const why = takesRuns || /^(none|\(null\))?$/i.test(reason) ? [] : [reason];
  return { state: [words, ...marks, ...why].join('; '), takesRuns: takesRuns && !flag.includes('*') };
}

/** `0,1` or `0-3,6`, as Slurm lists the GPUs of a job; what is no index is left out. */
export function indicesIn(text: string): number[] {
  return text.split(',').flatMap((part) => {
    const [, first, last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === undefined) return [];
    return Array.from({ length: Math.max(0, Number(last) - Number(first) + 1) }, (_, index) => Number(first) + index);
  });
}

/** Between looks at the nodes, ms: their states change slowly, but for the GPUs that runs take when they start or end. */
const EVERY_MS = 15_000;
const AFTER_CHANGE_MS = 3000;
/** The controller is not asked for nodes for more than this share of the time. */
const SHARE = 0.02;
/** Nodes that are told of where no run is. */
const MOST = 64;

/** Knows the nodes of the cluster, as long as anybody wants to know. */
export class ClusterNodes {
  readonly #askSlurm: () => Promise<ClusterNode[] | null>;
  #nodes: readonly ClusterNode[] = [];
  #dueAt = -Infinity;
  /** How many runs or workers were on nodes at the last look. */
  #placed = 0;

  /** @param askSlurm Asks for the nodes; null: the controller does not answer. */
  constructor(askSlurm: () => Promise<ClusterNode[] | null>) {
    this.#askSlurm = askSlurm;
  }

  /** As told last; asks again in the background where that is old. Those with runs come first. @param withRuns Their names. */
  read(withRuns: readonly string[]): ClusterNode[] {
    const isSoon = withRuns.length !== this.#placed && performance.now() > this.#dueAt - EVERY_MS + AFTER_CHANGE_MS;
    if (isSoon || performance.now() > this.#dueAt) void this.#ask(withRuns.length);
    const own = new Set(withRuns);
    const others = this.#nodes.filter(({ name, gpus, takesRuns }) => !own.has(name) && (gpus > 0 || !takesRuns));
    return [...this.#nodes.filter(({ name }) => own.has(name)), ...others.slice(0, MOST)];
  }

  async #ask(placed: number): Promise<void> {
    const began = performance.now();
    this.#dueAt = Infinity;
    this.#placed = placed;
    this.#nodes = (await this.#askSlurm()) ?? this.#nodes;
    const tookMs = performance.now() - began;
    this.#dueAt = performance.now() + Math.max(EVERY_MS, tookMs / SHARE);
  }
}
