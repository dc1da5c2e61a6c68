import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { longTurnWords, type Turn, turnOf, TurnWatch, watchTurns } from '../../../src/supervisor/core/turn-watch.js';
import { hasProgram } from '../../has-program.js';
import { waitFor } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'turns-'));
});
afterEach(() => removeFolder(folder));

const hasShare = existsSync('/proc/self/schedstat');

/** What was told of the turns while something was done in one of them. */
async function turnsWhile(act: () => unknown): Promise<Turn[]> {
  const turns: Turn[] = [];
  await nextTurn();
  const watch = new TurnWatch(40, (turn) => turns.push(turn));
  await nextTurn();
  act();
  await nextTurn();
  watch.close();
  return turns;
}

async function nextTurn(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 5));
}

/**
 * Until this thread has computed for so long, ms: others may have the processor meanwhile, and other threads of this process, too.
 *
 * @param queued It computes on until others have had the processor for so long, ms.
 * @returns What it has computed, ms.
 */
function compute(ms: number, queued = 0): number {
  const begin = shareNow();
  for (;;) {
    const now = shareNow();
    const computed = now.computed - begin.computed;
    if (computed >= ms && now.queued - begin.queued >= queued) return computed;
  }
}

/** The times that the main thread has had a processor, and has waited for one, ms. */
function shareNow(): { computed: number; queued: number } {
  if (!hasShare) return { computed: performance.now(), queued: 0 };
  const [computed, queued] = readFileSync('/proc/self/schedstat', 'utf8').split(' ').map(Number);
  return { computed: computed! / 1e6, queued: queued! / 1e6 };
}

describe('the watch over the turns of the event loop', () => {
  it.skipIf(!hasShare)('tells of a turn that computed for long', async () => {
    const turns = await turnsWhile(() => compute(80));
    const [turn, ...others] = turns.filter(({ computedMs }) => computedMs! >= 75);
    expect(turn!.ms).toBeGreaterThanOrEqual(75);
    expect(others).toEqual([]);
  });

  it('tells of a turn that waited for the system: here, for somebody to write into a named pipe', async () => {
    const [pipe, begun] = [join(folder, 'pipe'), join(folder, 'begun')];
    spawnSync('mkfifo', [pipe]);
    const script = 'until [ -e "$1" ]; do sleep 0.02; done; sleep 0.4; : > "$0"';
    const writer = spawn('sh', ['-c', script, pipe, begun], { stdio: 'ignore' });
    const turns = await turnsWhile(() => {
      writeFileSync(begun, '');
      closeSync(openSync(pipe, 'r'));
    });
    await waitFor('the writer to end', () => writer.exitCode !== null);
    const [turn] = turns.toSorted((a, b) => b.ms - a.ms);
    expect(turn!.ms).toBeGreaterThanOrEqual(100);
    if (hasShare) expect(turn!.computedMs).toBeLessThan(turn!.ms / 2);
  });

  it('says nothing while nothing takes long, however often the loop turns', async () => {
    const turns: Turn[] = [];
    const watch = new TurnWatch(40, (turn) => turns.push(turn));
    for (let n = 0; n < 1000; n++) await new Promise((resolve) => setImmediate(resolve));
    watch.close();
    // The engine may have collected garbage in one of them.
    expect(turns.length).toBeLessThan(2);
  });

  it('wakes nobody: a loop that has nothing to do does not turn', async () => {
    const watch = new TurnWatch(40, () => undefined);
    const turnsSoFar = () => performance.nodeTiming.uvMetricsInfo.loopCount;
    const counts: number[] = [];
    for (let n = 0; n < 3; n++) {
      await nextTurn();
      const before = turnsSoFar();
      await new Promise((resolve) => setTimeout(resolve, 100));
      counts.push(turnsSoFar() - before);
    }
    watch.close();
    // The timer itself, and at times what the test runner says to its other processes.
    expect(Math.min(...counts)).toBeLessThan(10);
  });

  it('is silent once it is closed, also twice', async () => {
    const turns: Turn[] = [];
    const watch = new TurnWatch(40, (turn) => turns.push(turn));
    watch.close();
    watch.close();
    compute(60);
    await nextTurn();
    expect(turns).toEqual([]);
  });
});

