import { chmodSync, linkSync, mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { getuid } from 'node:process';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readUsage, totalUsage, UsageReading } from '../../../src/files/disk/disk-usage.js';
import { entryBelow, readCheckpointRows } from '../../../src/files/disk/checkpoint-paths.js';
import { removeFolder } from '../../remove-folder.js';

let place = '';
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'memrl-disk-'));
});
afterEach(() => removeFolder(place));

function write(path: string, size = 5000): string {
  mkdirSync(dirname(join(place, path)), { recursive: true });
  writeFileSync(join(place, path), Buffer.alloc(size, 1));
  return join(place, path);
}

/** What `du` says, bytes. */
function du(directory: string): number {
  return Number(spawnSync('du', ['-sk', directory], { encoding: 'utf8' }).stdout.split('\t')[0]) * 1024;
}

describe('the disk usage of a run', () => {
  it('is what du says: holes are free, a file of two names counts once, a link leads nowhere', () => {
    write('run/output.log');
    write('run/deep/er/file', 70_000);
    truncateSync(write('run/sparse'), 1 << 30);
    linkSync(join(place, 'run/deep/er/file'), join(place, 'run/again'));
    write('elsewhere/large', 1 << 20);
    symlinkSync('../elsewhere', join(place, 'run/link'));
    symlinkSync('.', join(place, 'run/loop'));
    expect(totalUsage(readUsage(join(place, 'run')))).toBe(du(join(place, 'run')));
  });

  it.each([
    ['checkpoints/1/model', 'checkpoints'],
    ['checkpoint-500/optimizer', 'checkpoints'],
    ['last.ckpt', 'checkpoints'],
    ['snapshots/of/mine', 'checkpoints'],
    ['output.log', 'logs'],
    ['metrics.jsonl', 'metrics'],
    ['events.out.tfevents.1.host', 'metrics'],
    ['wandb/offline/files/x', 'metrics'],
    ['attempts/1/pid', 'attempts'],
    ['config.json', 'other'],
    ['deep/attempts/pid', 'other'],
  ] as const)('%s belongs to %s', (path, kind) => {
    writeFileSync(join(place, 'checkpoints.jsonl'), '{"name":"a","state_path":"snapshots"}\n');
    const before = readUsage(place)[kind];
    write(path, 1 << 16);
    expect(readUsage(place)[kind] - before).toBeGreaterThanOrEqual(1 << 16);
  });

  it('counts what runs share with the first of them', () => {
    linkSync(write('a/file', 1 << 16), join(place, 'shared'));
    mkdirSync(join(place, 'b'));
    linkSync(join(place, 'shared'), join(place, 'b/file'));
    const seen = new Set<string>();
    expect(readUsage(join(place, 'a'), seen).other).toBeGreaterThanOrEqual(1 << 16);
    expect(readUsage(join(place, 'b'), seen).other).toBeLessThan(1 << 16);
  });

  it('is read a few entries at a time, and can be left off', () => {
    for (let file = 0; file < 10; file++) write(`run/${file}`, 1);
    const reading = new UsageReading(join(place, 'run'));
    let steps = 0;
    for (; !reading.isOver; steps++) reading.step(2);
    expect(steps).toBeGreaterThan(4);
    expect(totalUsage(reading.usage)).toBe(totalUsage(readUsage(join(place, 'run'))));
    const left = new UsageReading(join(place, 'run'));
    left.step(2);
    left.close();
    expect(left.isOver).toBe(true);
  });

  it.skipIf(getuid?.() === 0)('says that there is more where a folder cannot be entered', () => {
    write('run/closed/file');
    chmodSync(join(place, 'run/closed'), 0);
    expect(readUsage(join(place, 'run')).unread).toBe(1);
    chmodSync(join(place, 'run/closed'), 0o700);
  });

  it('is nothing of a run that has no directory', () => {
    expect(totalUsage(readUsage(join(place, 'never')))).toBe(0);
  });
});

describe('the rows of checkpoints.jsonl', () => {
  it('name what is there, below the run: by its own paths, absolute ones, and those of the working directory', () => {
    for (const name of ['a', 'b', 'c', 'd']) write(`run/checkpoints/${name}`);
    write('run/name');
    const rows = [
      { name: 'name', state_path: 'checkpoints/a', sampler_path: 'checkpoints/b' },
      { state_path: join(place, 'run/checkpoints/c'), final: true },
      { checkpoint: 'run/checkpoints/d' },
      { state_path: 'checkpoints/gone' },
      { state_path: 'tinker://weights/1' },
    ];
    const torn = '{"state_path":"checkpo';
    writeFileSync(join(place, 'run/checkpoints.jsonl'), [...rows.map((row) => JSON.stringify(row)), torn].join('\n'));
    expect(readCheckpointRows(join(place, 'run'), place).map((row) => Object.fromEntries(row))).toEqual([
      { state_path: 'checkpoints/a', sampler_path: 'checkpoints/b' },
      { state_path: 'checkpoints/c' },
      { checkpoint: 'checkpoints/d' },
    ]);
  });

  it.each([
    '.',
    '',
    '..',
    '../other',
    '/etc/passwd',
    'checkpoints/../..',
    'link',
    'link/file',
    'pipe',
    'file/x',
    'x\0y',
  ])('name nothing by %j', (path) => {
    write('run/file');
    write('other/file');
    symlinkSync('../other', join(place, 'run/link'));
    spawnSync('mkfifo', [join(place, 'run/pipe')]);
    writeFileSync(join(place, 'run/checkpoints.jsonl'), `${JSON.stringify({ state_path: path })}\n`);
    expect(readCheckpointRows(join(place, 'run'), place)).toEqual([]);
    expect(entryBelow(join(place, 'run'), path)).toBeNull();
  });
});
