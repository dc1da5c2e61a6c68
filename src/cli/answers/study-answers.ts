import * as z from 'zod';
import { verdictWords } from '../../contract/study.js';

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
export const Study = z.object({
  file: z.string().describe('its path below the directory of the sweep'),
  run: z.string().nullable().describe('null: it is of the sweep'),
  title,
  notes: z.array(z.string()),
  tables: z.array(Table),
  figures: z.array(Figure),
  verdicts: z.array(z.object({ claim: z.string(), verdict: z.enum(verdictWords), figures: z.array(z.string()) })),
  warnings: z.array(z.string()).describe('what could not be read of it, with its place in the file'),
});
