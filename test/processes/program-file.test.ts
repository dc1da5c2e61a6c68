import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isOnPath, programFile } from '../../src/processes/program-file.js';
import { temporaryFolder } from '../gpu/fake-gpus.js';

describe('a program on the PATH', () => {
  it('is a file that may be executed', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'tool'), '');
    expect(isOnPath('tool', { PATH: `/nonexistent:${folder}` })).toBe(false);
    chmodSync(join(folder, 'tool'), 0o755);
    expect(isOnPath('tool', { PATH: `/nonexistent:${folder}` })).toBe(true);
    expect(isOnPath('tool', { PATH: '' })).toBe(false);
    expect(isOnPath('tool', {})).toBe(false);
  });

  it('is no folder of that name', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'tool'));
    expect(isOnPath('tool', { PATH: folder })).toBe(false);
  });

  it('is looked for in the working directory where the PATH has an empty or a relative entry, if there is one', () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'bin'));
    for (const file of ['tool', 'bin/other']) writeFileSync(join(folder, file), '', { mode: 0o755 });
    expect(programFile('tool', '/nonexistent:', folder)).toBe(join(folder, 'tool'));
    expect(programFile('other', 'bin', folder)).toBe(join(folder, 'bin/other'));
    expect(programFile('tool', '/nonexistent:')).toBeNull();
  });
});
