import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepFiles } from '../../src/contract/files.js';
import { isReservedName } from '../../src/spec/expand/run-name.js';
import { otherOrigin, writeSweepOrigin, writeSweepText } from '../../src/files/sweep-text.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-sweep-'));
});
afterEach(() => removeFolder(folder));

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('the text of a sweep file', () => {
  it('stays beside the one that takes its place', () => {
    for (const text of ['a: 1\n', 'a: 1\n', 'a: 2\n', 'a: 3\n']) writeSweepText(folder, text);
    const former = readdirSync(folder).filter((name) => /^sweep-\d{8}-\d{6}(-\d)?\.yaml$/.test(name));
    expect(read('sweep.yaml')).toBe('a: 3\n');
    expect(former.map(read).sort()).toEqual(['a: 1\n', 'a: 2\n']);
  });

  it('is known to come from another file', () => {
    writeSweepText(folder, 'a: 1\n');
    writeSweepOrigin(folder, '/a/x.yaml');
    expect(otherOrigin(folder, '/a/x.yaml', 'a: 2\n')).toBeNull();
    expect(otherOrigin(folder, '/b/x.yaml', 'a: 1\n')).toBeNull();
    expect(otherOrigin(folder, '/b/x.yaml', 'a: 2\n')).toBe('/a/x.yaml');
  });

  it('has files that no run can take the name of', () => {
    writeSweepText(folder, 'a: 1\n');
    writeSweepText(folder, 'a: 2\n');
    writeSweepOrigin(folder, '/a/x.yaml');
    expect([...readdirSync(folder), ...Object.values(sweepFiles)].filter((name) => !isReservedName(name))).toEqual([]);
  });
});
