import { type History, type Wanted } from './history.js';
import { type MetricReader, type RunSummary, type Series } from './port.js';
import { type Scene } from './scene.js';
import { type Curve } from './view/chart.js';
import { type Tone } from './view/span.js';
import { type Branch, type TreeNode } from './view/tree.js';
import { type Detail } from './view/window-model.js';

/** More curves than this cannot be told apart, and cost memory. */
const mostCurves = 32;
const mostCharts = 6;
const curveTones: readonly Tone[] = ['curve0', 'curve1', 'curve2', 'curve3', 'curve4', 'curve5', 'curve6', 'curve7'];

/** One run among those drawn. An empty label is not in the legend. */
type Subject = { run: RunSummary; label: string; tone: Tone };

/** What has to be read to show a node. `logLines`: how much of a run's log. */
export function wantedFor(node: TreeNode | undefined, scene: Scene, logLines: number): Wanted {
  const isRun = node?.kind === 'run';
  return {
    metrics: subjectsOf(node, scene).map(({ run }) => run.directory),
    log: isRun ? node.run.directory : null,
    logLines: isRun ? logLines : 0,
  };
}

/** What has been read of a node. Curves are those of the chosen metric first, then of those its group or the sweep shows. */
export function detailOf(node: TreeNode | undefined, scene: Scene, history: History): Detail {
  const subjects = subjectsOf(node, scene);
  const sweep = scene.sweeps.find(({ name }) => name === subjects[0]?.run.sweep);
  const group = sweep?.groups.find(({ name }) => name === subjects[0]?.run.group);
  const { show, x: xKey } = group?.shown ?? sweep ?? { show: [], x: 'step' };
  const readers = subjects.map(({ run }) => history.reader(run.directory));
  const keys = chartKeys(scene.metric, show, readers);
  return {
    charts: keys.map((metric) => ({
      metric,
      curves: subjects.flatMap((subject, index): Curve[] => {
        const reader = readers[index];
        return reader === undefined
          ? []
          : [{ label: subject.label, tone: subject.tone, series: series(reader, metric, xKey) }];
      }),
    })),
    xKey,
    log: node?.kind === 'run' ? history.log(node.run.directory) : [],
    isLoaded: readers.every((reader) => reader !== undefined),
  };
}

function chartKeys(
  metric: string | null,
  show: readonly string[],
  readers: readonly (MetricReader | undefined)[],
): string[] {
  const known = new Set(readers.flatMap((reader) => reader?.keys() ?? []));
  const others = show.filter((key) => known.has(key));
  // A warm-up has no use for the metric of the sweep; an empty chart would hide its own.
  const first = metric !== null && (known.has(metric) || others.length === 0) ? [metric] : [];
  return [...new Set([...first, ...others])].slice(0, mostCharts);
}

/** A file without the sweep's x axis is drawn over its steps. */
function series(reader: MetricReader, metric: string, xKey: string): Series {
  const wanted = reader.series(metric, xKey);
  return wanted.y.length > 0 ? wanted : reader.series(metric);
}

/** A run over its siblings in the background; a subgroup's runs each in its colour; a group's by subgroup when they are many. */
function subjectsOf(node: TreeNode | undefined, { tree }: Scene): Subject[] {
  if (node === undefined) return [];
  if (node.kind === 'run')
    return [...siblings(tree.branches.get(node.parent), node.run), { run: node.run, label: '', tone: 'curve0' }];
  const hasSubgroups = node.children.some(({ kind }) => kind === 'subgroup');
  const subjects = hasSubgroups ? node.children.flatMap(childSubjects) : eachRun(node);
  return spread(subjects, mostCurves);
}

function siblings(parent: Branch | undefined, run: RunSummary): Subject[] {
  if (parent?.kind !== 'subgroup' || parent.runs.length > 8) return [];
  return parent.runs.filter(({ id }) => id !== run.id).map((other) => ({ run: other, label: '', tone: 'faint' }));
}

function eachRun(branch: Branch): Subject[] {
  return branch.children.flatMap((child, index): Subject[] =>
    child.kind === 'run' ? [{ run: child.run, label: child.label, tone: curveTones[index % curveTones.length]! }] : [],
  );
}

function childSubjects(child: TreeNode, index: number): Subject[] {
  const tone = curveTones[index % curveTones.length]!;
  if (child.kind === 'run') return [{ run: child.run, label: child.label, tone }];
  return child.runs.map((run) => ({ run, label: child.label, tone }));
}

/** At most `most` of them, evenly taken, so that every subgroup is still there. */
function spread<T>(items: readonly T[], most: number): T[] {
  if (items.length <= most) return [...items];
  return Array.from({ length: most }, (_, index) => items[Math.floor((index * items.length) / most)]!);
}
