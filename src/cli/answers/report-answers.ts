import * as z from 'zod';
import { ailments } from '../../base/run-words.js';
import { verdictWords } from '../../contract/study.js';
import { Annotation, count, Counts, Failure, Goal, growingWords, Interval, unbounded } from './facts.js';

const title = z.string().nullable().describe('null: none was given');
const unit = z.string().nullable().describe('null: none was given');
const numberOrNull = z.number().nullable();
const end = numberOrNull.describe('null: unknown or infinite');
const Axis = z.object({ title: z.string(), unit, log: z.boolean() });

const Table = z.object({
  title,
  columns: z.array(
    z.object({
      ...{ title: z.string(), unit, align: z.enum(['left', 'right']).nullable() },
      spare: count.nullable().describe('without room the highest is dropped first; 0: never; null: the last one'),
    }),
  ),
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
                text: z.string().nullable().describe('how it is written; null: as the reader likes'),
              }),
            ]),
          )
          .describe('one for each column'),
        best: z.boolean().describe('whether the program has marked the row as the best'),
      }),
    )
    .describe('at most 1,000'),
  notes: z.array(z.string()).describe('lines right below it'),
});

const each = z.array(numberOrNull).nullable();
const intervals = {
  lo: each.describe('lower ends of the intervals of y; null: there are none'),
  hi: each.describe('their upper ends'),
  min: each.describe('lower ends of wider intervals of y; null: there are none'),
  max: each.describe('their upper ends'),
};

const Curve = z.object({
  name: z.string(),
  kind: z.enum(['line', 'dashed', 'points']),
  x: z.array(numberOrNull).describe('at most 5,000'),
  ...{ y: z.array(numberOrNull), ...intervals },
  xlo: each.describe('lower ends of the intervals of x; null: there are none'),
  xhi: each.describe('their upper ends'),
});

const Bars = z.object({
  name: z.string(),
  x: z.array(z.string()).describe('what the bars stand at, at most 5,000'),
  ...{ y: z.array(numberOrNull), ...intervals },
  n: each.describe('of how many each is; null: unknown'),
  at: z.array(z.number()).nullable().describe('the place of the slider at which each is seen; null: at all'),
});

const Figure = z.object({
  ...{ title: z.string(), note: z.string().nullable(), x: Axis, y: Axis, series: z.array(Curve), bars: z.array(Bars) },
  slider: z.object({ title: z.string(), unit: z.string().nullable() }).describe('what the places of bars are'),
  set: z.string().nullable().describe('figures of one set that follow each other stand side by side; null: of none'),
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

/** A line in the charts of some metrics that a `study.json` declares. */
const ChartLine = z.object({
  run: z.string().nullable().describe('name of the run; null: it is for the charts of all runs'),
  metrics: z.array(z.string()),
  y: z.number(),
  per: z.string().nullable().describe('the metric on the x axis that y is multiplied with; null: y is the value'),
  text: z.string(),
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

const Settings = z
  .array(z.tuple([z.string(), z.array(z.unknown())]))
  .describe('each parameter with its different values; null among them: some runs do not have it');

const Section = z.object({
  group: z.string(),
  title: z.string().nullable().describe('null: the sweep file gives none'),
  settings: Settings,
  declared: Settings,
  kind: z.literal('metrics'),
  keys: z.array(z.string()).describe('metrics, in their order'),
  goals: z.record(z.string(), Goal.optional()).describe('where it is known'),
  rows: z.array(MetricRow),
  answer: z.array(z.string()).describe('which setting is best, in sentences'),
});

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
  studies: z
    .array(Study)
    .describe('what programs have to say beyond metrics (`study.json`): those of the sweep, then those of its runs'),
  chartLines: z.array(ChartLine).describe('lines that these files declare for charts, such as baselines'),
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
