import { groupBy } from '../../base/group-by.js';
import { finished } from '../../base/steps.js';
import { counted, shortNumber } from '../../text/numbers.js';
import { defaultMetric, goalByName, identifier, type MetricsToShow } from '../metric-order.js';
import { repetitionNames } from '../parameters/settings.js';
import { type Answer, type AnsweredRun, type AnswerQuestion, answerSteps, namesThatVary } from './best-answer.js';

type Objective = Pick<AnswerQuestion, 'metric' | 'goal'>;

/** `best`: what the sweep file judges it by; absent: nothing. `counting`: its metrics that are counters by their values. */
type AskedRun = AnsweredRun & {
  readonly best?: Objective | undefined;
  readonly counting?: readonly string[] | undefined;
};

/** A sweep as clients know it. `shown`: what a group shows, where that is not what the sweep shows. */
type AskedSweep = MetricsToShow & {
  readonly objective?: { readonly name: string; readonly goal: Objective['goal'] } | undefined;
  readonly groups: readonly { readonly name: string; readonly shown?: MetricsToShow | undefined }[];
};

type Asked = {
  /** Parameters that the sweep computes from seeds. */
  readonly fromSeeds: readonly string[];
  /** The metric that a person asks about; absent: that of the sweep file. */
  readonly objective?: Objective | undefined;
  /** Whether the settings of all groups are compared with each other. */
  readonly isAcross?: boolean | undefined;
};

/** The answer of a group; `group` null: of the whole sweep. */
export type GroupAnswer = { readonly group: string | null; readonly answer: Answer };

/** A group without an answer. `metric` null: its runs have written none; else it is not known which end of that is good. */
export type Unanswered = { readonly group: string | null; readonly metric: string | null };

export type SweepAnswers = { readonly answers: readonly GroupAnswer[]; readonly unanswered: readonly Unanswered[] };

/**
 * The answers of a sweep, in the order of its file: one for each group, as groups may run other programs on other tasks, so that
 * their values cannot be compared. A group of one setting has nothing to choose from, and is left out where another has.
 */
export function answersOf(runs: readonly AskedRun[], sweep: AskedSweep, asked: Asked): SweepAnswers {
  return finished(answersSteps(runs, sweep, asked));
}

/** The same in steps, for a window that goes on meanwhile. */
export function* answersSteps(
  runs: readonly AskedRun[],
  sweep: AskedSweep,
  { fromSeeds, objective, isAcross = false }: Asked,
): Generator<0, SweepAnswers> {
  const places = new Map(sweep.groups.map(({ name }, index) => [name, index]));
  const byGroup = [...groupBy(runs, ({ group }) => group)].sort(
    ([a], [b]) => (places.get(a) ?? places.size) - (places.get(b) ?? places.size),
  );
  const asked = isAcross || byGroup.length === 1 ? [[null, runs] as const] : withChoice(byGroup, fromSeeds);
  const answers: GroupAnswer[] = [];
  const unanswered: Unanswered[] = [];
  for (const [group, own] of asked) {
    yield 0;
    const { metric, goal } = objective ?? objectiveOf(own, sweep, group);
    if (metric === null || goal === null) unanswered.push({ group, metric });
    else answers.push({ group, answer: yield* answerSteps(own, { metric, goal, fromSeeds }) });
  }
  return { answers, unanswered };
}

type OwnRuns = readonly [group: string, runs: readonly AskedRun[]];

/** The groups with several settings; all, if there is no such group. */
function withChoice(groups: readonly OwnRuns[], fromSeeds: readonly string[]): readonly OwnRuns[] {
  const several = groups.filter(([, runs]) => namesThatVary(runs, repetitionNames(runs, fromSeeds)).length > 0);
  return several.length > 0 ? several : groups;
}

/** What the sweep file judges these runs by; else the metric that is shown first, with the end of it that its name tells. */
function objectiveOf(
  runs: readonly AskedRun[],
  sweep: AskedSweep,
  group: string | null,
): { metric: string | null; goal: Objective['goal'] | null } {
  const written = new Set(runs.flatMap(({ metrics }) => Object.keys(metrics)));
  const own = runs.find(({ best }) => best !== undefined)?.best;
  const said = own ?? (sweep.objective && { metric: sweep.objective.name, goal: sweep.objective.goal });
  if (said !== undefined) return { metric: writtenAs(said.metric, written), goal: said.goal };
  const counting = new Set(runs.flatMap((run) => run.counting ?? []));
  const shown = sweep.groups.find(({ name }) => name === group)?.shown ?? sweep;
  const metric = defaultMetric(written, shown, counting);
  return { metric, goal: metric === null ? null : goalByName(metric) };
}

/** The name that a metric of the sweep file is written by: `eval_loss` may stand for `eval/loss`. */
function writtenAs(name: string, written: ReadonlySet<string>): string {
  return written.has(name) ? name : ([...written].find((key) => identifier(key) === name) ?? name);
}

/** Share of the runs that are done before the best of them is told unasked. */
const TELLING = 1 / 3;

/** Whether so many runs are done that the best of them says something of the whole. */
export function isTelling({ done, all }: Pick<Answer, 'done' | 'all'>): boolean {
  return done >= all * TELLING;
}

/**
 * The answer in a few words, for a line beside other things: `median loss 0.931: lr=0.1, as good as 2 others`; null: too few runs are done, or
 * none has a value.
 */
export function briefAnswer(answer: Answer): string | null {
  const { metric, candidates } = answer;
  const [best, ...others] = candidates;
  if (best === undefined || others.length === 0 || !isTelling(answer)) return null;
  const tied = others.filter(({ isTied }) => isTied === true).length;
  const doubt = tied === 0 ? '' : `, as good as ${counted(tied, 'other')}`;
  const chance = others.some(({ isTied }) => isTied === null) ? ' (one run each)' : '';
  // The value comes first, so that a narrow line keeps both it and the setting.
  return `${best.runs.length > 1 ? 'median ' : ''}${metric} ${shortNumber(best.median)}: ${best.text}${doubt}${chance}`;
}
