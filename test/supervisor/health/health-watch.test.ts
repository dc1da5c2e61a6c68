import { appendFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RunId } from '../../../src/base/ids.js';
import type { SchedulerEvent } from '../../../src/scheduler/event.js';
import type { Ending } from '../../../src/analysis/health/ending.js';
import type { DiskRoom } from '../../../src/analysis/health/resources.js';
import { emptyState } from '../../../src/scheduler/state.js';
import { step } from '../../../src/scheduler/step.js';
import { HealthWatch } from '../../../src/supervisor/health/health-watch.js';
import { type MonitoredMetrics, nothingMonitored } from '../../../src/supervisor/publish/run-view.js';
import { MetricsMonitor } from '../../../src/supervisor/reading/metrics-monitor.js';
import { asked, endedAs, gpuSlots, id, started, submitted } from '../../scheduler/play.js';
import { plan } from '../testbed.js';
import { removeFolder } from '../../remove-folder.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'health-'))));
afterEach(() => removeFolder(folder));

const MINUTE = 60_000;

/** A watch over the runs `a`, `b` and `c` of one group, with real files; time passes when it is told to. */
class World {
  readonly told: string[] = [];
  readonly watch: HealthWatch;
  now = 0;
  utilization = 90;
  room: DiskRoom = { free: 1e12, total: 2e12 };
  readonly #state = emptyState();
  readonly #planned = new Map(planned().map((run) => [run.id, run]));
  readonly #monitors = new Map<RunId, MetricsMonitor>();
  readonly #vitals = new Map<RunId, MonitoredMetrics>();
  readonly #endings = new Map<RunId, Ending>();

