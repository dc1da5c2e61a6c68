import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageCount } from '../../src/files/run-directory/run-record-file.js';
import { removeFolder } from '../remove-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'memrl-packages-'));
const path = join(folder, 'packages.json');
afterAll(() => removeFolder(folder));

describe('the packages a run had', () => {
  it.each<[string, string, number | null]>([
    ['of both languages', '{"python":{"packages":{"a":"1","b":"2"}},"node":{"packages":{"c":"3"}}}', 3],
    ['of one of them', '{"node":{"packages":{"c":"3"}}}', 1],
    ['none, where none were found', '{"python":{"packages":{}}}', 0],
    ['not known, where no list is', '{"python":{}}', null],
    ['not known, where the list is nothing', '{"python":{"packages":null}}', null],
    ['not known, where the file is cut off', '{"python":{"pack', null],
    ['not known, where it is no object', 'null', null],
  ])('%s', (_, text, count) => {
    writeFileSync(path, text);
    expect(packageCount(path)).toBe(count);
  });

  it('not known, where there is no file', () => {
    expect(packageCount(join(folder, 'none.json'))).toBeNull();
  });
});
