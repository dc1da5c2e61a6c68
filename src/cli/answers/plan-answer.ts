import * as z from 'zod';
import { count, Parameters, path, RunState, time } from './facts.js';

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
