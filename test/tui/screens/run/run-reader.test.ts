import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UsageReading } from '../../../../src/files/disk/disk-usage.js';
import { runFiles } from '../../../../src/tui/app/open-window.js';
import { DiskUsageReader, RunDetailsReader } from '../../../../src/tui/screens/run/run-reader.js';
import { removeFolder } from '../../../remove-folder.js';

let sweep: string;
let run: string;
let changed: ReturnType<typeof vi.fn<() => void>>;
let reader: RunDetailsReader;
beforeEach(() => {
  vi.useFakeTimers();
  sweep = mkdtempSync(join(tmpdir(), 'memrl-details-'));
  run = join(sweep, 'A_x');
  mkdirSync(run);
  changed = vi.fn<() => void>();
  reader = new RunDetailsReader(runFiles, changed);
});
afterEach(() => {
  reader.close();
  vi.useRealTimers();
  removeFolder(sweep);
});

function write(over: object = {}): void {
  const record = {
    ...{ version: 1, sweep: 'abcd', group: 'A', subgroup: null, name: 'A_x', identity: '08ac238893cdcba1' },
    ...{ parameters: { N: 64 }, argv: ['true'], cwd: '/', host: 'turing', git: null, attempts: [], ...over },
  };
  writeFileSync(join(run, 'run.json'), JSON.stringify(record));
}

describe('what is written down of the open run', () => {
  it('is not known at once, then read, and again when it changes', () => {
    write();
    reader.want(run);
    expect(reader.details(run)).toBeUndefined();
    vi.advanceTimersByTime(100);
    expect(reader.details(run)).toMatchObject({ record: { host: 'turing', parameters: { N: 64 } }, packages: null });
    expect(changed).toHaveBeenCalledTimes(1);
    const before = reader.details(run);
    vi.advanceTimersByTime(5000);
    expect(reader.details(run)).toBe(before);
    expect(changed).toHaveBeenCalledTimes(1);
    write({ host: 'hopper' });
    vi.advanceTimersByTime(2500);
    expect(reader.details(run)).toMatchObject({ record: { host: 'hopper' } });
    expect(changed).toHaveBeenCalledTimes(2);
  });

  it.each<[string, () => void]>([
    ['there is none', () => undefined],
    ['it is half written', () => writeFileSync(join(run, 'run.json'), '{"version":1,')],
    ['it is another kind of file', () => writeFileSync(join(run, 'run.json'), '[]')],
  ])('is nothing where %s', (_, prepare) => {
    prepare();
    reader.want(run);
    vi.advanceTimersByTime(100);
    expect(reader.details(run)).toBeNull();
  });

  it('counts the packages of the sweep', () => {
    mkdirSync(join(sweep, 'code'));
    const packages = { python: { packages: { torch: '2.4', numpy: '2.1' } }, node: { packages: { zod: '4' } } };
    writeFileSync(join(sweep, 'code/packages-91ce.json'), JSON.stringify(packages));
    write({ packages: 'code/packages-91ce.json' });
    reader.want(run);
    vi.advanceTimersByTime(100);
    expect(reader.details(run)).toMatchObject({ packages: 3 });
  });

  it('is forgotten when another run is opened, or none', () => {
    write();
    reader.want(run);
    vi.advanceTimersByTime(100);
    reader.want(join(sweep, 'other'));
    expect(reader.details(run)).toBeUndefined();
    reader.want(null);
    vi.advanceTimersByTime(5000);
    expect(changed).toHaveBeenCalledTimes(1);
  });
});

describe('what the open run takes on its disk', () => {
  beforeEach(() => {
    for (let file = 0; file < 500; file++) writeFileSync(join(run, `${file}`), 'x');
  });

  it('is measured once it is looked at, a part at a time, and no more once it is not', () => {
    const opened: UsageReading[] = [];
    const usage = (directory: string) => opened[opened.push(new UsageReading(directory)) - 1]!;
    const disk = new DiskUsageReader({ usage }, changed);
    disk.want(run);
    disk.want(null);
    vi.runAllTimers();
    expect(opened).toEqual([]);

    disk.want(run);
    vi.advanceTimersByTime(200);
    expect(disk.usage(run)).toBeNull();
    vi.runAllTimers();
    expect(disk.usage(run)!.other).toBeGreaterThanOrEqual(500 * 512);
    expect([changed.mock.calls.length, opened.length, disk.usage('/elsewhere')]).toEqual([1, 1, null]);

    disk.want(null);
    disk.want(run);
    vi.advanceTimersByTime(200);
    disk.close();
    expect([opened.length, opened[1]!.isOver]).toEqual([2, true]);
  });
});
