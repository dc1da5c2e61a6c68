import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { PlannedRun } from '../../../src/spec/planned-run.js';
import { ReadingQueue } from '../../../src/supervisor/reading/reading-queue.js';
import { Watcher } from '../../../src/supervisor/runs/watcher.js';
import { readerHere } from './reader-here.js';
import { plan, waitFor } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'memrl-watcher-'))));
afterEach(() => removeFolder(folder));

const ignore = () => ({
  ...{ now: () => 1_000_000, changed: vi.fn(), recalled: vi.fn() },
  ...{ ruleMet: vi.fn(), targetReached: vi.fn(), hindered: vi.fn(), log: vi.fn() },
});

it('reads what a run wrote that ended before it was followed', async () => {
  const objective = { name: 'acc', goal: 'maximize' as const, target: 0.9 };
  const run = plan(folder, 's', [{ directory: folder, objective }]).runs[0]!;
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step": 1, "acc": 0.95}\n');
  const listener = ignore();
  const watcher = new Watcher(listener, readerHere());
  const caughtUp = vi.fn();
  watcher.catchUp(run, 1, caughtUp);
  await waitFor('its rows', () => caughtUp.mock.calls.length === 1);
  expect(listener.targetReached).toHaveBeenCalledExactlyOnceWith(run, expect.stringContaining('acc 0.95'));
  await watcher.close();
});

it('says when all is read that runs of the past wrote last', async () => {
  const runs = Array.from({ length: 9 }, (_, n) => {
    const directory = join(folder, String(n));
    mkdirSync(directory);
    writeFileSync(join(directory, 'metrics.jsonl'), `{"step": 1, "acc": ${n}}\n`);
    return { name: `r${n}`, directory };
  });
  const planned = plan(folder, 's', runs).runs;
  const listener = ignore();
  const watcher = new Watcher(listener, readerHere());
  expect(watcher.unread).toBe(0);
  watcher.recall(planned);
  expect(watcher.unread).toBe(9);
  await waitFor('everything to be read', () => watcher.unread === 0);
  expect(listener.recalled).toHaveBeenCalledOnce();
  expect(planned.map(({ id }) => watcher.vitals(id).metrics['acc'])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  await watcher.close();
});

it('knows of each run of the past whether it has been read, and tells when that changes', async () => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  const listener = ignore();
  const watcher = new Watcher(listener, readerHere());
  expect(watcher.isRead(run.id)).toBe(true);
  watcher.recall([run]);
  expect(watcher.isRead(run.id)).toBe(false);
  await waitFor('all to be read', () => watcher.unread === 0);
  expect(watcher.isRead(run.id)).toBe(true);
  expect(listener.changed).toHaveBeenCalledWith(run.id);
  await watcher.close();
});

it('has no reader for a run that only waits, and reads it when it writes', async () => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  writeFileSync(join(folder, 'output.log'), '');
  const open = vi.fn(readerHere());
  const watcher = new Watcher(ignore(), open);
  watcher.watch(run, 1, 1_000_000);
  await waitFor('it to be known that nothing is written', () => watcher.followedOf(run.id, 1)?.rows === 0);
  expect(open).not.toHaveBeenCalled();
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step": 1, "acc": 0.5}\n');
  await waitFor('its row', () => watcher.vitals(run.id).metrics['acc'] === 0.5);
  expect(open).toHaveBeenCalledOnce();
  await watcher.close();
});

