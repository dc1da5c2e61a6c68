import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { failureAtEnd, findFailure } from '../../src/logs/failure-line.js';
import { LogRows } from '../../src/metrics/formats/log/log-rows.js';
import { displayText } from '../../src/text/display-text.js';

type Form = { program: string; source: string; log: string; line: string; class?: 'oom' };

const folder = join(import.meta.dirname, '../fixtures/failures');
const forms = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .flatMap((name) => parse(readFileSync(join(folder, name), 'utf8')) as Form[]);

const training = 'epoch 1 step 10 loss 0.5\nepoch 1 step 20 loss 0.4\n';
const linesOf = (log: string) => (training + log).split('\n').slice(0, -1).map(displayText);

describe(`the ends of ${forms.length} logs`, () => {
  it.each(forms)('give the reason: $program', ({ log, line, class: kind }) => {
    const failure = findFailure(linesOf(log));
    const reason = kind === 'oom' ? failure?.outOfMemory : failure?.line;
    expect({ reason, isOom: failure?.outOfMemory != null }).toEqual({
      reason: line.slice(0, 299) + (line.length > 300 ? '…' : line.slice(299)),
      isOom: kind === 'oom',
    });
  });

  it.each(forms)('have no metrics: $program', ({ log }) => {
    const rows = new LogRows();
    const read = linesOf(log).flatMap((line) => rows.take(line));
    expect(read).toEqual([
      { epoch: 1, step: 10, loss: 0.5 },
      { epoch: 1, step: 20, loss: 0.4 },
    ]);
  });

  it.each(forms.filter(({ log }) => log.includes('Traceback (most')))('are seen behind a pipe: $program', ({ log }) => {
    expect(failureAtEnd(linesOf(log))).not.toBeNull();
    expect(
      failureAtEnd([...linesOf(log), ...Array.from({ length: 40 }, (_, step) => `step ${step} loss 0.3`)]),
    ).toBeNull();
  });
});
