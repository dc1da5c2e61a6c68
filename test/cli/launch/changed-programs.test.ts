import { describe, expect, it } from 'vitest';
import { changedPrograms } from '../../../src/cli/launch/compare.js';

/** Files by path, with the second in which they were changed. */
const files: Readonly<Record<string, number>> = {
  '/project/train.py': 20,
  '/project/old.py': 5,
  '/project/conf.yaml': 30,
  '/project/pkg/train.py': 20,
  '/project/build/train': 20,
  '/project/data.csv': 99,
  '/other/run.sh': 20,
  '/runs/s/r0/out.py': 20,
};
const modified = (path: string) => (path in files ? 1000 * files[path]! : null);
const run = (argv: string[]) => ({ argv, cwd: '/project', directory: '/runs/s/r0' });
const attempt = (startedAt: number) => ({ number: 1, slot: 'cpu 0', startedAt, endedAt: null, outcome: null });
const startedAt10 = { attempts: [attempt(1000), attempt(10_000)] };

describe('the programs that were changed after a run had started', () => {
  it.each<{ argv: string[]; changed: string[] }>([
    { argv: ['python', 'train.py', '--lr', '0.1'], changed: ['train.py'] },
    { argv: ['python', 'old.py'], changed: [] },
    { argv: ['python', 'none.py'], changed: [] },
    { argv: ['python', '-m', 'pkg.train', '--config=conf.yaml'], changed: ['pkg/train.py', 'conf.yaml'] },
    { argv: ['./build/train', 'data.csv'], changed: ['./build/train'] },
    { argv: ['/other/run.sh', '/runs/s/r0/out.py'], changed: ['/other/run.sh'] },
    { argv: ['memrl', 'train', 'N=16'], changed: [] },
  ])('$argv', ({ argv, changed }) => {
    expect(changedPrograms(run(argv), startedAt10, modified)).toEqual(changed);
  });

  it('are none of a run that never started, or that has a copy of its code', () => {
    expect(changedPrograms(run(['train.py']), { attempts: [] }, modified)).toEqual([]);
    const copied = { ...startedAt10, snapshot: { path: 'code/snapshot-a', cwd: '/work' } };
    expect(changedPrograms(run(['train.py']), copied, modified)).toEqual([]);
  });
});
