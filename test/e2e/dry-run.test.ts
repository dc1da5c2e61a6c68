import { readdirSync, readFileSync } from 'node:fs';
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

  it('sets what the line of the commands’ page sets, and not the warm-ups that this begins with', async () => {
    const page = readFileSync(join(process.cwd(), 'docs/commands.md'), 'utf8');
    const [, option] = /^\| … `--set (n_batches=\S+)`/m.exec(page)!;
    const { runs } = await plan('--set', option!);
    const steps = (group: string) => runs.find((each) => each.group === group)!.argv.join(' ');
    for (const group of ['A', 'B', 'C']) expect(steps(group)).toContain(option);
    expect([steps('warmup_single'), steps('warmup_multi')].join()).toMatch(/n_batches=4500 .*n_batches=2000/);
    const { out } = await run(abcd, '--dry-run', '--set', option!);
    expect(out.replace(/\s+/g, ' ')).toContain(
      `\`--set ${option}\` sets A, B, C, and leaves warmup_single, warmup_multi, needed by others,`,
    );
  });

  it('shows a person what would be started', async () => {
    const { out } = await run(abcd, '--dry-run');
    expect(out).toContain('48 runs in 4 groups');
    expect(out).toContain('memrl train');
    expect(readdirSync(folder())).toEqual([]);
  });
});
