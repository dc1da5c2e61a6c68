import { mkdirSync, mkdtempSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunRecord } from '../../../src/contract/run-record.js';
import { eachRunRecord, writeRunRecord } from '../../../src/files/run-directory/run-record-file.js';
import { removeFolder } from '../../remove-folder.js';

let sweep: string;
beforeEach(() => void (sweep = mkdtempSync(join(tmpdir(), 'records-'))));
afterEach(() => removeFolder(sweep));

function write(name: string, folder = join(sweep, name)): void {
  const facts = { version: 1 as const, sweep: 's', group: 'runs', subgroup: null, identity: 'x', parameters: {} };
  const record: RunRecord = { ...facts, name, argv: ['true'], cwd: '/', host: 'here', git: null, attempts: [] };
  writeRunRecord(folder, record);
}

const names = (isWanted?: (name: string) => boolean) => [...eachRunRecord(sweep, isWanted)].map(({ name }) => name);

describe('the records of a sweep', () => {
  it('are those of the directories that are called as their runs, linked ones too', () => {
    write('a');
    write('b');
    write('moved');
    renameSync(join(sweep, 'moved'), join(sweep, 'moved.old'));
    write('linked', join(sweep, '.elsewhere', 'linked'));
    symlinkSync('.elsewhere/linked', join(sweep, 'linked'));
    symlinkSync('nowhere', join(sweep, 'dangling'));
    mkdirSync(join(sweep, 'code'));
    writeFileSync(join(sweep, 'sweep.yaml'), '');
    expect(names().toSorted()).toEqual(['a', 'b', 'linked']);
    expect(names((name) => name !== 'a').toSorted()).toEqual(['b', 'linked']);
  });

  it('are none where there is no directory, or it holds what is no record', () => {
    mkdirSync(join(sweep, 'torn'));
    writeFileSync(join(sweep, 'torn', 'run.json'), '{"version": 1, "na');
    expect(names()).toEqual([]);
    expect([...eachRunRecord(join(sweep, 'nowhere'))]).toEqual([]);
  });
});
