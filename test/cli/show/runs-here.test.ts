import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isUntouched } from '../../../src/cli/show/runs-here.js';
import { removeFolder } from '../../remove-folder.js';

let runs: string;

beforeEach(() => void (runs = mkdtempSync(join(tmpdir(), 'memrl-here-'))));
afterEach(() => removeFolder(runs));

describe('a runs directory', () => {
  it('is untouched while only files lie in it, and looking leaves it so', () => {
    writeFileSync(join(runs, 'README.md'), '');
    expect(isUntouched({ runs })).toBe(true);
    expect(readdirSync(runs)).toEqual(['README.md']);
  });

  it.each(['.supervisor', 'abcd'])('is not untouched with a folder %s, which may have runs to take over', (name) => {
    mkdirSync(join(runs, name));
    expect(isUntouched({ runs })).toBe(false);
  });

  it('has to be there', () => {
    expect(() => isUntouched({ runs: join(runs, 'none') })).toThrow('There is no runs directory');
  });
});
