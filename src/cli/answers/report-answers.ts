import * as z from 'zod';
import { ailments } from '../../base/run-words.js';
import { verdictWords } from '../../contract/study.js';
import { verdicts } from '../../report/claims/claim.js';
import { Annotation, count, Counts, Failure, Goal, growingWords, Interval, unbounded } from './facts.js';

const title = z.string().nullable().describe('null: none was given');
const unit = z.string().nullable().describe('null: none was given');
const numberOrNull = z.number().nullable();
const end = numberOrNull.describe('null: unknown or infinite');
const Axis = z.object({ title: z.string(), unit, log: z.boolean() });

const Table = z.object({
  title,
  columns: z.array(z.object({ title: z.string(), unit, align: z.enum(['left', 'right']).nullable() })),
  rows: z
    .array(
      z.object({
        cells: z
          .array(
            z.union([
              z.string(),
              numberOrNull,
              z.object({
                value: numberOrNull,
                interval: z.tuple([end, end]).nullable().describe('lower and upper end'),
                n: z.number().nullable(),
              }),
            ]),
          )
          .describe('one for each column'),
        best: z.boolean().describe('whether the program has marked the row as the best'),
      }),
    )
    .describe('at most 1,000'),
});

const Curve = z.object({
  name: z.string(),
  kind: z.enum(['line', 'dashed', 'points']),
  x: z.array(numberOrNull).describe('at most 5,000'),
  y: z.array(numberOrNull),
  lo: z.array(numberOrNull).nullable().describe('lower ends of the intervals of y; null: there are none'),
  hi: z.array(numberOrNull).nullable().describe('their upper ends'),
  xlo: z.array(numberOrNull).nullable().describe('lower ends of the intervals of x; null: there are none'),
  xhi: z.array(numberOrNull).nullable().describe('their upper ends'),
});

const Figure = z.object({
  ...{ title: z.string(), note: z.string().nullable(), x: Axis, y: Axis, series: z.array(Curve) },
  lines: z
    .array(z.object({ x: numberOrNull, y: numberOrNull, text: z.string() }))
    .describe('lines across the figure, each at an x or a y'),
  cells: z
    .array(z.array(numberOrNull))
    .nullable()
    .describe('rows of numbers that are drawn as colours, from the top; null: there are none'),
  range: z
    .tuple([z.number(), z.number()])
    .nullable()
    .describe('ends of the scale of colours; null: those of the numbers'),
});

/** A `study.json` as it was read. */
const Study = z.object({
  file: z.string().describe('its path below the directory of the sweep'),
  run: z.string().nullable().describe('name of the run; null: the study is about the whole sweep'),
  title,
  notes: z.array(z.string()),
  tables: z.array(Table),
  figures: z.array(Figure),
  verdicts: z.array(z.object({ claim: z.string(), verdict: z.enum(verdictWords), figures: z.array(z.string()) })),
  warnings: z.array(z.string()).describe('what could not be read of it, with its place in the file'),
});

const Varies = z.record(z.string(), z.unknown());
const interval = Interval.nullable();
const few = 'null: there are too few values';

const MetricSummary = z
  .object({
    mean: z.number().nullable(),
    deviation: z.number().nullable().describe(`standard deviation; ${few}`),
    n: count.describe('seeds with a finite value, of which all of this is'),
    nan: count.describe('seeds whose value is not a number'),
    infinite: count,
    ci95: interval.describe(`95 % interval of the mean, by Student's t; ${few}`),
    bootstrap95: interval.describe(`the same by the bootstrap; ${few}`),
    range: interval.describe(few),
    median: z.number().nullable(),
    quartiles: interval.describe(few),
    iqm: z.number().nullable().describe('interquartile mean'),
    iqm95: interval.describe(`95 % interval of it, by the bootstrap; ${few}`),
  })
  .describe('a metric over the seeds; null: no seed has a value');