it('has no reader while runs last a moment and write nothing', async () => {
  const [silent, loud] = plan(
    folder,
    's',
    ['silent', 'loud'].map((name) => ({ name, directory: join(folder, name) })),
  ).runs as [PlannedRun, PlannedRun];
  for (const { directory } of [silent, loud]) {
    mkdirSync(join(directory, 'attempts'), { recursive: true });
    writeFileSync(join(directory, 'output.log'), '');
  }
  const open = vi.fn(readerHere());
  const watcher = new Watcher(ignore(), open);
  watcher.watch(silent, 1, 1_000_000);
  watcher.finish(silent);
  expect(watcher.unread).toBe(0);
  expect(open).not.toHaveBeenCalled();
  watcher.watch(loud, 1, 1_000_000);
  writeFileSync(join(loud.directory, 'metrics.jsonl'), '{"step": 1, "acc": 0.5}\n');
  watcher.finish(loud);
  await waitFor('what it wrote', () => watcher.unread === 0);
  expect(watcher.vitals(loud.id).metrics['acc']).toBe(0.5);
  await watcher.close();
});

it('reads a run anew that left nothing this time', async () => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  const log = join(folder, 'output.log');
  writeFileSync(log, 'epoch=1 loss=2\nepoch=2 loss=1\n');
  const orders: string[] = [];
  const watcher = new Watcher(ignore(), (hooks) => {
    const { post, close } = readerHere()(hooks);
    return { close, post: (order) => (orders.push(order.type), post(order)) };
  });
  watcher.watch(run, 1, 1_000_000);
  watcher.finish(run);
  await waitFor('what it printed', () => watcher.vitals(run.id).metrics['epoch'] === 2);
  writeFileSync(log, '');
  orders.length = 0;
  watcher.watch(run, 2, 1_000_000);
  watcher.finish(run);
  expect(orders.slice(-2)).toEqual(['watch', 'finish']);
  await waitFor('its end', () => watcher.unread === 0);
  await watcher.close();
});

it('polls more seldom where nothing is written, but at once when a run comes', async () => {
  const [first, second] = growing(2) as [PlannedRun, PlannedRun];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const watcher = new Watcher(ignore(), readerHere());
    const step = ({ id }: PlannedRun) => watcher.vitals(id).metrics['step'];
    watcher.watch(first, 1, 0);
    vi.advanceTimersByTime(200);
    expect(step(first)).toBe(1);
    vi.advanceTimersByTime(199_000);
    // Somewhere in a pause of five seconds.
    const seconds = Array.from({ length: 5 }, (_, count) => {
      write(first, count + 2);
      vi.advanceTimersByTime(1000);
      return step(first) === count + 2;
    });
    expect(seconds).toContain(false);
    expect(seconds).toContain(true);
    vi.advanceTimersByTime(200_000);
    watcher.watch(second, 1, 0);
    vi.advanceTimersByTime(200);
    expect(step(second)).toBe(1);
    write(second, 2);
    vi.advanceTimersByTime(1000);
    expect(step(second)).toBe(2);
    await watcher.close();
  } finally {
    vi.useRealTimers();
  }
});

it.each(['finish', 'catch up'])('reads at the end of a run also a file that it has only just made: %s', async (how) => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  const log = join(folder, 'output.log');
  writeFileSync(log, 'epoch=1 loss=2\nepoch=2 loss=1\n');
  const watcher = new Watcher(ignore(), readerHere());
  watcher.watch(run, 1, 1_000_000);
  await waitFor('what it prints', () => watcher.vitals(run.id).metrics['epoch'] === 2);
  // It printed more, too: where known files grow, others are not looked for at once.
  appendFileSync(log, 'saved\n');
  mkdirSync(join(folder, 'logs'));
  writeFileSync(join(folder, 'logs', 'results.csv'), 'step,accuracy\n1,0.5\n2,0.75\n');
  const accuracy = () => watcher.vitals(run.id).metrics['accuracy'];
  if (how === 'finish') watcher.finish(run);
  else expect(await new Promise((resolve) => watcher.catchUp(run, 1, () => resolve(accuracy())))).toBe(0.75);
  await waitFor('its last file', () => accuracy() === 0.75);
  await watcher.close();
});

