import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { SlurmCalls } from '../../../src/executors/slurm/slurm-calls.js';

it('knows from accounting that a job which was cancelled while it waited had no node', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sacct-'));
  const line = '12_3|15|CANCELLED by 0|None|None assigned|Unknown|0|memrl KEY';
  writeFileSync(join(folder, 'sacct'), `#!/bin/sh\necho '${line}'\n`);
  chmodSync(join(folder, 'sacct'), 0o755);
  const calls = new SlurmCalls({ PATH: `${folder}:${process.env['PATH']}` });
  expect(await calls.accounted(['12_3'])).toEqual([
    {
      address: '12_3',
      number: 15,
      state: 'CANCELLED',
      reason: 'None',
      nodes: '',
      start: 'Unknown',
      seconds: 0,
      key: 'KEY.3',
    },
  ]);
});
