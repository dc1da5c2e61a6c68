import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { openMetrics, type RunMetrics } from '../../src/metrics/run-metrics.js';
import { removeFolder } from '../remove-folder.js';

const fixtures = join(import.meta.dirname, '../fixtures/metrics');
const directory = mkdtempSync(join(tmpdir(), 'metric-fixtures-'));
afterAll(() => removeFolder(directory));
let runs = 0;
const freshRun = () => join(directory, `run-${runs++}`);

/** The files of a fixture, or those of them that are wanted. */
const filesOf = (fixture: string, wanted = /./) =>
  readdirSync(join(fixtures, fixture), { recursive: true, withFileTypes: true, encoding: 'utf8' })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(join(fixtures, fixture).length + 1))
    .filter((path) => wanted.test(path))
    .sort();

const loss = (steps: number) => Array.from({ length: steps }, (_, step) => 2 / (1 + step) + 0.125);
const count = (steps: number, by = 1) => Array.from({ length: steps }, (_, step) => step * by);

/** All that is told, as plain data. */
function told(metrics: RunMetrics) {
  return Object.fromEntries(
    metrics.keys().map((key) => {
      const { x, y } = metrics.series(key);
      return [key, Array.from(x, (at, index) => [at, y[index]!] as const)];
    }),
  );
}

const places = { folders: [], patterns: {} };
const read = (run: string) => openMetrics(run, { places }).readNow();
const points = (metrics: RunMetrics, key: string) => {
  const { x, y } = metrics.series(key);
  return { x: [...x], y: [...y].map((value) => Number(value.toPrecision(6))) };
};
const rounded = (values: readonly number[]) => values.map((value) => Number(value.toPrecision(6)));

describe('events', () => {
  it.each(['torch', 'torch-resumed', 'tensorboardx', 'tf2', 'rsl-rl'])(
    'of %s are the same whether they are taken as points or as rows, for a listener',
    (fixture) => {
      const run = join(fixtures, fixture);
      const listener = { row: () => undefined, restart: () => undefined };
      const asRows = openMetrics(run, { places, listener }).readNow();
      expect(told(read(run))).toEqual(told(asRows));
      expect(told(asRows)).not.toEqual({});
    },
  );
});

