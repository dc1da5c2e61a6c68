import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sweepFiles } from '../../src/contract/files.js';
import { isReservedName } from '../../src/spec/expand/run-name.js';
import { keptSweepText, otherOrigin, writeSweepOrigin, writeSweepText } from '../../src/files/sweep-folder.js';
import { removeFolder } from '../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'memrl-sweep-'));
});
afterEach(() => removeFolder(folder));

const read = (name: string) => readFileSync(join(folder, name), 'utf8');

describe('the text of a sweep file', () => {
  it('stays beside the one that takes its place', () => {
    for (const text of ['a: 1\n', 'a: 1\n', 'a: 2\n', 'a: 3\n']) writeSweepText(folder, text, 'x.yaml');
    const former = readdirSync(folder).filter((name) => /^sweep-\d{8}-\d{6}(-\d)?\.yaml$/.test(name));
    expect(read('sweep.yaml')).toBe('a: 3\n');
    expect(former.map(read).sort()).toEqual(['a: 1\n', 'a: 2\n']);
  });

  it('is one of two, whatever kind it was before', () => {
    expect(keptSweepText(folder)).toBeNull();
    writeSweepText(folder, 'a: 1\n', 'x.yaml');
    writeSweepText(folder, 'a = 2\n', 'sweeps/x.TOML');
    expect(keptSweepText(folder)).toEqual({ path: join(folder, 'sweep.toml'), text: 'a = 2\n' });
    expect(readdirSync(folder)).not.toContain('sweep.yaml');
    writeSweepText(folder, 'a = 3\n', 'x.toml');
    writeSweepText(folder, 'a: 3\n', 'x.yaml');
    expect(keptSweepText(folder)).toEqual({ path: join(folder, 'sweep.yaml'), text: 'a: 3\n' });
    const former = readdirSync(folder).filter((name) => name.startsWith('sweep-'));
    expect(former.map((name) => `${name.slice(name.lastIndexOf('.'))} ${read(name)}`).sort()).toEqual([
      '.toml a = 2\n',
      '.toml a = 3\n',
      '.yaml a: 1\n',
    ]);
  });

  it('is known to come from another file', () => {
    writeSweepText(folder, 'a: 1\n', 'x.yaml');
    writeSweepOrigin(folder, '/a/x.yaml');
    expect(otherOrigin(folder, '/a/x.yaml', 'a: 2\n')).toBeNull();
    expect(otherOrigin(folder, '/b/x.yaml', 'a: 1\n')).toBeNull();
    expect(otherOrigin(folder, '/b/x.yaml', 'a: 2\n')).toBe('/a/x.yaml');
  });

  it('has files that no run can take the name of', () => {
    writeSweepText(folder, 'a: 1\n', 'x.yaml');
    writeSweepText(folder, 'a: 2\n', 'x.yaml');
    writeSweepOrigin(folder, '/a/x.yaml');
    expect([...readdirSync(folder), ...Object.values(sweepFiles)].filter((name) => !isReservedName(name))).toEqual([]);
  });
});
