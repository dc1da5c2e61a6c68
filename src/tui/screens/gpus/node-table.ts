import { groupBy } from '../../../base/group-by.js';
import type { NodeStatus } from '../../../protocol/run-summary.js';
import { cleanText } from '../../../text/display-text.js';
import { counted } from '../../../text/numbers.js';
import type { FleetStatus, RunSummary } from '../../state/port.js';
import { progressBar } from '../../widgets/progress-bar.js';
import { scrollTo } from '../../widgets/scroll.js';
import { fit, fitLine, type Line, onBackground, span } from '../../surface/span.js';

/** A node of a cluster and the runs that are on it. `status`: null when the cluster has not told of it (yet). */
export type ShownNode = {
  readonly name: string;
  readonly status: NodeStatus | null;
  readonly runs: readonly RunSummary[];
};

/** The nodes that the screen lists, those with runs first; empty where the runs are on this machine. */
export function shownNodes({ nodes = [] }: FleetStatus, runs: Iterable<RunSummary>): ShownNode[] {
  const placed = groupBy([...runs].filter(isOnNode), ({ slot }) => slot!);
  const told = new Map(nodes.map((node) => [node.name, node]));
  const names = [...[...placed.keys()].toSorted(), ...[...told.keys()].filter((name) => !placed.has(name))];
  return names.map((name) => ({ name, status: told.get(name) ?? null, runs: placed.get(name) ?? [] }));
}

/** Whether another program has placed the run on a node. */
function isOnNode({ slot }: RunSummary): boolean {
  return slot !== null && !/^(cpu|gpu) /.test(slot);
}

const barWidth = 10;

/** One row for each node: a heading and `height - 1` rows around the chosen one. */
export function nodeTable(nodes: readonly ShownNode[], chosen: number, width: number, height: number): Line[] {
  const nameWidth = Math.min(Math.max(4, ...nodes.map(({ name }) => name.length)), Math.floor(width / 3));
  const rows = height - 1;
  const top = scrollTo(chosen, 0, rows, nodes.length);
  const lines = nodes.slice(top, top + rows).map((node, offset): Line => {
    const line = fitLine(nodeRow(node, nameWidth), width);
    return top + offset === chosen ? onBackground(line, 'selected') : line;
  });
  const heading = ` ${fit('node', nameWidth)}  ${fit('GPUs in use', barWidth + 10)}  state`;
  return [fitLine([span(heading, 'faint')], width), ...lines];
}

function nodeRow({ name, status, runs }: ShownNode, nameWidth: number): Line {
  const own = runs.length === 0 ? [] : [span(counted(runs.length, 'run'), 'busy'), span(' · ', 'dim')];
  return [
    span(` ${fit(cleanText(name), nameWidth)}  `, 'strong'),
    ...gpuCells(status),
    span('  '),
    ...own,
    stateOf(status),
  ];
}

function gpuCells(status: NodeStatus | null): Line {
  const { gpus, gpusInUse } = status ?? { gpus: 0, gpusInUse: null };
  if (gpus === 0) return [span(fit(status === null ? '' : 'no GPU', barWidth + 10), 'dim')];
  const bar = progressBar(gpusInUse === null ? null : gpusInUse / gpus, barWidth, 'accent');
  return [...bar, span(fit(`  ${gpusInUse ?? '?'} of ${gpus}`, 10), 'value')];
}

function stateOf(status: NodeStatus | null): Line[number] {
  if (status === null) return span('not told of yet', 'dim');
  return span(cleanText(status.state), status.takesRuns ? 'dim' : 'warn');
}

/** The GPUs in use on all nodes, and how many nodes start no new runs. */
export function nodeTotals(nodes: readonly ShownNode[]): Line {
  const told = nodes.flatMap(({ status }) => status ?? []);
  const sum = (of: (node: NodeStatus) => number) => told.reduce((total, node) => total + of(node), 0);
  const [gpus, closed] = [sum((node) => node.gpus), told.filter(({ takesRuns }) => !takesRuns).length];
  const words = [
    ...(gpus === 0 ? [] : [`${sum((node) => node.gpusInUse ?? 0)} of ${gpus} GPUs in use`]),
    ...(closed === 0 ? [] : [`${counted(closed, 'node')} without new runs`]),
  ];
  return [span(words.join(' · '), 'dim')];
}