describe('what real writers wrote', () => {
  it.each([
    { fixture: 'torch', key: 'train/loss', x: count(12), y: loss(12) },
    { fixture: 'torch', key: 'eval/acc', x: [0, 4, 8], y: [0, 0.25, 0.5] },
    { fixture: 'torch', key: 'train/nan', x: [3], y: [NaN] },
    { fixture: 'tensorboardx', key: 'loss', x: count(8), y: loss(8) },
    { fixture: 'tf2', key: 'loss', x: count(8), y: loss(8) },
    { fixture: 'tf2', key: 'big', x: count(8), y: count(8, 1e12) },
    { fixture: 'wandb', key: 'loss', x: count(10), y: loss(10) },
    { fixture: 'wandb', key: 'net.norm', x: count(10), y: count(10, 0.5) },
    { fixture: 'wandb', key: 'bad', x: [3], y: [NaN] },
    { fixture: 'wandb-system', key: 'system/proc.cpu.threads', x: [0, 0, 1, 2, 3, 4, 5], y: [4, 6, 6, 6, 6, 6, 6] },
    { fixture: 'trackio', key: 'loss', x: count(50), y: loss(50) },
    { fixture: 'trackio', key: 'layers.layer 299', x: [3], y: [299 / 8] },
    { fixture: 'trackio-wal', key: 'loss', x: count(50), y: loss(50) },
    { fixture: 'trackio-wal', key: 'net.norm', x: count(50), y: count(50, 0.5) },
    { fixture: 'trackio-wal', key: 'bad', x: [3], y: [NaN] },
    { fixture: 'sb3', key: 'rollout/ep_rew_mean', x: count(6, 100), y: count(6, 10) },
    { fixture: 'sb3', key: 'eval/mean_reward', x: [400, 500], y: [3.5, 4.5] },
    { fixture: 'sb3-monitor', key: 'monitor/0/episode_reward', x: [2, 5, 9, 14], y: [3, 4.5, 6, 7.5] },
    { fixture: 'd3rlpy', key: 'critic_loss', x: count(6).map((n) => 1000 * (n + 1)), y: loss(6) },
    { fixture: 'd3rlpy', key: 'odd', x: count(6).map((n) => 1000 * (n + 1)), y: [-0, -1e-5, NaN, -3e-5, -4e-5, -5e-5] },
    { fixture: 'torch-scalars', key: 'net/loss/a', x: count(4), y: count(4, 0.25) },
    { fixture: 'torch-scalars', key: 'net/loss/b', x: count(4), y: count(4, 4) },
    { fixture: 'tensorboardx-scalars', key: 'data/loss/b', x: count(4), y: count(4, 2) },
    { fixture: 'catboost', key: 'Logloss', x: count(5), y: [0.600969, 0.51908, 0.48169, 0.427684, 0.380319] },
    { fixture: 'catboost', key: 'test/Logloss', x: count(5), y: [0.598835, 0.517231, 0.480396, 0.432992, 0.382308] },
    { fixture: 'lightning', key: 'train_loss', x: count(8), y: loss(8) },
    { fixture: 'lightning', key: 'val_acc', x: [3, 7], y: [0.375, 0.875] },
    {
      fixture: 'trainer',
      key: 'loss',
      x: [2, 4, 6, 8, 10, 12],
      y: [369.811, 249.49, 308.81, 308.411, 258.992, 357.219],
    },
    { fixture: 'trainer', key: 'eval_loss', x: [6, 12], y: [308.529, 307.988] },
    { fixture: 'trainer', key: 'train_loss', x: [12], y: [308.789] },
    { fixture: 'rsl-rl', key: 'Train/mean_reward', x: count(5), y: count(5, 0.5) },
    {
      fixture: 'tqdm',
      key: 'loss',
      x: count(13),
      y: [2.12, 1.12, 0.792, 0.625, 0.525, 0.458, 0.411, 0.375, 0.347, 0.325, 0.307, 0.292, 0.292],
    },
  ])('$fixture: $key', ({ fixture, key, x, y }) => {
    expect(points(read(join(fixtures, fixture)), key)).toEqual({ x, y: rounded(y) });
  });

  it('counts the later of two attempts from its first step on', () => {
    const y = [...count(6), ...count(10).map((step) => 106 + step)];
    expect(points(read(join(fixtures, 'torch-resumed')), 'loss')).toEqual({ x: count(16), y });
    expect(points(read(join(fixtures, 'wandb-resumed')), 'loss')).toEqual({ x: count(16), y });
  });

  it.each([
    { fixture: 'sb3', keys: ['rollout/ep_rew_mean', 'time/total_timesteps', 'train/loss', 'eval/mean_reward'] },
    { fixture: 'rsl-rl', keys: ['step', 'Total steps', 'Steps per second', 'Collection time', 'Learning time', 'Mean surrogate loss', 'Mean reward', 'Mean episode length', 'Mean action std', 'Metrics/error', 'Iteration time'] }, // prettier-ignore
    { fixture: 'trainer', keys: ['step', 'loss', 'grad_norm', 'learning_rate', 'epoch', 'eval_loss', 'eval_runtime', 'eval_samples_per_second', 'eval_steps_per_second', 'train_runtime', 'train_samples_per_second', 'train_steps_per_second', 'train_loss'] }, // prettier-ignore
  ])('is found in what $fixture prints when there is nothing else', ({ fixture, keys }) => {
    const run = freshRun();
    mkdirSync(run);
    cpSync(join(fixtures, fixture, 'output.log'), join(run, 'output.log'));
    expect(read(run).keys()).toEqual(keys);
  });

  it.each([
    { fixture: 'tqdm', progress: { share: 1, etaSeconds: 0 } },
    { fixture: 'trainer', progress: { share: 1, etaSeconds: 0 } },
    { fixture: 'rsl-rl', progress: { share: 1, etaSeconds: 0 } },
    { fixture: 'torch', progress: null },
  ])('says how far the run is: $fixture', ({ fixture, progress }) => {
    const stated = read(join(fixtures, fixture)).progress;
    if (progress === null) expect(stated).toBeNull();
    else expect(stated).toMatchObject(progress);
  });
});

