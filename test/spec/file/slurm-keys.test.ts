import { describe, expect, it } from 'vitest';
import { expandSweep } from '../../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../../src/spec/file/parse-sweep-file.js';

const text = `
executor: slurm
command: [train]
slurm: { partition: gpu, time: 8h }
groups:
  A: {}
  B: { slurm: { partition: big, extra: [--mem=32G] } }
`;

const expand = (written: string) =>
  expandSweep(parseSweepFile(written, 's.yaml'), { runsDirectory: '/runs', cwd: '/', environment: {} });

describe('what a sweep file says of Slurm', () => {
  it('is for all groups, with what a group says on top', () => {
    const plan = expand(text);
    expect(plan.executor).toBe('slurm');
    expect(plan.runs.map(({ resources }) => resources.slurm)).toEqual([
      { partition: 'gpu', time: 28_800 },
      { partition: 'big', time: 28_800, extra: ['--mem=32G'] },
    ]);
  });

  it('is nothing where the file says nothing', () => {
    const plan = expand('command: [train]');
    expect(plan).not.toHaveProperty('executor');
    expect(plan.runs[0]!.resources).not.toHaveProperty('slurm');
  });

  it.each([
    { written: 'executor: slrum', says: /executor/ },
    { written: 'slurm: { partitoin: gpu }', says: /partition/ },
    { written: 'slurm: { extra: --mem=32G }', says: /list of options of sbatch/ },
  ])('is refused with its place: $written', ({ written, says }) => {
    expect(() => expand(`command: [train]\n${written}`)).toThrow(says);
  });
});