it('knows the best value of the present file: one that replaces it begins anew', async () => {
  const objective = { name: 'acc', goal: 'maximize' as const };
  const run = plan(folder, 's', [{ directory: folder, objective }]).runs[0]!;
  const file = join(folder, 'metrics.jsonl');
  const rows = (...values: number[]) => values.map((acc, step) => `{"step": ${step}, "acc": ${acc}}\n`).join('');
  writeFileSync(file, rows(0.5, 0.9, 0.7));
  const watcher = new Watcher(ignore(), readerHere());
  expect(watcher.vitals(run.id).best).toBeNull();
  watcher.watch(run, 1, 1_000_000);
  await waitFor('the first rows', () => watcher.vitals(run.id).metrics['acc'] === 0.7);
  expect(watcher.vitals(run.id).best).toBe(0.9);
  appendFileSync(file, '{"step": 3, "acc": 0.95}\n{"step": 4, "acc": NaN}\n');
  await waitFor('the next row', () => watcher.vitals(run.id).metrics['step'] === 4);
  expect(watcher.vitals(run.id).best).toBe(0.95);
  writeFileSync(file, rows(0.2, 0.1));
  await waitFor('the file to be read again', () => watcher.vitals(run.id).metrics['step'] === 1);
  expect(watcher.vitals(run.id).best).toBe(0.2);
  await watcher.close();
});

it('says nothing any more once it is closed', async () => {
  const listener = ignore();
  const watcher = new Watcher(listener, readerHere());
  watcher.recall(plan(folder, 's', [{ directory: folder }]).runs);
  await watcher.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(listener.recalled).not.toHaveBeenCalled();
});

/** Some 1.3 MB of rows, which rise to 0.99. */
const longFile = () =>
  Array.from({ length: 30_000 }, (_, step) => `{"step": ${step}, "acc": ${step / 30_300}, "x": 1}\n`).join('');

it('tells the end of a run with a long file when its last row has been read, and other ends before', async () => {
  const objective = { name: 'acc', goal: 'maximize' as const, target: 0.98 };
  const runs = ['long', 'short'].map((name) => ({ name, directory: join(folder, name), objective }));
  const [long, short] = plan(folder, 's', runs).runs as [PlannedRun, PlannedRun];
  for (const { directory } of [long, short]) mkdirSync(directory);
  writeFileSync(join(long.directory, 'metrics.jsonl'), longFile());
  writeFileSync(join(short.directory, 'metrics.jsonl'), '{"step": 1, "acc": 0.5}\n');
  const told: string[] = [];
  const listener = { ...ignore(), targetReached: () => void told.push('target') };
  const watcher = new Watcher(listener, readerHere());
  watcher.catchUp(long, 1, () => told.push('long ended'));
  watcher.catchUp(short, 1, () => told.push('short ended'));
  expect(told).not.toContain('long ended');
  await waitFor('both ends', () => told.length === 3);
  expect(told).toEqual(['short ended', 'target', 'long ended']);
  await watcher.close();
});

it('does not wait for ever for what a run wrote that ended: the rest is read after its end', async () => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  writeFileSync(join(folder, 'metrics.jsonl'), longFile());
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const clock = { now: 0 };
    // So slow that one part is read in a turn.
    const watcher = new Watcher(ignore(), readerHere(new ReadingQueue(() => (clock.now += 1000))));
    const caughtUp = vi.fn();
    watcher.watch(run, 1, 1_000_000);
    watcher.catchUp(run, 1, () => void caughtUp());
    watcher.finish(run);
    expect(caughtUp).not.toHaveBeenCalled();
    vi.advanceTimersByTime(10_000);
    expect(caughtUp).toHaveBeenCalledOnce();
    expect(watcher.vitals(run.id).metrics['step']).toBe(29_999);
    await watcher.close();
  } finally {
    vi.useRealTimers();
  }
});

