import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { workplace } from './program.js';

const { run, folder } = workplace();
const abcd = join(process.cwd(), 'sweeps/abcd.yaml');

type Plan = { sweep: string; slots: string[]; runs: { name: string; group: string; state: string; argv: string[] }[] };

async function plan(...options: string[]): Promise<Plan> {
  const { code, out } = await run(abcd, '--dry-run', '--json', ...options);
  expect(code).toBe(0);
  return JSON.parse(out) as Plan;
}

describe('the dry run of the memory sweep', () => {
  it('lists the 48 runs and leaves no trace', async () => {
    const { runs, slots } = await plan('--slots', '3', '--gpus', 'none');
    expect(runs.filter(({ group }) => /^[ABCD]$/.test(group))).toHaveLength(48);
    expect(slots).toEqual(['cpu 0', 'cpu 1', 'cpu 2']);
    expect(runs.every(({ state }) => state === 'new')).toBe(true);
    expect(readdirSync(folder())).toEqual([]);
  });

  it('lists 30 for two groups', async () => {
    const { runs } = await plan('--sweep', 'A', 'B');
    expect(runs.filter(({ group }) => /^[ABCD]$/.test(group))).toHaveLength(30);
    expect(new Set(runs.map(({ group }) => group))).toEqual(new Set(['warmup_single', 'A', 'B']));
  });

  it('shows a person what would be started', async () => {
    const { out } = await run(abcd, '--dry-run');
    expect(out).toContain('48 runs in 4 groups');
    expect(out).toContain('memrl train');
    expect(readdirSync(folder())).toEqual([]);
  });
});
