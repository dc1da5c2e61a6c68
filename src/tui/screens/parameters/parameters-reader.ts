import { goalOf } from '../../../analysis/metric-order.js';
import { Memoized } from '../../../base/memoize.js';
import { hasEnded } from '../../../base/run-words.js';
import type { Wanted } from '../../model/history.js';
import type { TreeNode } from '../../model/tree/branch-index.js';
import { SeedNames } from '../../model/seed-names.js';
import type { RunSummary, SweepSummary } from '../../state/port.js';
import { noFiles, type ScreenData, type ScreenEntry, type ScreenSource, type ScreenTools } from '../screen.js';
import { type ParametersContext, parametersKeys, parametersOpener } from './keys.js';
import {
  type Baseline,
  lastValue,
  medianBaseline,
  middleRun,
  type Study,
  type StudyQuestion,
  type ParametersFacts,
} from './study.js';
import { StudyReader } from './study-reader.js';

/** The parameters that matter for the metric. */
export const parameters: ScreenEntry<'parameters', ParametersFacts> = {
  ...{
    name: 'parameters',
    keys: parametersKeys,
    opener: parametersOpener,
    data: (tools) => new ParametersReader(tools),
  },
  component: () => import('./parameters-screen.js').then(({ ParametersScreen }) => ParametersScreen),
};

type Source = ScreenSource<'parameters'>;
/** Runs of one sweep that match the filter. `done`: the completed ones. */
type Runs = {
  readonly sweep: SweepSummary | undefined;
  readonly of: readonly RunSummary[];
  readonly done: RunSummary[];
};

/** Maximum number of metrics besides the explained one. */
const MOST_OTHERS = 6;

/** Computes the study of the finished runs' parameters while the screen is shown. */
class ParametersReader implements ScreenData<'parameters', ParametersFacts> {
  readonly #studies: StudyReader;
  readonly #runs = new Memoized<Runs>();
  readonly #question = new Memoized<StudyQuestion | null>();
  readonly #facts = new Memoized<ParametersFacts>();
  readonly #seeds: SeedNames;

  constructor({ files, changed }: ScreenTools) {
    this.#seeds = new SeedNames(files, changed);
    this.#studies = new StudyReader(changed);
  }

  /** Needs no files, because the supervisor sends the last values of all runs. */
  wanted(source: Source): Wanted {
    const runs = this.#runsOf(source);
    const { listModel, ui, screen } = source;
    const { metric } = listModel;
    const question = this.#question.value([runs, metric, ui.filter, screen.byRank], () =>
      metric === null
        ? null
        : questionOf(metric, runs, {
            filter: ui.filter,
            byRank: screen.byRank,
            fromSeeds: this.#seeds.of(runs.sweep?.directory),
          }),
    );
    this.#studies.want(question);
    return noFiles;
  }

  read(source: Source): ParametersFacts {
    const { ui, listModel, node, fleet } = source;
    const unread = fleet.status.unread ?? 0;
    const runs = this.#runsOf(source);
    const { study, done } = this.#studies;
    const pinned = ui.compare.baseline;
    return this.#facts.value([study, done, runs, listModel.metric, pinned, node?.key, ui.filter, unread], () => ({
      ...{ study, progress: done, metric: listModel.metric, filter: ui.filter },
      total: runs.of.length,
      done: runs.done.length,
      pending: runs.of.filter(({ state }) => !hasEnded(state)).length,
      unread,
      selected: selectedIn(study?.runs ?? [], node),
      baseline: study === null ? null : (pinnedRun(pinned, study, source) ?? medianBaseline(study)),
    }));
  }

  context(source: Source): { page: number; own: ParametersContext } {
    return { page: Math.max(1, source.body.height - 2), own: { study: this.read(source).study } };
  }

  rest(): void {
    this.#studies.rest();
  }

  close(): void {
    this.rest();
  }

  #runsOf({ ui, listModel, node }: Source): Runs {
    const sweep = sweepOf(node, listModel.sweeps);
    return this.#runs.value([listModel.runs, ui.filter === '' ? null : listModel.tree, sweep], () =>
      runsAsked(sweep, { ui, listModel }),
    );
  }
}

/** The sweep of the selection, since runs of different programs have no common parameters. */
function sweepOf(node: TreeNode | undefined, sweeps: readonly SweepSummary[]): SweepSummary | undefined {
  const run = node?.kind === 'run' ? node.run : node?.runs[0];
  return sweeps.find(({ name }) => name === run?.sweep) ?? sweeps[0];
}

function runsAsked(sweep: SweepSummary | undefined, { ui, listModel }: Pick<Source, 'ui' | 'listModel'>): Runs {
  const shown =
    ui.filter === '' ? null : new Set(listModel.tree.groups.flatMap((group) => group.runs.map(({ id }) => id)));
  const of = listModel.runs.filter((run) => run.sweep === sweep?.name && (shown === null || shown.has(run.id)));
  return { sweep, of, done: of.filter(({ state }) => state === 'done') };
}

function questionOf(
  metric: string,
  { sweep, of, done }: Runs,
  { filter, byRank, fromSeeds }: Pick<StudyQuestion, 'filter' | 'fromSeeds'> & { readonly byRank: boolean | null },
): StudyQuestion {
  const { objective, show = [], groups = [] } = sweep ?? {};
  const wanted = new Set([...show, ...groups.flatMap(({ shown }) => shown?.show ?? [])]);
  const written = [...wanted].filter((key) => key !== metric && of.some((run) => lastValue(run, key) !== null));
  return {
    ...{ sweep: sweep?.name ?? '', filter, metric, runs: done, others: written.slice(0, MOST_OTHERS), fromSeeds },
    goal: goalOf(metric, objective),
    scale: byRank === null ? null : byRank ? 'rank' : 'value',
  };
}

/** Index of the run selected in the list, if it is one of these. */
function selectedIn(runs: readonly RunSummary[], node: TreeNode | undefined): number | null {
  const index = node?.kind === 'run' ? runs.findIndex(({ id }) => id === node.run.id) : -1;
  return index < 0 ? null : index;
}

/** The pinned run, or the middle run of the pinned group. */
function pinnedRun(key: string | null, study: Study, { fleet, listModel }: Source): Baseline | null {
  if (key === null) return null;
  const run = fleet.runs.get(key as RunSummary['id']);
  if (run !== undefined) return { run, word: 'baseline', isPinned: true };
  const group = listModel.tree.branches.get(key);
  const middle = group === undefined ? null : middleRun(study, new Set(group.runs.map(({ id }) => id)));
  return middle === null ? null : { run: middle, word: `median of ${group!.label}`, isPinned: true };
}
