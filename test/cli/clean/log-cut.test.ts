import fc from 'fast-check';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptSeparator, linesOfLastAttempt } from '../../../src/contract/files.js';
import { copyFrom, lastAttemptAt } from '../../../src/cli/clean/log-cut.js';
import { removeFolder } from '../../remove-folder.js';

let place = '';
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-cut-'));
});
afterAll(() => removeFolder(place));

function tailOf(text: string): string | null {
  const [log, copy] = [join(place, 'output.log'), join(place, 'copy')];
  writeFileSync(log, text);
  rmSync(copy, { force: true });
  const at = lastAttemptAt(log);
  if (at === null) return null;
  copyFrom(log, at, copy);
  return readFileSync(copy, 'utf8');
}

describe('the part of a log that the last attempt wrote', () => {
  const rule = (attempt: number) => `\n${attemptSeparator(attempt, new Date(0))}\n`;

  it('begins with the line between it and the one before', () => {
    const line = fc.constantFrom('words', '──── attempt 9 of mine', `  ${rule(7).trim()}`, 'é'.repeat(9), '');
    const part = fc.array(line, { maxLength: 5 }).map((lines) => lines.map((each) => `${each}\n`).join(''));
    fc.assert(
      fc.property(fc.array(part, { minLength: 2, maxLength: 4 }), (parts) => {
        const text = parts.map((words, index) => (index === 0 ? `begin\n${words}` : rule(index + 1) + words)).join('');
        const tail = tailOf(text)!;
        expect(text.endsWith(tail)).toBe(true);
        expect(tail.split('\n').slice(1)).toEqual(linesOfLastAttempt(text.split('\n')));
      }),
    );
  });

  it.each([-300, -100, -40, -1, 0, 1, 40, 100])('is found where a part of the reading ends, at %i', (shift) => {
    const after = 'x'.repeat((1 << 20) + shift);
    expect(tailOf(`first\n${rule(2)}${after}`)).toBe(`${rule(2).trimStart()}${after}`);
  });

  it('is not known of a log of one attempt, or of a link', () => {
    expect(tailOf('one\ntwo\n')).toBeNull();
    symlinkSync(join(place, 'output.log'), join(place, 'link'));
    expect(lastAttemptAt(join(place, 'link'))).toBeNull();
  });
});