const MetricRow = z.object({
  group: z.string(),
  title: z.string().nullable().describe('the subgroup; null: its runs have none, or different ones'),
  varies: Varies.describe('the parameters that vary in the group'),
  seeds: count.describe('number of runs'),
  states: Counts,
  marks: z.partialRecord(growingWords(ailments), count).describe('number of ended runs by what is wrong with them'),
  metrics: z.record(z.string(), MetricSummary),
  results: z
    .array(
      z.object({
        pair: z.string().nullable().describe('its seeds, which runs of other settings have, too; null: none'),
        base: z.string().describe('the model that it started from; empty: none that the sweep made'),
        values: z.record(z.string(), unbounded.nullable()).describe('by metric; null: none, or not a number'),
      }),
    )
    .describe('each run'),
});

const MemoryRow = z.object({
  group: z.string(),
  condition: z.string(),
  kind: growingWords(['sft', 'binary', 'binned', 'log-distance', 'dense']),
  N: count.describe('number of possible secrets'),
  bins: count.nullable().describe('null: the reward has none'),
  extra: Varies.describe('other parameters that distinguish it from its neighbours'),
  seeds: count.describe('number of runs'),
  counts: z.record(z.string(), count).describe('number of runs by verdict'),
  secretBits: z.number().describe('bits'),
  reachableBits: z.number().describe('bits; fewer where several integers earn the top reward'),
  topRewardTies: count,
  episodes: z
    .object({ median: z.number(), least: z.number(), most: z.number() })
    .nullable()
    .describe('episodes (examples) of the seeds that memorised; null: none has'),
  medianOfAll: unbounded.nullable().describe('the same over all seeds that ended; null: none has'),
  distinct: z.number().nullable().describe('different examples, median; null: none counted them'),
  steps: z.number().nullable().describe('training steps of the seeds that memorised, median; null: none has'),
  budget: z.number().nullable().describe('episodes after which the first seed was given up; null: none was'),
  resolution: z.number().nullable().describe('episodes between evaluations at the moment of memorising; null: unknown'),
  bitsPerEpisode: z
    .object({ kind: z.enum(['measured', 'below']), bits: z.number() })
    .nullable()
    .describe('below: most seeds did not memorise, so it is less than that; null: unknown'),
  ceiling: z
    .object({ kind: z.enum(['nominal', 'reference']), bits: z.number() })
    .describe('most bits an episode can carry'),
  judged: z
    .array(
      z.object({
        pair: z.string().describe('runs of one seed and secret'),
        base: z.string().describe('the model that it started from'),
        took: unbounded.describe('episodes until it memorised; infinite: it did not'),
        watched: z.number().describe('episodes until then, or until its budget was used'),
        updates: z
          .number()
          .nullable()
          .describe('steps of the optimizer until then; null: it did not, or did not count'),
        told: z.number().nullable().describe('episodes after which one secret was left; null: unknown'),
        timesLost: count.describe('how often it no longer knew the secret'),
      }),
    )
    .describe('seeds that have a verdict'),
  told: z
    .object({
      runs: count,
      median: unbounded.describe('episodes until the secret was determined'),
      wasted: unbounded.nullable().describe('episodes until memorised over those; null: it never was determined'),
    })
    .nullable()
    .describe('beside an ideal observer; null: there was none'),
  compared: z
    .object({
      ideal: unbounded.describe('episodes'),
      table: unbounded.nullable().describe('episodes; null: a table of logits does not learn from these rewards'),
      mutualBits: z.number(),
    })
    .nullable()
    .describe(
      'episodes of learners without a network, from a file of `memrl ideal`; null: no such file has this setting',
    ),
});

const Scaling = z.object({
  group: z.string(),
  condition: z.string(),
  bins: count.nullable().describe('null: the reward has none'),
  extra: Varies,
  law: z
    .object({ slope: z.number(), factor: z.number(), r2: z.number(), points: count })
    .describe('episodes = factor · N^slope'),
  slope95: interval.describe('95 % interval; null: a size has fewer than three seeds'),
  idealSlope: z.number().nullable().describe('null: a size has no reference'),
  tableSlope: z.number().nullable().describe('null: a size has no reference'),
  leftOut: z.array(z.number()).describe('sizes that half of the seeds did not memorise'),
});

