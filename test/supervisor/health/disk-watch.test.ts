import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { DiskWatch } from '../../../src/supervisor/health/disk-watch.js';
import { waitFor } from '../testbed.js';

it('knows the room on the disk of each run, and nothing of a folder that is gone', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  try {
    const disks = new DiskWatch();
    const [run, gone] = [join(folder, 'run'), join(folder, 'gone', 'run')];
    expect(disks.of(run)).toBeNull();
    disks.lookAt([run, gone], 0);
    const room = await waitFor('the room', () => disks.of(run));
    expect(room.total).toBeGreaterThan(room.free);
    expect(room.free).toBeGreaterThan(0);
    expect(disks.of(gone)).toBeNull();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
