import { describe, expect, it } from 'vitest';
import type { CodeSnapshot, PlannedRun } from '../../src/spec/planned-run.js';
import { atSnapshot, copyOf } from '../../src/spec/snapshot-place.js';
import { plan } from '../supervisor/testbed.js';

/** `/link` leads to `/repo/lab`. */
const snapshot: CodeSnapshot = {
  ...{ cwd: '/link', within: 'lab', top: '/repo', path: '/runs/s/code/snapshot-1' },
  linked: ['data', 'lab/outputs'],
};

describe('a path in a copy of the code', () => {
  it.each([
    ['/link/train.py', '/runs/s/code/snapshot-1/lab/train.py'],
    ['/link', '/runs/s/code/snapshot-1/lab'],
    ['/repo/lab/train.py', '/runs/s/code/snapshot-1/lab/train.py'],
    ['/repo', '/runs/s/code/snapshot-1'],
    ['/repository/x', '/repository/x'],
    ['/elsewhere', '/elsewhere'],
    ['/repo/data/points.csv', '/repo/data/points.csv'],
    ['/repo/database', '/runs/s/code/snapshot-1/database'],
    ['/link/outputs', '/link/outputs'],
  ])('of %s is %s', (path, copy) => expect(copyOf(path, snapshot)).toBe(copy));
});

describe('a run that is started from a copy', () => {
  const [run] = plan('/runs', 's', [{ cwd: '/link', argv: ['python', 'train.py', '/link/x'] }]).runs as [PlannedRun];

  it('starts in the copy, and says where it would start otherwise; its command stays', () => {
    expect(atSnapshot(run, snapshot, {})).toEqual({
      ...run,
      cwd: '/runs/s/code/snapshot-1/lab',
      snapshot: { path: '/runs/s/code/snapshot-1', cwd: '/link' },
    });
  });

  it('imports modules of the copy where PYTHONPATH names the work tree', () => {
    expect(atSnapshot(run, snapshot, { PYTHONPATH: '/repo/src:/opt:lib:' }).env).toEqual({
      PYTHONPATH: '/runs/s/code/snapshot-1/src:/opt:lib:',
    });
    const own = { ...run, env: { PYTHONPATH: '/opt', A: '1' } };
    expect(atSnapshot(own, snapshot, { PYTHONPATH: '/repo' }).env).toEqual(own.env);
  });

  it('has its metrics looked for where a relative path leads it, and where the file says', () => {
    const written = { ...run, metrics: { ...run.metrics, folders: ['/link/logs/1', '/link/outputs/1'] } };
    expect(atSnapshot(written, snapshot, {}).metrics.folders).toEqual([
      ...['/runs/s/code/snapshot-1/lab/logs/1', '/link/logs/1', '/link/outputs/1'],
    ]);
  });
});