/** One source at a time, so that none stands in for another. */
const sources = [
  { name: 'torch events', fixture: 'torch', wanted: /tfevents/ },
  { name: 'events of two attempts', fixture: 'torch-resumed', wanted: /tfevents/, replaces: true },
  { name: 'tensorboardX events', fixture: 'tensorboardx', wanted: /tfevents/ },
  { name: 'TensorFlow 2 events', fixture: 'tf2', wanted: /tfevents/ },
  { name: 'rsl_rl events', fixture: 'rsl-rl', wanted: /tfevents/, replaces: true },
  { name: 'a W&B run', fixture: 'wandb', wanted: /wandb$/ },
  { name: 'a W&B run of two attempts', fixture: 'wandb-resumed', wanted: /wandb$/, replaces: true },
  { name: 'a CSV file', fixture: 'sb3', wanted: /progress\.csv/ },
  { name: 'JSON lines', fixture: 'sb3', wanted: /progress\.json/ },
  { name: 'monitors', fixture: 'sb3-monitor', wanted: /monitor/ },
  { name: 'a file of d3rlpy', fixture: 'd3rlpy', wanted: /critic_loss\.csv/ },
  { name: "Lightning's CSV file", fixture: 'lightning', wanted: /csv/ },
  { name: 'a trainer state', fixture: 'trainer', wanted: /^trainer_state/ },
  { name: 'the log of a bar', fixture: 'tqdm', wanted: /log/, replaces: true },
  { name: 'the log of the Trainer', fixture: 'trainer', wanted: /log/, replaces: true },
  { name: 'the log of stable-baselines3', fixture: 'sb3', wanted: /log/ },
  { name: 'the log of rsl_rl', fixture: 'rsl-rl', wanted: /log/ },
];

type Point = readonly [x: number, y: number];

describe.each(sources)('$name', ({ fixture, wanted, replaces = false }) => {
  const files = filesOf(fixture, wanted).map((path) => ({ path, bytes: readFileSync(join(fixtures, fixture, path)) }));
  const isSmall = files.reduce((sum, { bytes }) => sum + bytes.length, 0) < 1500;
  const tier = isSmall ? {} : { tags: ['long'] };
  const whole = () => {
    const run = freshRun();
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(run, path)), { recursive: true });
      writeFileSync(join(run, path), bytes);
    }
    return told(read(run));
  };

  it('is read the same when it grows byte by byte', tier, () => {
    const run = freshRun();
    mkdirSync(run);
    const metrics = openMetrics(run);
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(run, path)), { recursive: true });
      writeFileSync(join(run, path), '');
      for (let at = 0; at < bytes.length; at++) {
        appendFileSync(join(run, path), bytes.subarray(at, at + 1));
        metrics.refresh();
      }
    }
    expect(told(metrics.readNow())).toEqual(whole());
    expect(metrics.obstacle).toBeNull();
  });

  /** Points that are there twice, or that are not in the whole. (Where a later row replaces one, only its step is.) */
  const wrongPoints = (cut: readonly Point[], all: readonly Point[]) => {
    const known = new Map(all);
    const isOnce = new Set(cut.map(([x]) => x)).size === cut.length;
    const isKnown = ([x, y]: Point) => (replaces ? known.has(x) : Object.is(known.get(x), y));
    return isOnce ? cut.filter((point) => !isKnown(point)) : cut;
  };

  it('is read as far as it is whole, wherever it is cut', tier, () => {
    const all = whole();
    const run = freshRun();
    for (const { path, bytes } of files) {
      mkdirSync(dirname(join(run, path)), { recursive: true });
      writeFileSync(join(run, path), '');
      for (let size = 0; size < bytes.length; size++) {
        const metrics = read(run);
        const wrong = Object.entries(told(metrics)).flatMap(([key, cut]) => wrongPoints(cut, all[key] ?? []));
        expect([metrics.obstacle, wrong]).toEqual([null, []]);
        appendFileSync(join(run, path), bytes.subarray(size, size + 1));
      }
    }
  });
});
