/** What a window asks a host about the files of its runs, and what it is answered: JSON, one question or answer a line. */
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import type { ChartLine } from '../../contract/study.js';
import type { DiskUsage } from '../../files/disk/disk-usage.js';
import type { Samples } from '../../logs/samples.js';
import type { MetricReader, RunDetails } from '../../tui/state/port.js';

/** `have`: points that are here already; `sum`: what `sumOf` makes of them, so that only those behind them are sent. */
const AskedSeries = z.object({ key: z.string(), x: z.string(), have: z.int().nonnegative(), sum: z.int() });
export type AskedSeries = z.infer<typeof AskedSeries>;

const directory = z.string();

export const FileQuestion = z.discriminatedUnion('about', [
  /** `keys`: checksum of their names as they are known here. `report`: whether it is to be said where the metrics are. */
  z.object({
    ...{ about: z.literal('metrics'), directory, keys: z.int() },
    ...{ series: z.array(AskedSeries), report: z.boolean() },
  }),
  z.object({ about: z.literal('log-end'), directory, count: z.int() }),
  z.object({ about: z.literal('log-size'), directory }),
  z.object({ about: z.literal('log-part'), directory, from: z.int(), length: z.int() }),
  z.object({ about: z.literal('details'), directory }),
  z.object({ about: z.literal('usage'), directory }),
  /** `known`: the checksum of the samples that are here; 0: none. */
  z.object({ about: z.literal('samples'), directory, known: z.int() }),
  z.object({ about: z.literal('seeds'), directory }),
  z.object({ about: z.literal('last-launched') }),
  z.object({ about: z.literal('summary'), sweep: z.string(), width: z.int(), ascii: z.boolean() }),
]);
export type FileQuestion = z.infer<typeof FileQuestion>;

/** Coordinates of the points behind the first `from`, as bytes of doubles in base64; `from` 0: what was here is void. */
type ToldSeries = { readonly from: number; readonly x: string; readonly y: string };

/** `keys`: null where they are as known. `isPartial`: more can be read at once. */
type MetricsAnswer = {
  readonly keys: readonly string[] | null;
  readonly series: readonly ToldSeries[];
  readonly clock: Exclude<MetricReader['clock'], undefined>;
  readonly report: ReturnType<NonNullable<MetricReader['describe']>> | null;
  readonly isPartial: boolean;
  /** Lines for its charts. Absent: the host's program is older. */
  readonly lines?: readonly ChartLine[];
};

export type FileAnswers = {
  metrics: MetricsAnswer;
  'log-end': readonly string[];
  'log-size': { readonly size: number; readonly identity: string } | null;
  /** Base64. */
  'log-part': string;
  details: RunDetails | null;
  usage: DiskUsage;
  /** `samples`: null where they are as known. */
  samples: { readonly sum: number; readonly samples: Samples | null };
  seeds: readonly string[];
  /** The sweep; null: none was launched. */
  'last-launched': string | null;
  summary: readonly string[];
};

/**
 * A question or an answer. The program there is of this version or a close one: that answers are what they should be is not
 * checked in full.
 */
export const NumberedLine = z.object({
  number: z.int(),
  question: z.unknown().optional(),
  answer: z.unknown().optional(),
  problem: z.string().optional(),
});

/** A checksum of the first `count` points of a curve. */
export function sumOf({ x, y }: { readonly x: Float64Array; readonly y: Float64Array }, count: number): number {
  return crc32(bytesOf(y, 0, count), crc32(bytesOf(x, 0, count)));
}

/** Of names. */
export function sumOfKeys(keys: readonly string[]): number {
  return crc32(JSON.stringify(keys));
}

/** The bytes of some numbers, without a copy. */
export function bytesOf(numbers: Float64Array, from: number, to = numbers.length): Buffer {
  return Buffer.from(numbers.buffer, numbers.byteOffset + 8 * from, 8 * (to - from));
}

/** Numbers of `known` before `from`, and behind them those of the text. */
export function joined(known: Float64Array, from: number, base64: string): Float64Array<ArrayBuffer> {
  const added = Buffer.from(base64, 'base64');
  const numbers = new Float64Array(from + added.length / 8);
  numbers.set(known.subarray(0, from));
  added.copy(Buffer.from(numbers.buffer), 8 * from);
  return numbers;
}
