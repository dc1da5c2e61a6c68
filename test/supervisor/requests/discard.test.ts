import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { type Discard, discardOf, pathAside, replacementName } from '../../../src/files/disk/discard.js';
import { discard, type RequestPorts } from '../../../src/supervisor/requests/request-handler.js';
import { removeFolder } from '../../remove-folder.js';

let place = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-discard-'));
  for (const path of ['run.json', 'output.log', 'old', 'attempts/1/exit', 'attempts/2/exit']) write(path);
});
afterEach(() => removeFolder(place));

const id = RunId.parse('s/run');
const mark = '0123456789abcdef';
const directory = () => join(place, 'run');

function write(path: string, text = path): void {
  mkdirSync(dirname(join(directory(), path)), { recursive: true });
  writeFileSync(join(directory(), path), text);
}

const ended = (kind: string) => ({ phase: 'ended', outcome: { kind } });

type World = { state?: object; done?: object; orphan?: number | null; what?: 'all' | 'done' | Discard[] };

async function ask({ state = ended('failed'), done = { exit: 0 }, orphan = null, what = [seen('old')] }: World) {
  const forgotten: string[] = [];
  const tools = {
    loop: { state: { runs: new Map([[id, { attempt: 2, state }]]) } },
    plannedRuns: { of: () => ({ id, directory: directory(), done }) },
    executor: { orphanedAttemptOf: () => orphan },
    discarded: (run: string) => forgotten.push(run),
  };
  const ack = await discard({ verb: 'discard', id, mark, what }, tools as unknown as RequestPorts);
  return { ack, forgotten };
}

const seen = (path: string) => discardOf(directory(), path)!;
const isThere = (path: string) => existsSync(join(directory(), path));

describe('setting parts of a run aside', () => {
  it('gives them names of their own, in their place in the list', async () => {
    const what = [seen('old'), seen('attempts/1')];
    expect((await ask({ what })).ack).toEqual({ ok: true, message: '2 items set aside' });
    expect(['old', 'attempts/1'].map(isThere)).toEqual([false, false]);
    expect([pathAside('old', mark, 0), pathAside('attempts/1', mark, 1)].map(isThere)).toEqual([true, true]);
  });

  it.each<[string, World, RegExp]>([
    ['waits', { state: { phase: 'waiting' } }, /s\/run has not ended/],
    ['runs', { state: { phase: 'running' } }, /s\/run has not ended/],
    ['may still run', { orphan: 1 }, /attempt 1 may still be running/],
  ])('is refused of a run that %s', async (_, world, message) => {
    for (const what of ['all' as const, [seen('old')]]) {
      const { ack } = await ask({ ...world, what });
      expect(ack.ok).toBe(false);
      expect(ack.message).toMatch(message);
    }
    expect(isThere('old')).toBe(true);
  });

  it('leaves what is not what was seen, what always stays, and what says that the run is done', async () => {
    const before = seen('old');
    rmSync(join(directory(), 'old'));
    write('old', 'a newer one');
    const what = [before, seen('run.json'), seen('attempts'), seen('attempts/2'), seen('output.log')];
    expect((await ask({ what, done: { output: 'done' } })).ack).toEqual({ ok: true, message: '0 items set aside' });
    expect(readdirSync(directory()).sort()).toEqual(['attempts', 'old', 'output.log', 'run.json']);
  });

  it('follows no link, and leads nowhere else', async () => {
    mkdirSync(join(place, 'other'));
    writeFileSync(join(place, 'other/old'), '');
    symlinkSync('../other', join(directory(), 'link'));
    const what = ['link/old', '../other/old', 'link', '.'].map((path) => ({ ...seen('old'), path }));
    expect((await ask({ what })).ack).toEqual({ ok: true, message: '0 items set aside' });
    expect(existsSync(join(place, 'other/old'))).toBe(true);
  });

  it('puts what stays of a file in its place, in one step', async () => {
    write(replacementName(mark), 'the end');
    const what = [{ ...seen('output.log'), replacement: replacementName(mark) }];
    await ask({ what });
    expect(readFileSync(join(directory(), 'output.log'), 'utf8')).toBe('the end');
    expect(readFileSync(join(directory(), pathAside('output.log', mark, 0)), 'utf8')).toBe('output.log');
    await ask({ what: [{ ...seen('output.log'), replacement: 'run.json' }] });
    expect(isThere('run.json')).toBe(true);
  });
});

describe('setting aside what a run has put a link in the place of', () => {
  it.each(['parts', 'all'])('is refused: %s', async (what) => {
    mkdirSync(join(place, 'home'));
    writeFileSync(join(place, 'home/old'), 'precious');
    rmSync(directory(), { recursive: true });
    symlinkSync('home', directory());
    const { ack, forgotten } = await ask(what === 'all' ? { what } : {});
    expect(ack).toMatchObject({ ok: false, message: expect.stringMatching(/behind a symbolic link/) as string });
    expect([readdirSync(join(place, 'home')), forgotten]).toEqual([['old'], []]);
  });
});

describe('setting a whole run aside', () => {
  it('leaves no directory, and nothing that is remembered of it', async () => {
    expect(await ask({ what: 'all' })).toEqual({ ack: { ok: true, message: 's/run set aside' }, forgotten: [id] });
    expect(readdirSync(place)).toEqual([`.memrl-deleted-${mark}-run`]);
    expect((await ask({ what: 'all' })).ack.ok).toBe(false);
  });

  it('is refused of a run that is done, unless just that is asked for', async () => {
    expect((await ask({ what: 'all', state: ended('done') })).ack).toMatchObject({
      ok: false,
      message: 's/run is done',
    });
    expect((await ask({ what: 'done' })).ack).toMatchObject({ ok: false, message: 's/run is not done' });
    expect(isThere('run.json')).toBe(true);
    expect((await ask({ what: 'done', state: ended('done') })).ack.ok).toBe(true);
    expect(isThere('run.json')).toBe(false);
  });
});
