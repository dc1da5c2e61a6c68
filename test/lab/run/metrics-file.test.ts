import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { appendRow, dropRowsFrom } from '../../../src/lab/run/metrics-file.js';
import { tempDirectory } from '../temp-directory.js';

describe('metrics.jsonl', () => {
  it('has one line per row, with null for a number that is not finite', () => {
    const path = join(tempDirectory(), 'metrics.jsonl');
    appendRow(path, { step: 0, loss: Number.NaN, ceiling: Infinity, guess: null });
    appendRow(path, { step: 1, loss: 0.1 });
    expect(readFileSync(path, 'utf8')).toBe(
      '{"step":0,"loss":null,"ceiling":null,"guess":null}\n{"step":1,"loss":0.1}\n',
    );
  });

  it.each([
    ['rows of later steps', '{"step":0}\n{"step":5}\n{"step":10}\n', 5, '{"step":0}\n'],
    ['a torn last line', '{"step":0}\n{"step":1}\n{"st', 5, '{"step":0}\n{"step":1}\n'],
    ['lines that are no rows', '{"step":0}\nnull\n[]\n{"loss":1}\n\n{"step":1}\n', 9, '{"step":0}\n{"step":1}\n'],
    ['everything, for a run that begins again', '{"step":0}\n{"step":1}\n', 0, ''],
  ])('loses %s when a run is resumed', (_what, before, step, after) => {
    const path = join(tempDirectory(), 'metrics.jsonl');
    writeFileSync(path, before);
    dropRowsFrom(path, step);
    expect(readFileSync(path, 'utf8')).toBe(after);
  });

  it('is not created when a missing file is searched for rows to drop', () => {
    const path = join(tempDirectory(), 'metrics.jsonl');
    dropRowsFrom(path, 3);
    expect(existsSync(path)).toBe(false);
  });
});
