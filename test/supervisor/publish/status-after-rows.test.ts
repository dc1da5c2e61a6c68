import { mkdtempSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { wellHealth } from '../../../src/analysis/health/finding.js';
import { Fleet } from '../../../src/client/fleet.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { nothingMonitored } from '../../../src/supervisor/publish/run-view.js';
import { type RowSources, RunViewCache } from '../../../src/supervisor/publish/run-view-cache.js';
import { SocketServer } from '../../../src/supervisor/publish/socket-server.js';
import { removeFolder } from '../../remove-folder.js';
import { id, submitted } from '../../scheduler/play.js';
import { plan, waitFor } from '../testbed.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-publish-'))));
afterEach(() => removeFolder(folder));

/** Longer than rows are made and sent in one turn, ms. */
const LONG_MS = 12;

it('a status comes after the rows of which it speaks, also where these are sent in several turns', async () => {
  const state = emptyState();
  step(state, submitted([{ name: 'a' }, { name: 'b' }]));
  const { runs } = plan(folder, 's', [{ name: 'a' }, { name: 'b' }]);
  let isRead = false;
  const rows: RowSources = {
    ...{ loop: { state, clock: { wallTime: (at) => at } }, leftOf: () => null, delayOf: () => null },
    planned: (run) => runs.find((each) => each.id === run)!,
    contextOf: ({ name, argv, parameters }) => {
      // The row of `b` waits for the next turn, and when that comes, `a` has been read.
      if (name === 'a' && !isRead) for (const end = performance.now() + LONG_MS; performance.now() < end;);
      if (name === 'b' && !isRead) {
        isRead = true;
        views.touch([id('a')]);
        server.publishSoon();
      }
      const metrics: Record<string, number> = name === 'a' && isRead ? { loss: 1 } : {};
      return {
        ...{ argv, parameters, gpuMemory: null, pid: null, warning: null, left: null, waiting: null },
        ...{ monitored: { ...nothingMonitored, metrics }, health: wellHealth, wallTime: (at: number) => at },
      };
    },
  };
  const views = new RunViewCache(rows, {
    ...{ nodes: () => null, gpus: () => [], problem: () => null, sweeps: () => [] },
    unread: () => (isRead ? 0 : 1),
  });
  const server = new SocketServer(
    views,
    () => Promise.resolve(null),
    () => true,
  );
  await server.listen(join(folder, 'socket'));
  const fleet = new Fleet(connect(join(folder, 'socket')), () => Promise.resolve(null));
  const seen: (number | null | undefined)[] = [];
  fleet.subscribe(() => {
    if (fleet.status.recalled) seen.push(fleet.runs.get(id('a'))?.metrics['loss']);
  });
  await waitFor('all to be read', () => fleet.status.recalled);
  expect(seen[0]).toBe(1);
  fleet.close();
  await server.close('the end');
});