const mayShare =
  hasShare && process.platform === 'linux' && hasProgram('taskset', 'that the load of others is left out of a turn');

describe.skipIf(!mayShare)('a turn during which others had the processor', () => {
  const pin = (cores: string) => spawnSync('taskset', ['-cp', cores, String(process.pid)], { encoding: 'utf8' });
  const all = `0-${availableParallelism() - 1}`;

  it('is as long as what was computed in it', async () => {
    const core = String(availableParallelism() - 1);
    const other = spawn('taskset', ['-c', core, 'sh', '-c', 'echo; while :; do :; done']);
    try {
      await new Promise((resolve) => other.stdout.once('data', resolve));
      expect(pin(core).status).toBe(0);
      let computed = 0;
      const turns = await turnsWhile(() => (computed = compute(60, 40)));
      const longest = Math.max(...turns.map(({ ms }) => ms));
      expect(longest).toBeGreaterThan(computed - 5);
      expect(longest).toBeLessThan(computed + 25);
    } finally {
      pin(all);
      other.kill('SIGKILL');
    }
  });
});

describe('the length of a turn', () => {
  it.each<{ when: string; active: number; computed: number; queued: number; turn: Turn }>([
    { when: 'all was computed', active: 80, computed: 80, queued: 0, turn: { ms: 80, computedMs: 80 } },
    { when: 'a file was waited for', active: 80, computed: 5, queued: 0, turn: { ms: 80, computedMs: 5 } },
    { when: 'others had the processor', active: 80, computed: 30, queued: 50, turn: { ms: 30, computedMs: 30 } },
    { when: 'some was computed before', active: 80, computed: 84, queued: 0, turn: { ms: 80, computedMs: 80 } },
    { when: 'others had it before, too', active: 80, computed: 60, queued: 90, turn: { ms: 60, computedMs: 60 } },
  ])('where $when', ({ active, computed, queued, turn }) => {
    const before = { computed: 1000, queued: 500 };
    expect(turnOf(active, before, { computed: 1000 + computed, queued: 500 + queued })).toEqual(turn);
  });

  it('is that of the clock where the system does not say who had the processor', () => {
    expect(turnOf(80, null, null)).toEqual({ ms: 80, computedMs: null });
  });
});

describe('the log', () => {
  it('gets a line for long turns, and no more than one in a while; a file gets every longest one', async () => {
    const lines: string[] = [];
    const file = join(folder, 'turns');
    const watch = watchTurns((line) => lines.push(line), file);
    await nextTurn();
    for (const ms of [60, 70, 20]) {
      compute(ms);
      await nextTurn();
    }
    watch.close();
    expect(lines).toEqual([expect.stringMatching(/^the event loop was blocked for \d+ ms \(/)]);
    const noted = readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => Number(line.split(' ')[1]));
    expect(noted.filter((ms) => ms >= 55).length).toBeGreaterThanOrEqual(2);
    const before = (index: number) => Math.max(0, ...noted.slice(0, index));
    expect(noted.filter((ms, index) => ms <= 50 && ms < before(index))).toEqual([]);
    expect(watch.longest).toBeCloseTo(Math.max(...noted), 0);
  });

  it.each([
    {
      turns: [{ ms: 80.4, computedMs: 70.2 }],
      words: 'the event loop was blocked for 80 ms (70 ms of computing, 10 ms of waiting for the system)',
    },
    {
      turns: [{ ms: 80, computedMs: null }],
      words: 'the event loop was blocked for 80 ms (other load of the machine included)',
    },
    {
      turns: [
        { ms: 60, computedMs: 60 },
        { ms: 90, computedMs: 10 },
      ],
      words:
        'the event loop was blocked for 90 ms (10 ms of computing, 80 ms of waiting for the system); 2 such turns since the last such message',
    },
  ])('says $words', ({ turns, words }) => {
    expect(longTurnWords(turns)).toBe(words);
  });
});
