import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RunId } from '../../../src/base/ids.js';
import { runFiles } from '../../../src/contract/files.js';
import type { Run } from '../../../src/scheduler/state.js';
import { annotate, type RequestPorts } from '../../../src/supervisor/requests/request-handler.js';
import { Annotations } from '../../../src/supervisor/runs/annotations.js';
import { removeFolder } from '../../remove-folder.js';

let place = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-annotations-'));
});
afterEach(() => removeFolder(place));

const id = (name: string) => RunId.parse(`s/${name}`);
const run = (name: string) => ({ id: id(name), directory: join(place, name) });
const fileOf = (name: string) => join(place, name, runFiles.annotation);
const fresh = (known: readonly string[] = ['a', 'b']) =>
  new Annotations({ runs: new Map(known.map((name) => [id(name), {} as Run])) });

describe('the annotations of runs', () => {
  it('are with the files of a run, also of one that was never started, for whoever comes next', () => {
    expect(fresh().change(run('a'), { starred: true, add: ['good'] })).toBe(true);
    expect(fresh().of(run('a'))).toEqual({ starred: true, tags: ['good'], note: null });
    expect(fresh().of(run('b'))).toBeNull();
  });

  it('take a file away that says nothing any more, and write none again that says the same', () => {
    const annotations = fresh();
    annotations.change(run('a'), { note: 'lr too high' });
    const { ino } = statSync(fileOf('a'));
    expect(annotations.change(run('a'), { note: 'lr too high' })).toBe(false);
    expect(statSync(fileOf('a')).ino).toBe(ino);
    expect(annotations.change(run('a'), { note: null })).toBe(true);
    expect(existsSync(fileOf('a'))).toBe(false);
  });

  it('keep what a person wrote into the file meanwhile', () => {
    const annotations = fresh();
    annotations.change(run('a'), { add: ['one'] });
    writeFileSync(fileOf('a'), JSON.stringify({ version: 1, tags: ['two'], later: 'field' }));
    annotations.change(run('a'), { starred: true });
    expect(annotations.of(run('a'))).toEqual({ starred: true, tags: ['two'], note: null });
  });

  it.each<[string, string]>([
    ['is no JSON', '{"version": 1, "tags": ["a'],
    ['is another program’s', '[1, 2]'],
    ['has no text as its note', '{"version":1,"note":7}'],
    ['is too large', JSON.stringify({ version: 1, note: 'x'.repeat(100_000) })],
  ])('are nothing where the file %s', (_, text) => {
    fresh().change(run('a'), { starred: true });
    writeFileSync(fileOf('a'), text);
    expect(fresh().of(run('a'))).toBeNull();
  });

  it('are written over a link, never through it', () => {
    fresh().change(run('a'), { starred: true });
    rmSync(fileOf('a'));
    writeFileSync(join(place, 'precious'), '');
    symlinkSync(join(place, 'precious'), fileOf('a'));
    fresh().change(run('a'), { starred: true });
    expect(statSync(join(place, 'precious')).size).toBe(0);
    expect(fresh().of(run('a'))?.starred).toBe(true);
  });

  it('are forgotten with their run, so that another one of its name is looked at anew', () => {
    const annotations = fresh([]);
    annotations.change(run('a'), { starred: true });
    rmSync(fileOf('a'));
    expect(annotations.of(run('a'))?.starred).toBe(true);
    annotations.follow(new Set([id('a')]));
    expect(annotations.of(run('a'))).toBeNull();
  });
});

describe('a request to annotate runs', () => {
  async function ask(names: readonly string[], change: Parameters<Annotations['change']>[1]) {
    const told: RunId[] = [];
    const tools = {
      annotations: fresh(),
      plannedRuns: { of: (asked: RunId) => (asked === id('gone') ? null : run(asked.slice(2))) },
      loop: { changed: (ids: Iterable<RunId>) => void told.push(...ids) },
    };
    const ack = await annotate({ verb: 'annotate', ids: names.map(id), change }, tools as unknown as RequestPorts);
    return { told, ack };
  }

  it('tells which runs look different now, and what could not be done', async () => {
    await ask(['a'], { starred: true });
    writeFileSync(join(place, 'c'), 'in the way');
    expect(await ask(['a', 'b', 'b', 'c', 'gone'], { starred: true })).toEqual({
      told: [id('b')],
      ack: {
        ok: true,
        message: '1 run changed; 1 as before; 2 not: s/c cannot be written to: something else stands in its place',
      },
    });
    expect((await ask(['gone'], { starred: true })).ack).toEqual({
      ok: false,
      message: 's/gone is not known here',
      fix: null,
    });
  });
});