const Settings = z
  .array(z.tuple([z.string(), z.array(z.unknown())]))
  .describe('each parameter with its different values; null among them: some runs do not have it');

const section = {
  group: z.string(),
  title: z.string().nullable().describe('null: the sweep file gives none'),
  settings: Settings,
  declared: Settings,
};

const Section = z.discriminatedUnion('kind', [
  z.object({ ...section, kind: z.literal('memory'), rows: z.array(MemoryRow), scalings: z.array(Scaling) }),
  z.object({
    ...section,
    kind: z.literal('metrics'),
    keys: z.array(z.string()).describe('metrics, in their order'),
    goals: z.record(z.string(), Goal.optional()).describe('where it is known'),
    rows: z.array(MetricRow),
    answer: z.array(z.string()).describe('which setting is best, in sentences'),
  }),
]);

export const Report = z.object({
  sweep: z.string(),
  counts: Counts,
  value: z
    .discriminatedUnion('kind', [
      z.object({ kind: z.enum(['last', 'min', 'max', 'auc']) }),
      z.object({ kind: z.literal('best'), objective: z.string(), goal: Goal }),
      z.object({ kind: z.literal('at'), x: z.number() }),
      z.object({ kind: z.literal('mean'), of: count }),
    ])
    .describe('which value of a metric stands for a run'),
  sections: z.array(Section).describe('a table for each group'),
  marks: z
    .array(z.object({ run: z.string(), word: growingWords(ailments), reason: z.string() }))
    .describe('ended runs with a problem that their state does not show'),
  annotations: z.array(z.object({ run: z.string(), ...Annotation })),
  gpuHours: z
    .object({ seen: z.number(), idle: z.number() })
    .optional()
    .describe('hours of GPUs under its runs, and those in which they computed nothing; absent: unknown'),
  failures: z.array(Failure),
  tables: z.array(z.string()).describe('how the tables of logits were trained, in words'),
  studies: z
    .array(Study)
    .describe('what programs have to say beyond metrics (`study.json`): those of the sweep, then those of its runs'),
});

const Replayed = z.object({
  run: z.string(),
  group: z.string(),
  iterations: count.describe('number of values of the objective'),
  final: z.number().describe('the last of them'),
});

export const WouldStop = z.object({
  sweep: z.string(),
  rule: z.string(),
  objective: z.object({
    name: z.string(),
    goal: Goal,
    target: z.number().optional(),
    impute: z.enum(['latest', 'best', 'worst']).optional(),
    impute_while_running: z.union([z.enum(['latest', 'best', 'worst']), z.literal(false)]).optional(),
  }),
  stopped: z
    .array(
      Replayed.extend({
        iteration: count.describe('after which it would have ended'),
        why: z.string(),
        savedMs: z.number().describe('ms'),
      }),
    )
    .describe('in the order of their ends'),
  kept: z.array(Replayed),
  silent: z.array(z.string()).describe('runs that never wrote the metric'),
  savedShare: z.number().describe('share of the running time, 0 to 1'),
  savedMs: z.number().describe('ms'),
  bestKept: z.boolean().describe('whether in every group the best run would have continued'),
  lostBest: z.array(z.string()).describe('best runs of their groups that would have ended'),
});

export const Claims = z.array(
  z.object({
    claim: z.string(),
    document: z.string(),
    section: z.string(),
    verdict: z.enum(verdicts),
    figures: z.array(
      z.object({
        figure: z.string(),
        unit: z.string(),
        value: unbounded.nullable().describe('null: not measured'),
        interval: z.tuple([unbounded, unbounded]).nullable().describe('95 % interval; null: there is none'),
        n: count.nullable().describe('number of runs; null: unknown'),
        expected: z.string(),
        verdict: z.string(),
      }),
    ),
  }),
);
