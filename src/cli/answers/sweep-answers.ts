import * as z from 'zod';
import { count, Counts, Failure, Goal, Interval, Parameters, path, RunState, time } from './facts.js';

const setting = {
  parameters: Parameters.describe('the parameters that vary in its group'),
  median: z.number().nullable().describe('of the metric over its runs; null: it is not a finite number'),
  interval: Interval.nullable().describe('95 % interval; null: no setting was run twice'),
  broken: count.describe('number of its runs that diverged, collapsed or ended with NaN'),
};

const Setting = z.object({
  ...setting,
  runs: z.array(z.string()).describe('names of its runs that have a value or are broken'),
  tied: z.boolean().nullable().describe('whether it cannot be told apart from the best; null: unknown'),
});

const question = {
  group: z.string().nullable().describe('null: the settings of the whole sweep are compared'),
  metric: z.string(),
  goal: Goal,
  runs: count.describe('number of all runs'),
  done: count.describe('runs that are done'),
  pending: count.describe('runs that have not ended'),
  silent: count.describe('runs that are done and have not written the metric'),
};

const toldApart = z
  .boolean()
  .nullable()
  .describe('whether the best can be told apart from all others; null: there is no other, or none was run twice');

/** The best setting of a group as `best` prints it, with all others. */
const GroupAnswer = z.object({
  ...question,
  best: Setting.nullable().describe('null: no setting has a value'),
  runnerUp: Setting.nullable().describe('null: no second setting has a value'),
  toldApart,
  candidates: z.array(Setting).describe('settings with a value, the best first'),
  broken: z.array(Setting).describe('settings most runs of which are broken'),
  sentences: z.array(z.string()),
});

/** Shares are of the variance of the metric over the runs, 0 to 1. */
const ImportanceFound = z.object({
  explained: z.number().describe('share that the parameters explain of runs that the model has not seen'),
  noise: z.boolean().describe('whether the model predicts no better than chance: the shares mean nothing then'),
  parameters: z.array(
    z.object({
      name: z.string(),
      share: z.number().describe('of its main effect'),
      spread: z.number().describe('standard deviation of the share from tree to tree'),
      trend: z.enum(['up', 'down', 'mixed', 'unordered']).describe('how the metric changes with it'),
      aliases: z.array(z.string()).describe('parameters that always change with it: the share is theirs, too'),
    }),
  ),
  pairs: z.array(z.object({ names: z.tuple([z.string(), z.string()]), share: z.number() })).describe('interactions'),
});

export const Best = z.array(
  z.object({
    sweep: z.string(),
    ...GroupAnswer.shape,
    importance: ImportanceFound.nullable()
      .optional()
      .describe('with --importance; null: too few runs, or no parameter or value that differs'),
    read: z.boolean().describe('whether all metrics have been read'),
  }),
);

const BriefSetting = z.object({ ...setting, n: count.describe('number of its runs that have a value or are broken') });

const BriefAnswer = z.object({
  ...question,
  toldApart,
  settings: count.describe('number of settings'),
  tied: count.describe('number of settings that may be as good as the best'),
  best: BriefSetting.nullable().describe('null: no setting has a value'),
  runnerUp: BriefSetting.nullable().describe('null: no second setting has a value'),
  sentence: z.string().nullable().describe('null: nothing can be said'),
});

const Shared = z.object({
  words: z.string(),
  runs: count.describe('number of runs of which it is true'),
  example: z.string().describe('name of the first of them'),
});

/** A sweep in `status`. */
export const Status = z.array(
  z.object({
    sweep: z.string(),
    state: z
      .enum(['running', 'held', 'blocked', 'done', 'ended'])
      .describe(
        'held: nothing starts until a user releases it; blocked: what waits needs runs that failed, or another machine; ended: not all are done',
      ),
    counts: Counts,
    problem: z.string().nullable().describe('what keeps the supervisor from working; null: nothing does'),
    read: z.boolean().describe('whether all metrics have been read: if not, they may be missing or old'),
    slots: z.object({
      cpu: z.object({ slots: count, busy: count }),
      gpus: z.array(
        z.object({ gpu: z.string().describe('as in --gpus'), up: count.describe('runs on it'), drained: z.boolean() }),
      ),
    }),
    groups: z.array(
      z.object({
        name: z.string(),
        title: z.string().nullable().describe('null: the sweep file gives none'),
        counts: Counts,
        growsTo: count.nullable().describe('number of runs until which it gets further ones; null: it gets none'),
      }),
    ),
    answers: z.array(BriefAnswer),
    failures: z.array(
      Failure.extend({
        log: z
          .array(z.string())
          .optional()
          .describe('last lines of the output of the example, of the first kind alone'),
      }),
    ),
    waiting: z.array(Shared).describe('why runs wait or are held, the most frequent reason first'),
    warnings: z.array(Shared),
    etaSeconds: z.number().nullable().describe('seconds until all have ended; null: unknown'),
    etaRange: Interval.nullable().describe('the end lies between these in eight cases of ten, seconds; null: unknown'),
    leftOut: z
      .record(z.string(), count)
      .describe('number of entries that each list of this digest lacks, as it is short; empty: none does'),
    next: z.array(z.object({ command: z.string(), why: z.string() })).describe('what to type next'),
  }),
);