it('reads short files of the past beside long ones', async () => {
  const runs = Array.from({ length: 20 }, (_, n) => ({ name: `r${n}`, directory: join(folder, String(n)) }));
  const planned = plan(folder, 's', runs).runs;
  for (const { directory } of planned) mkdirSync(directory);
  writeFileSync(join(planned[0]!.directory, 'metrics.jsonl'), longFile().repeat(4));
  for (const { directory } of planned.slice(1)) writeFileSync(join(directory, 'metrics.jsonl'), '{"step": 1}\n');
  const order: string[] = [];
  const listener = { ...ignore(), changed: (id: string) => void order.push(id) };
  const watcher = new Watcher(listener, readerHere());
  watcher.recall(planned);
  await waitFor('everything to be read', () => watcher.unread === 0);
  expect(order.at(-1)).toBe('s/r0');
  expect(new Set(order).size).toBe(20);
  await watcher.close();
});

it('says once what of a file cannot be read, and when it can be again', async () => {
  const run = plan(folder, 's', [{ directory: folder }]).runs[0]!;
  mkdirSync(join(folder, 'metrics.jsonl'));
  const hindered = vi.fn();
  const watcher = new Watcher({ ...ignore(), hindered }, readerHere());
  watcher.catchUp(run, 1, () => undefined);
  expect(hindered).toHaveBeenCalledExactlyOnceWith(run.id, expect.stringMatching(/it is a directory/));
  watcher.watch(run, 2, 1_000_000);
  rmSync(join(folder, 'metrics.jsonl'), { recursive: true });
  writeFileSync(join(folder, 'metrics.jsonl'), '{"step": 1}\n');
  await waitFor('it to be read', () => watcher.vitals(run.id).metrics['step'] === 1);
  await watcher.close();
});

/** Runs that have written one row each. */
function growing(count: number): PlannedRun[] {
  const runs = Array.from({ length: count }, (_, n) => ({ name: `r${n}`, directory: join(folder, String(n)) }));
  const planned = plan(folder, 's', runs).runs;
  for (const { directory } of planned) mkdirSync(directory);
  for (const run of planned) write(run, 1);
  return planned;
}

function write({ directory }: PlannedRun, step: number): void {
  appendFileSync(join(directory, 'metrics.jsonl'), `{"step": ${step}}\n`);
}

it('follows more runs than the system is asked to report of', async () => {
  const runs = growing(24);
  const watcher = new Watcher(ignore(), readerHere());
  for (const run of runs) watcher.watch(run, 1, 1_000_000);
  const areAt = (step: number) => runs.every(({ id }) => watcher.vitals(id).metrics['step'] === step);
  await waitFor('the first rows', () => areAt(1));
  for (const run of runs.slice(0, 12)) watcher.finish(run);
  for (const run of runs) write(run, 2);
  const others = runs.slice(12);
  await waitFor('the second rows', () => others.every(({ id }) => watcher.vitals(id).metrics['step'] === 2));
  await watcher.close();
});

it('polls more seldom where that takes long, but often enough', async () => {
  const [run] = growing(1) as [PlannedRun];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    // To read a part takes as long as this.
    const cost = { ms: 0 };
    let now = 0;
    const watcher = new Watcher({ ...ignore(), now: () => (now += cost.ms) }, readerHere());
    const step = () => watcher.vitals(run.id).metrics['step'];
    // Younger than those whose reports the system is asked for.
    watcher.watch(run, 1, 0);
    vi.advanceTimersByTime(200);
    expect(step()).toBe(1);
    /** Seconds until what was written now is known. */
    const untilKnown = (written: number): number => {
      write(run, written);
      for (let second = 1; second <= 60; second++) {
        vi.advanceTimersByTime(1000);
        if (step() === written) return second;
      }
      return Infinity;
    };
    expect(untilKnown(2)).toBe(1);
    cost.ms = 20;
    untilKnown(3);
    expect(untilKnown(4)).toBeGreaterThan(1);
    cost.ms = 10_000;
    untilKnown(5);
    expect(untilKnown(6)).toBeLessThanOrEqual(6);
    await watcher.close();
  } finally {
    vi.useRealTimers();
  }
});
