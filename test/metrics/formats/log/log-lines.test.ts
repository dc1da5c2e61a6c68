import fc from 'fast-check';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { property, tiered } from '../../../tiers.js';
import { parse } from 'yaml';
import type { WrittenRow } from '../../../../src/metrics/formats/format.js';
import { logFormat } from '../../../../src/metrics/formats/log/log.js';
import { openMetrics } from '../../../../src/metrics/run-metrics.js';

/** A form of printed line; `points`: of each metric its values by x. `unread`: why its lines cannot be read. */
type Form = {
  program: string;
  source: string;
  lines?: string;
  text?: string;
  unread?: string;
  unverified?: string;
  points?: Record<string, Record<string, number>>;
};

const folder = join(import.meta.dirname, '../../../fixtures/log-lines');
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
const read = (name: string): unknown => parse(readFileSync(join(folder, name), 'utf8'));
const forms = files.filter((name) => name !== 'nothing.yaml').flatMap((name) => read(name) as Form[]);
const nothing = read('nothing.yaml') as { what: string; text: string }[];
const textOf = ({ lines, text }: Form) => lines ?? text ?? '';

const directory = mkdtempSync(join(tmpdir(), 'log-lines-'));
const log = join(directory, 'output.log');
afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));
beforeEach(() => writeFileSync(log, ''));

/** Metrics by name, each with its values by x; without what only counts. */
const pointsIn = (text: string) => {
  writeFileSync(log, text);
  const metrics = openMetrics(directory, { places: { folders: [], patterns: {} } }).readNow();
  const axes = ['step', 'epoch', 'episode', 'trial', 'global_step', 'time/total_timesteps'];
  const keys = metrics.keys().filter((key) => !axes.includes(key));
  return Object.fromEntries(
    keys.map((key) => {
      const { x, y } = metrics.series(key);
      return [key, Object.fromEntries(Array.from(x, (at, index) => [String(at), y[index]]))];
    }),
  );
};

/** The rows that a reader tells of a log that grows by these pieces, it looking after each. */
const rowsOfGrowing = (pieces: readonly Uint8Array[]) => {
  writeFileSync(log, '');
  const reader = logFormat().open({ paths: [log] });
  const rows: WrittenRow[] = [];
  const sink = { row: (row: WrittenRow) => void rows.push(row), restart: () => void (rows.length = 0) };
  for (const piece of pieces) {
    appendFileSync(log, piece);
    reader.read(1 << 20, sink);
  }
  return rows;
};

describe('lines that public programs print', () => {
  it('are of many programs, nearly all of them read', () => {
    const readable = forms.filter(({ unread }) => unread === undefined);
    const lookedUp = forms.filter(({ unverified }) => unverified === undefined);
    expect(lookedUp.length).toBeGreaterThanOrEqual(125);
    expect(readable.length / forms.length).toBeGreaterThan(0.96);
  });

  it.each(forms.filter(({ points }) => points !== undefined))('give their values and x: $program', (form) => {
    expect(pointsIn(textOf(form))).toEqual(form.points);
  });

  it.each(forms.filter(({ unread }) => unread !== undefined))(
    'give nothing wrong where they cannot be read: $program',
    (form) => {
      expect(Object.keys(pointsIn(textOf(form))).filter((key) => /loss|reward|objective/i.test(key))).toEqual([]);
    },
  );

  tiered(forms, 60)('give the same rows one byte at a time: $program', (form) => {
    const bytes = Buffer.from(textOf(form));
    const whole = rowsOfGrowing([bytes]);
    expect(rowsOfGrowing(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(whole);
  });

  property('give the same rows in pieces of any length', 60, (examples) => {
    const all = Buffer.from(forms.map(textOf).join('\n'));
    const whole = rowsOfGrowing([all]);
    expect(whole.length).toBeGreaterThan(forms.length);
    const cuts = fc.array(fc.nat(all.length), { maxLength: 30 });
    fc.assert(
      fc.property(cuts, (places) => {
        const ends = [...places.toSorted((a, b) => a - b), all.length];
        const pieces = ends.map((end, index) => all.subarray(ends[index - 1] ?? 0, end));
        expect(rowsOfGrowing(pieces)).toEqual(whole);
      }),
      examples,
    );
  });
});

describe('what programs print beside', () => {
  it.each(nothing)('has no metric: $what', ({ text }) => {
    expect(pointsIn(text)).toEqual({});
  });
});
