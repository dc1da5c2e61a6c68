import { describe, expect, it } from 'vitest';
import { clonePlan, cloneText } from '../../src/cli/editor/clone-text.js';
import { expandSweep } from '../../src/spec/expand/expand-sweep.js';
import { parseSweepFile } from '../../src/spec/file/parse-sweep-file.js';

const sweep = `command: [python, train.py, "\${args}"]
parameters: { decay: 0.0, lr: [1e-4, 1.50], width: 64, betas: { value: [0.9, 1.0] } }
`;

describe('the text of a clone', () => {
  it('names the run that its original comes after, and waits for none', () => {
    const text = `${sweep}groups:
  runs: {}
  eval: { after_each: runs, command: [eval, '\${after_dir}', 'of=\${after_name}', '\${from}'], parameters: { from: '\${after_dir}/m' } }
`;
    const file = parseSweepFile(text, 'x.yaml');
    if (file.kind !== 'groups') throw new Error('it is no list of commands');
    const options = { runsDirectory: '/runs', cwd: '/home', environment: {} };
    const block = file.blocks[1]!;
    const run = expandSweep(file, options).runs[2]!;
    const source = { file, sweep: 'x', options } as Parameters<typeof clonePlan>[0];
    const [clone] = clonePlan(source, cloneText(run, block, 'copy'), 'c.yaml', block).runs;
    expect(clone!.argv).toEqual(['eval', '/runs/x/runs_lr0.0001', 'of=runs_lr0.0001', '/runs/x/runs_lr0.0001/m']);
    expect(clone!.argv).toEqual(run.argv);
    expect(clone).not.toHaveProperty('neededRuns');
  });

  it('has numbers as the file of the sweep has them, so that the clone is given what its original was', () => {
    const file = parseSweepFile(sweep, 'x.yaml');
    if (file.kind !== 'groups') throw new Error('it is no list of commands');
    const options = { runsDirectory: '/runs', cwd: '/home', environment: {} };
    const block = file.blocks[0]!;
    for (const run of expandSweep(file, options).runs) {
      const text = cloneText(run, block, 'copy');
      const [clone] = clonePlan(
        { file, sweep: 'x', options } as Parameters<typeof clonePlan>[0],
        text,
        'c.yaml',
        block,
      ).runs;
      const scalars = run.argv.filter((word) => !word.startsWith('--betas'));
      expect(clone!.argv).toEqual(expect.arrayContaining(scalars));
      expect(clone!.parameters).toEqual(run.parameters);
    }
  });
});