  /** @param before What happened before the watch was there. */
  constructor(before: SchedulerEvent[] = [], now = 0) {
    this.now = now;
    const { told } = this;
    for (const event of before) step(this.#state, event);
    this.watch = new HealthWatch({
      loop: { state: this.#state, changed: (ids) => this.watch.changed(ids), now: () => this.now },
      planned: (run) => this.#planned.get(run) ?? null,
      watcher: {
        vitals: (run) => this.#vitals.get(run) ?? nothingMonitored,
        endingOf: (run) => this.#endings.get(run) ?? null,
        followedOf: (run) => this.#monitors.get(run) ?? null,
      },
      disks: { of: () => this.room, lookAt: () => undefined },
      gauges: () => [{ index: 0, utilization: this.utilization }],
      unhealthy: ({ name }, { word }) => told.push(`${name} ${word}`),
    });
    for (const run of this.#state.active) this.#follow(run);
  }

  happens(...events: SchedulerEvent[]): void {
    for (const event of events) {
      const { touched } = step(this.#state, event);
      for (const run of this.#state.active) if (!this.#monitors.has(run)) this.#follow(run);
      this.watch.follow(touched);
    }
  }

  /** For so long, the runs named write a row every 5 s, and are looked at as often. */
  async passes(ms: number, writers: readonly string[] = []): Promise<void> {
    for (const end = this.now + ms; this.now < end;) {
      this.now += 5000;
      for (const name of writers) this.#writes(name, 'metrics.jsonl', `{"step": ${this.now / 5000}, "loss": 1}\n`);
      await this.look();
    }
  }

  async look(): Promise<void> {
    for (const [run, monitor] of this.#monitors) {
      monitor.refresh();
      this.#vitals.set(run, { ...nothingMonitored, ...monitor.vitals(this.now) });
    }
    await this.watch.look();
  }

  /** The runs end, and what they wrote last is read. */
  ends(...names: string[]): void {
    for (const name of names) {
      const monitor = this.#monitors.get(id(name))!;
      monitor.refresh();
      this.#vitals.set(id(name), { ...nothingMonitored, ...monitor.vitals(this.now) });
      const ending = monitor.ending();
      if (ending !== null) this.#endings.set(id(name), ending);
    }
    this.happens(...names.map((name) => endedAs(name, { kind: 'done' }, { at: this.now })));
  }

  prints(name: string): void {
    this.#writes(name, 'output.log', 'still here\n');
  }

  writes(name: string, row: string): void {
    this.#writes(name, 'metrics.jsonl', `${row}\n`);
  }

  word(name: string): string {
    return this.watch.of(id(name)).word;
  }

  #writes(name: string, file: string, text: string): void {
    appendFileSync(join(folder, name, file), text);
  }

  #follow(run: RunId): void {
    const { directory } = this.#planned.get(run)!;
    mkdirSync(directory, { recursive: true });
    this.#monitors.set(run, new MetricsMonitor(this.#planned.get(run)!, 0));
  }
}

const planned = () =>
  plan(
    '/',
    's',
    ['a', 'b', 'c'].map((name, seed) => ({ name, directory: join(folder, name), parameters: { lr: 1, seed } })),
  ).runs;

const up = (...names: string[]): SchedulerEvent[] => [
  gpuSlots([{ index: 0 }], names.length),
  submitted(names),
  ...names.map((name) => started(name)),
];

async function withUp(...names: string[]): Promise<World> {
  const world = new World();
  world.happens(...up(...names));
  await world.look();
  return world;
}

describe('the health of a run', () => {
  it('is silent when it stops writing, is told once, and is ok when it goes on', async () => {
    const world = await withUp('a');
    await world.passes(5 * MINUTE, ['a']);
    expect(world.word('a')).toBe('ok');
    await world.passes(3 * MINUTE);
    expect(world.watch.of(id('a'))).toEqual({
      word: 'silent',
      reason: 'no output and no metrics for 3 min, its longest pause was less than 30 s',
    });
    await world.passes(MINUTE, ['a']);
    expect(world.word('a')).toBe('ok');
    expect(world.told).toEqual(['a silent']);
  });

  it('is told again only when it was well for a while', async () => {
    const world = await withUp('a');
    world.writes('a', '{"loss": 1}');
    for (const row of ['{"loss": NaN}', '{"loss": 1}', '{"loss": NaN}', '{"loss": 1}']) {
      world.writes('a', row);
      await world.passes(MINUTE);
    }
    expect(world.told).toEqual(['a nan']);
    await world.passes(11 * MINUTE, ['a']);
    // One NaN between numbers has become usual for this run; more in a row than ever before are not.
    for (let row = 0; row < 3; row++) world.writes('a', '{"loss": NaN}');
    await world.look();
    expect(world.told).toEqual(['a nan', 'a nan']);
  });

  it('is not silent while it prints something', async () => {
    const world = await withUp('a');
    await world.passes(5 * MINUTE, ['a']);
    for (let minute = 0; minute < 10; minute++) {
      world.prints('a');
      await world.passes(MINUTE);
      expect(world.word('a')).toBe('ok');
    }
  });

  it('is nothing of a run that is paused, and its pause is no silence', async () => {
    const world = await withUp('a');
    await world.passes(5 * MINUTE, ['a']);
    world.happens(asked('pause', 'a', world.now));
    await world.passes(30 * MINUTE);
    expect(world.word('a')).toBe('ok');
    world.happens(asked('continue', 'a', world.now));
    await world.passes(MINUTE);
    expect(world.word('a')).toBe('ok');
    await world.passes(3 * MINUTE);
    expect(world.word('a')).toBe('silent');
    world.happens(asked('pause', 'a', world.now));
    expect(world.word('a')).toBe('ok');
  });

  it('is not silent of runs that never write, unlike their siblings: one that does not begin to write is', async () => {
    const quiet = await withUp('a', 'b', 'c');
    await quiet.passes(60 * MINUTE);
    expect(['a', 'b', 'c'].map((name) => quiet.word(name))).toEqual(['ok', 'ok', 'ok']);
    const world = await withUp('a', 'b', 'c');
    await world.passes(5 * MINUTE, ['a', 'b']);
    expect(['a', 'b', 'c'].map((name) => world.word(name))).toEqual(['ok', 'ok', 'silent']);
  });

  it('is not silent of a run that is as quiet as those were that are done', async () => {
    const world = await withUp('a', 'b');
    await world.passes(30 * MINUTE);
    world.happens(...['a', 'b'].map((name) => endedAs(name, { kind: 'done' }, { at: world.now })));
    world.happens(submitted(['c']), started('c', 1, world.now));
    await world.passes(50 * MINUTE);
    expect(world.word('c')).toBe('ok');
    await world.passes(15 * MINUTE);
    expect(world.word('c')).toBe('silent');
  });

  it('is nothing that was not seen: of a run that was up before, silence begins when the supervisor does', async () => {
    mkdirSync(join(folder, 'a'));
    appendFileSync(join(folder, 'a', 'metrics.jsonl'), '{"loss": 1}\n{"loss": 1}\n{"loss": 1}\n');
    const world = new World(up('a'), 10 * MINUTE);
    await world.look();
    await world.passes(30 * MINUTE);
    // Three rows in ten minutes: an hour without one is still usual.
    expect(world.word('a')).toBe('ok');
    await world.passes(50 * MINUTE);
    expect(world.word('a')).toBe('silent');
  });

  it('is slow of a run that makes fewer steps than its seeds', async () => {
    const world = await withUp('a', 'b', 'c');
    for (let look = 0; look < 60; look++) {
      if (look % 5 === 0) world.writes('c', `{"step": ${world.now / 20_000}, "loss": 1}`);
      await world.passes(5000, ['a', 'b']);
    }
    expect(['a', 'b', 'c'].map((name) => world.word(name))).toEqual(['ok', 'ok', 'slow']);
    expect(world.watch.of(id('c')).reason).toMatch(/^0\.05\d* steps\/s, others 0\.20$/);
  });

  it('is idle of a run whose GPU computes nothing, after five minutes in which it was up', async () => {
    const world = new World();
    world.happens(gpuSlots([{ index: 0 }]), submitted([{ name: 'a', need: { gpus: 1 } }]), started('a'));
    world.utilization = 0;
    await world.passes(4 * MINUTE, ['a']);
    expect(world.word('a')).toBe('ok');
    await world.passes(2 * MINUTE, ['a']);
    expect(world.watch.of(id('a'))).toMatchObject({ word: 'idle', reason: 'GPU 0 at 0 % for 5 min' });
    world.utilization = 80;
    await world.passes(5000, ['a']);
    expect(world.word('a')).toBe('ok');
  });

  it('is disk of all runs whose disk is almost full, and that before what follows from it', async () => {
    const world = await withUp('a', 'b');
    await world.passes(5 * MINUTE, ['a', 'b']);
    world.room = { free: 2 ** 30, total: 2e12 };
    await world.passes(3 * MINUTE, ['a']);
    expect(world.watch.of(id('a'))).toMatchObject({ word: 'disk', reason: '1.0 GiB of 1.8 TiB left on its disk' });
    expect(world.watch.of(id('b')).reason).toMatch(/ on its disk; silent: no output/);
    world.room = { free: 1e12, total: 2e12 };
    await world.look();
    expect(['a', 'b'].map((name) => world.word(name))).toEqual(['ok', 'silent']);
    expect(world.told).toEqual(['a disk', 'b disk', 'b silent']);
  });

  it('is the limit that a run declares for a metric and exceeded, also after its end, and is told of once', async () => {
    const world = await withUp('a', 'b');
    world.writes('a', '{"step": 1, "kl": 2.51, "reward": 0, "limit/kl": 0.01}');
    world.writes('b', '{"step": 1, "kl": 0.01, "reward": 0, "limit/kl": 0.01}');
    await world.look();
    world.writes('a', '{"step": 2, "kl": 0, "reward": 0, "limit/kl": 0.01}');
    await world.look();
    const over = { word: 'limit', reason: 'kl was 2.51 at step 1, limit 0.01' };
    expect(world.watch.of(id('a'))).toEqual(over);
    world.ends('a', 'b');
    expect(world.watch.of(id('a'))).toEqual(over);
    expect(world.word('b')).toBe('ok');
    expect(world.told).toEqual(['a limit']);
  });

  it('of a run that has ended is what its metrics said last, and nothing else', async () => {
    const world = await withUp('a', 'b');
    await world.passes(5 * MINUTE, ['a', 'b']);
    world.writes('b', '{"loss": NaN}');
    await world.passes(3 * MINUTE);
    expect(world.watch.of(id('b')).reason).toMatch(/^loss is not a number; silent: no output/);
    world.happens(endedAs('a', { kind: 'failed', code: 1 }), endedAs('b', { kind: 'failed', code: 1 }));
    expect(world.watch.of(id('a'))).toEqual({ word: 'ok', reason: null });
    expect(world.watch.of(id('b'))).toEqual({ word: 'nan', reason: 'loss is not a number' });
  });
});

describe('a run that has ended', () => {
  const exploding = ['{"loss": 2}', '{"loss": 900}', '{"loss": 1e12}', '{"loss": 8e78}'];

  it('keeps that it diverged, however few values it wrote, and is told of once', async () => {
    const world = await withUp('a', 'b');
    for (const row of exploding) world.writes('a', row);
    world.writes('b', '{"loss": 2}');
    world.ends('a', 'b');
    expect(world.watch.of(id('a'))).toEqual({ word: 'diverged', reason: 'loss 8.00e78, at its best 2' });
    expect(world.word('b')).toBe('ok');
    world.watch.changed([id('a')]);
    expect(world.told).toEqual(['a diverged']);
  });

  it('is compared with those that end after it: they may tell that it was far off from the first', async () => {
    const world = await withUp('a', 'b', 'c');
    world.writes('a', '{"loss": 1e20}');
    world.ends('a');
    expect(world.word('a')).toBe('ok');
    for (const name of ['b', 'c']) world.writes(name, '{"loss": 2}');
    world.ends('b', 'c');
    expect(world.watch.of(id('a'))).toEqual({ word: 'diverged', reason: 'loss 1.00e20, others 2' });
  });

  it('says that a loss is infinite, and that it is no number, in different words', async () => {
    const world = await withUp('a', 'b');
    world.writes('a', '{"loss": Infinity}');
    world.writes('b', '{"loss": NaN}');
    await world.look();
    expect(world.watch.of(id('a'))).toEqual({ word: 'diverging', reason: 'loss is infinite' });
    world.ends('a', 'b');
    expect(world.watch.of(id('a'))).toEqual({ word: 'diverged', reason: 'loss is infinite' });
    expect(world.watch.of(id('b'))).toEqual({ word: 'nan', reason: 'loss is not a number' });
  });

  it('has no word any more once it goes on', async () => {
    const world = await withUp('a');
    for (const row of exploding) world.writes('a', row);
    world.ends('a');
    expect(world.word('a')).toBe('diverged');
    world.happens(asked('resume', 'a', world.now), started('a', 2, world.now));
    expect(world.word('a')).toBe('ok');
  });
});
