import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SlurmCalls } from '../../../src/executors/slurm/slurm-calls.js';

/** Calls commands that print what is given here, or fail with it. */
function callsOf(commands: Readonly<Record<string, string>>): SlurmCalls {
  const folder = mkdtempSync(join(tmpdir(), 'slurm-calls-'));
  for (const [name, script] of Object.entries(commands)) {
    writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  return new SlurmCalls({ PATH: `${folder}:${process.env['PATH']}` });
}

it('knows from accounting that a job which was cancelled while it waited had no node', async () => {
  const line = '12_3|15|CANCELLED by 0|None|None assigned|Unknown|0|memrl KEY';
  const calls = callsOf({ sacct: `echo '${line}'` });
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

describe('a job for which Slurm finds no node', () => {
  const sbatch = 'cat > /dev/null; echo "sbatch: error: Requested node configuration is not available" >&2; exit 1';

  it('is refused for good when all nodes are known', async () => {
    expect(await callsOf({ sbatch, sinfo: ':' }).submit([], '', {})).toEqual({
      kind: 'refused',
      reason: 'Slurm refuses it: Requested node configuration is not available',
      transient: false,
    });
  });

  it('waits while nodes have not come back to a controller that has started anew', async () => {
    const sinfo = 'test "$*" = "-h -t unknown -o %N" && echo "n[1-3]"';
    expect(await callsOf({ sbatch, sinfo }).submit([], '', {})).toEqual({
      kind: 'refused',
      reason: "n[1-3] have not come back to Slurm's controller yet",
      transient: true,
    });
  });
});
