import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { needlessSnapshots } from '../../../src/cli/clean/carry-out.js';
import { runAside } from '../../../src/files/disk/discard.js';
import { discardSnapshot, type RequestPorts } from '../../../src/supervisor/requests/request-handler.js';

let place = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-discard-'));
  mkdirSync(join(place, 'code', 'snapshot-ab'), { recursive: true });
});
afterEach(() => rmSync(place, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 }));

const id = RunId.parse('s/run');
const mark = '0123456789abcdef';
const path = () => join(place, 'code', 'snapshot-ab');

type World = { state?: object; own?: string | null; groups?: [string, object][]; source?: object; name?: string };

/** A supervisor with one run, which starts from the snapshot `own`. */
const ask = ({ state = ended('done'), own = path(), groups = [], source, name = 'snapshot-ab' }: World = {}) =>
  discardSnapshot({ verb: 'discard-snapshot', sweep: 's', name, mark }, {
    loop: {
      state: { sweeps: new Map([['s', new Set([id])]]), runs: new Map([[id, { state }]]), groups: new Map(groups) },
    },
    plannedRuns: {
      of: () => ({ id, directory: join(place, 'run'), snapshot: own === null ? undefined : { path: own } }),
      submission: () => ({ plan: { source } }),
    },
  } as unknown as RequestPorts);
const ended = (kind: string) => ({ phase: 'ended', outcome: { kind } });

describe('deleting a copy of the code', () => {
  it('sets aside one of which all runs are done', async () => {
    expect(await ask()).toEqual({ ok: true, message: 'snapshot-ab set aside' });
    expect([existsSync(path()), existsSync(runAside(path(), mark))]).toEqual([false, true]);
  });

  it.each([{ phase: 'waiting' }, { phase: 'running' }, ended('failed'), ended('killed'), ended('lost')])(
    'is refused while it is the code of a run that may be started: %j',
    async (state) => {
      expect(await ask({ state })).toMatchObject({ ok: false, message: 's: snapshot-ab is the code of s/run' });
      expect(existsSync(path())).toBe(true);
      expect(await ask({ state, own: join(place, 'code', 'snapshot-cd') })).toMatchObject({ ok: true });
    },
  );

  it('is refused while further runs of an open group are to start from it', async () => {
    const open = { plan: 'p', cap: 3, closed: null };
    const source = { snapshots: [{ path: path() }] };
    const group = { id: 's/g', open, runs: new Set([id]) };
    const said = await ask({ groups: [['s/g', group]], source });
    expect(said).toMatchObject({ ok: false, message: 's: snapshot-ab is the code of the further runs of s/g' });
    const closed = { ...group, open: { ...open, closed: 'all' } };
    expect(await ask({ groups: [['s/g', closed]], source })).toMatchObject({ ok: true });
  });

  it('is refused, and not even proposed, behind a link that a run has put in the place of the folder', async () => {
    renameSync(join(place, 'code'), join(place, 'home'));
    symlinkSync('home', join(place, 'code'));
    expect(needlessSnapshots({ name: 's', directory: place }, [], Date.now())).toEqual([]);
    expect(await ask()).toEqual({ ok: false, message: `${join(place, 'code')} is a symbolic link`, fix: null });
    expect(existsSync(join(place, 'home', 'snapshot-ab'))).toBe(true);
  });

  it('is refused where there is none, or a link to something else', async () => {
    symlinkSync(place, join(place, 'code', 'snapshot-ef'));
    for (const name of ['snapshot-cd', 'snapshot-ef']) {
      expect(await ask({ own: null, name })).toEqual({ ok: false, message: `there is no ${name}`, fix: null });
    }
  });
});