const ChangedSetting = z.object({
  key: z.string(),
  was: z.string().nullable().describe('null: the default, or not set'),
  now: z.string().nullable().describe('null: the default, or not set'),
});

const PlannedRun = z.object({
  name: z.string(),
  nameByFile: z.string().describe('the name that the file would give it now'),
  group: z.string(),
  subgroup: z.string().nullable().describe('null: there is none'),
  parameters: Parameters,
  argv: z.array(z.string()).describe('the command; secrets are masked'),
  env: z.record(z.string(), z.string()).describe('variables that the sweep file sets; secrets are masked'),
  cwd: path,
  directory: path,
  needs: z.array(z.string()).describe('groups that must be done first'),
  neededRuns: z.array(z.string()).describe('runs that must be done first'),
  policy: z.array(z.string()).describe('settings that are not the defaults, in words'),
  startsAt: time.nullable().describe('when its start time lets it start; null: at once'),
  state: z.enum(['new', 'resume', 'done']).describe('by its directory: what is to be done of it'),
  reason: z.string().describe('why, in words'),
  live: RunState.nullable().describe('state by the supervisor; null: it is not up, or does not know the run'),
  change: z
    .enum(['new', 'longer', 'again', 'same'])
    .describe('what the launch does: starts it, continues it with a larger budget, starts it again, or nothing'),
  growth: z.string().nullable().describe('how its budget grows, in words; null: it does not'),
  settings: z.array(ChangedSetting).describe('settings that the file changes, of a run that has not ended'),
  changedSince: z.array(z.string()).describe('keys of the sweep file that have changed since the run was done'),
  resumeArgs: z.array(z.string()),
});

const TimeRange = z
  .object({ low: z.number(), middle: z.number(), high: z.number() })
  .describe('seconds; below `low` in one case of ten, above `high` in another');

/** `--dry-run`: runs are in launch order. */
export const Plan = z.object({
  sweep: z.string(),
  slots: z.array(z.string()).describe('names of the slots that runs may take'),
  notes: z.array(z.string()).describe('what the user should know of the file'),
  groups: z.array(
    z.object({
      name: z.string(),
      title: z.string().nullable().describe('null: the file gives none'),
      needs: z.array(z.string()),
      needsBy: z
        .array(z.object({ group: z.string(), by: z.array(z.string()) }))
        .optional()
        .describe('groups that are needed run by run, and the parameters that say by which'),
      prerequisite: z.boolean().optional().describe('true: it was not asked for, but another group needs it'),
      breaker: z
        .object({ failures: count, within: z.number().describe('seconds') })
        .nullable()
        .describe('null: it has none'),
      open: z
        .object({ method: z.enum(['random', 'lhs', 'sobol', 'bayes']), cap: count })
        .optional()
        .describe('its points are chosen one by one until there are `cap`; absent: all its runs are in the plan'),
    }),
  ),
  changes: z.object({
    new: count,
    longer: z.record(z.string(), count).describe('by state; `unfinished`: the state is unknown'),
    again: count,
    same: count,
  }),
  absent: z
    .array(
      z.object({
        name: z.string(),
        group: z.string(),
        state: RunState.nullable().describe('state of the run; null: it has not ended, or its state is unknown'),
      }),
    )
    .describe('runs of the sweep that the file does not contain; they stay'),
  estimate: z
    .object({
      totalSeconds: TimeRange,
      addedSeconds: z.number().describe('seconds that the change adds; negative: it takes less'),
    })
    .nullable()
    .describe('null: unknown'),
  runs: z.array(PlannedRun),
});
