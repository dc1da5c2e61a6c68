import { goalOf } from '../../../analysis/metric-order.js';
import { Memoized } from '../../../base/memo.js';
import { hasEnded } from '../../../base/run-words.js';
import type { Wanted } from '../../model/history.js';
import { SeedNames } from '../../model/answer-finder.js';
import type { TreeNode } from '../../model/tree/branch.js';
import type { RunSummary, SweepSummary } from '../../state/port.js';
import { noFiles, type ScreenData, type ScreenEntry, type ScreenSource, type ScreenTools } from '../screen.js';
import { type ParametersContext, parametersKeys, parametersOpener } from './keys.js';
import {
  type Baseline,
  lastValue,
  medianBaseline,
  middleRun,
  type ParametersFacts,
  type Study,
  type StudyQuestion,
  studySteps,
} from './study.js';

/** Duration of one turn, in ms, which one more step may exceed. A key waits no longer. */
const TURN = 5;
/** Minimum time between two reports of progress, in ms. */
const PATIENCE = 100;
/** While runs keep ending, studies take at most 1/`PARTS` of the time. */
const PARTS = 5;

/** A study being computed. */
type Work = { readonly of: StudyQuestion; readonly steps: Generator<number, Study>; spent: number };

/**
 * Computes studies between key presses, one at a time. A result stays valid while the same runs have ended. When more runs end, it
 * is shown until the next study, which begins after a pause, is complete.
 */
export class StudyReader {
  readonly #changed: () => void;
  #study: Study | null = null;
  #asked: StudyQuestion | null = null;
  #work: Work | null = null;
  #done = 0;
  #told = 0;
  /** Earliest time of the next study of the same kind. */
  #notBefore = 0;
  #timer: NodeJS.Timeout | null = null;

  /** `changed`: called when a study is complete, and occasionally during its computation. */
  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** The last study of the requested kind, possibly of fewer runs; null: none yet. */
  get study(): Study | null {
    return this.#study;
  }

  /** Progress of the first study of its kind, 0 to 1. */
  get done(): number {
    return this.#done;
  }

  /** Sets the question, which starts the computation; null: no question. */
  want(question: StudyQuestion | null): void {
    if (question === null) return this.#forget();
    const known = this.#asked;
    if (known !== null && isSame(question, known)) return;
    this.#asked = question;
    if (this.#study !== null && !isOfOneKind(question, this.#study.of)) this.#study = null;
    // A study of fewer runs is completed, because time has been spent on it already.
    if (this.#work !== null && isOfOneKind(question, this.#work.of)) return;
    this.#stop();
    if (this.#study === null || !isSame(question, this.#study.of)) this.#begin(question);
  }

  #forget(): void {
    this.rest();
    this.#study = null;
  }

  /** Stops computing when another screen is shown. Results are kept. */
  rest(): void {
    this.#stop();
    this.#asked = null;
  }

  #stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#work = null;
  }

  #begin(question: StudyQuestion): void {
    const pause = this.#study === null ? 0 : Math.max(0, this.#notBefore - performance.now());
    this.#work = { of: question, steps: studySteps(question), spent: 0 };
    this.#done = 0;
    this.#timer = setTimeout(() => this.#turn(this.#work!), pause);
  }

  #turn(work: Work): void {
    const start = performance.now();
    let step = work.steps.next();
    while (step.done !== true && performance.now() - start < TURN) step = work.steps.next();
    const now = performance.now();
    work.spent += now - start;
    if (step.done === true) return this.#found(step.value, work, now);
    this.#done = step.value;
    this.#timer = setTimeout(() => this.#turn(work), 0);
    // Progress is not shown while an older study is.
    if (this.#study !== null || now - this.#told < PATIENCE) return;
    this.#told = now;
    this.#changed();
  }

  #found(study: Study, work: Work, now: number): void {
    this.#stop();
    this.#study = study;
    this.#notBefore = now + (PARTS - 1) * work.spent;
    const asked = this.#asked;
    if (asked !== null && !isSame(asked, work.of)) this.#begin(asked);
    this.#changed();
  }
}

/** Whether two questions differ at most in their runs. */
function isOfOneKind(a: StudyQuestion, b: StudyQuestion): boolean {
  return (
    a.sweep === b.sweep &&
    a.filter === b.filter &&
    a.metric === b.metric &&
    a.goal === b.goal &&
    a.scale === b.scale &&
    a.fromSeeds === b.fromSeeds
  );
}

/** Whether two questions have the same runs with the same results: an update replaces the object of a run. */
function isSame(a: StudyQuestion, b: StudyQuestion): boolean {
  if (!isOfOneKind(a, b) || a.runs.length !== b.runs.length) return false;
  return (
    a.runs === b.runs ||
    a.runs.every((run, index) => {
      const other = b.runs[index]!;
      return run === other || (run.id === other.id && Object.is(run.metrics[a.metric], other.metrics[a.metric]));
    })
  );
}

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
