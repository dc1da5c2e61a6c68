import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { spawnSync } from 'node:child_process';
import { geteuid } from 'node:process';
import { describe, expect, it } from 'vitest';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { RunSearch } from '../../../src/metrics/tree/find-runs.js';
import { readFoundFacts } from '../../../src/metrics/tree/found-facts.js';
import { found, treeMaker } from './trees.js';

const fixtures = join(import.meta.dirname, '../../fixtures/found');
const tree = treeMaker();

const rows = '{"step":1,"loss":2}\n{"step":2,"loss":1}\n';
const events = (pid: number) => `events.out.tfevents.1700000000.host.${pid}.0`;

describe('runs in folders of real writers', () => {
  it.each([
    { folder: 'torch', kind: 'folder', key: 'train/loss', points: 6, parameters: {} },
    { folder: 'hparams', kind: 'folder', key: 'both/b', points: 6, parameters: { lr: 0.01, seed: 1, opt: 'adam' } },
    {
      folder: 'cleanrl',
      kind: 'folder',
      key: 'charts/episodic_return',
      points: 6,
      parameters: { seed: 1, exp_name: 'ppo' },
    },
    { folder: 'wandb', kind: 'W&B', key: 'acc', points: 6, parameters: { lr: 0.01, seed: 1, 'net.width': 64 } },
    { folder: 'lightning', kind: 'Lightning', key: 'train_loss', points: 16, parameters: { lr: 0.01, seed: 1 } },
    {
      folder: 'hugging-face',
      kind: 'Hugging Face',
      key: 'train/loss',
      points: 10,
      parameters: { learning_rate: 0.01, seed: 1 },
    },
    { folder: 'stable-baselines3', kind: 'folder', key: 'time/iterations', points: 2, parameters: {} },
    { folder: 'trackio', kind: 'trackio', key: 'loss', points: 6, parameters: { lr: 0.01, seed: 1 } },
    { folder: 'multirun', kind: 'Hydra', key: 'loss', points: 6, parameters: { 'optim.lr': 0.01, seed: 1 } },
  ])('finds those of $folder, their parameters and their curves', ({ folder, kind, key, points, parameters }) => {
    const { runs, notes } = found(join(fixtures, folder));
    const facts = runs.map(readFoundFacts);
    const isWanted = (index: number) =>
      Object.entries(parameters).every(([name, value]) => facts[index]!.parameters[name] === value);
    const lengths = runs.map(({ directory }) => openMetrics(directory).readNow().series(key).y.length);
    expect({ kinds: [...new Set(runs.map((run) => run.kind))], notes }).toEqual({ kinds: [kind], notes: [] });
    expect(runs).toHaveLength(folder === 'cleanrl' ? 2 : 4);
    expect(lengths).toEqual(runs.map(() => points));
    expect(runs.filter((_run, index) => isWanted(index))).not.toEqual([]);
  });

  it("reads MLflow's file store: names, experiment, parameters, states, and each metric with its steps", () => {
    const { runs } = found(join(fixtures, 'mlruns'));
    const facts = runs.map(readFoundFacts);
    const place = facts.findIndex(({ name }) => name === 'lr0.01-s1');
    const metrics = openMetrics(runs[place]!.directory).readNow();
    expect(facts[place]).toMatchObject({
      group: 'tune',
      state: 'done',
      parameters: { lr: 0.01, seed: 1, opt: 'adam' },
    });
    expect(
      metrics
        .keys()
        .filter((key) => key !== 'step')
        .sort(),
    ).toEqual(['eval/acc', 'loss']);
    expect([...metrics.series('eval/acc').y]).toEqual([0, 0.05, 0.1, 0.15, 0.2, 0.25]);
    expect(metrics.clock).toBe('values');
    expect(facts.map(({ state }) => state).sort()).toEqual(['done', 'done', 'done', 'done', 'failed']);
  });

  it('knows by the exit code in a file of W&B that a run failed', () => {
    const facts = found(join(fixtures, 'wandb')).runs.map(readFoundFacts);
    expect(facts.map(({ name, state, reason }) => [name, state, reason]).sort()).toEqual([
      ['lr0.01-s0', 'done', null],
      ['lr0.01-s1', 'failed', 'exit code 1'],
      ['lr0.1-s0', 'done', null],
      ['lr0.1-s1', 'done', null],
    ]);
  });

  it('tells the runs of a trackio database apart', () => {
    const { runs } = found(join(fixtures, 'trackio'));
    const first = runs.map(({ directory }) => openMetrics(directory).readNow().series('loss').y[0]);
    expect(runs.map(({ place }) => place)).toEqual(['tproj.db/r00', 'tproj.db/r01', 'tproj.db/r10', 'tproj.db/r11']);
    expect(new Set(first).size).toBe(4);
  });
});

describe('what is a run', () => {
  it.each([
    ['event files of one process below a run', { [`a/${events(7)}`]: '', [`a/loss_x/${events(7)}`]: '' }, ['a']],
    ['event files of another process', { [`a/${events(7)}`]: '', [`a/b/${events(8)}`]: '' }, ['a/.', 'a/b']],
    ['an evaluation beside the training', { [`a/train/${events(7)}`]: '', [`a/validation/${events(7)}`]: '' }, ['a']],
    [
      'a table of results above the runs',
      { 'metrics.jsonl': rows, 'a/metrics.jsonl': rows, 'b/metrics.jsonl': rows },
      ['.', 'a', 'b'],
    ],
    ['a second writer below a run', { 'a/metrics.jsonl': rows, [`a/tb/${events(7)}`]: '' }, ['a']],
    [
      'all below a folder of Hydra',
      { 'a/.hydra/config.yaml': '', [`a/x/${events(7)}`]: '', 'a/y/metrics.jsonl': rows },
      ['a'],
    ],
    ['tables of data', { 'data/train.csv': 'name,city\na,b\nc,d\ne,f\n', 'a/metrics.jsonl': rows }, ['a']],
    ['the record of a run of ours', { 's/a/run.json': '{}', 's/a/wandb/run-x/run-x.wandb': '' }, ['s/a']],
  ])('%s', (_words, files, places) => {
    const root = tree(files);
    const seen = found(root).runs.map(
      ({ directory }) => relative(root, directory) + (directory.endsWith('/.') ? '/.' : ''),
    );
    expect(seen.map((place) => place.replace(/^\/\.$/, '.'))).toEqual(places);
  });

  it('leaves the files of runs below out of a run that has its own files alone', () => {
    const root = tree({
      'metrics.jsonl': rows,
      'a/progress.csv': 'step,acc\n1,1\n2,2\n',
      'b/progress.csv': 'step,acc\n1,1\n2,2\n',
    });
    const metrics = openMetrics(`${root}/.`).readNow();
    expect(metrics.keys()).toEqual(['step', 'loss']);
  });

  it('finds what comes later, and lists only what has changed', () => {
    const root = tree({ 'a/metrics.jsonl': rows });
    const search = new RunSearch(root);
    const places = () => found(root, {}, search).runs.map(({ place }) => place);
    expect(places()).toEqual(['a']);
    mkdirSync(join(root, 'b'));
    writeFileSync(join(root, 'b/metrics.jsonl'), rows);
    expect(places()).toEqual(['a', 'b']);
  });
});

describe('hostile folders', () => {
  it('does not follow links to folders, and opens no pipe', () => {
    const root = tree({ 'a/metrics.jsonl': rows });
    symlinkSync(root, join(root, 'a/up'));
    symlinkSync('self', join(root, 'self'));
    mkdirSync(join(root, 'pipes'));
    const pipes = ['metrics.jsonl', events(1), 'config.json', 'x.db', 'run-x.wandb', 'output.log'];
    const made = spawnSync(
      'mkfifo',
      pipes.map((name) => join(root, 'pipes', name)),
    );
    expect(made.status).toBe(0);
    expect(found(root).runs.map(({ place }) => place)).toEqual(['a']);
  });

  it('says what it leaves out', () => {
    const files = Object.fromEntries(Array.from({ length: 6 }, (_, index) => [`r${index}/metrics.jsonl`, rows]));
    const root = tree({ ...files, 'deep/a/b/c/metrics.jsonl': rows });
    expect(found(root, { runs: 3 }).notes).toEqual(['only the first 3 of 7 runs are shown']);
    expect(found(root, { depth: 2 }).notes).toEqual(['folders more than 2 deep are not searched']);
    expect(found(root, { folders: 4 }).notes).toEqual(['only 4 folders are searched']);
  });

  it.skipIf(geteuid?.() === 0)('says which folder may not be read', () => {
    const root = tree({ 'a/metrics.jsonl': rows, 'closed/metrics.jsonl': rows });
    chmodSync(join(root, 'closed'), 0);
    expect(found(root)).toMatchObject({ runs: [{ place: 'a' }], notes: ['closed may not be read'] });
    chmodSync(join(root, 'closed'), 0o700);
  });

  it.each([
    ['an alias that stands in itself', 'hparams.yaml', 'lr: 1\na: &a [*a]\nb: &b {c: *b}\n'],
    [
      'aliases that would be millions',
      'hparams.yaml',
      [
        'lr: 1',
        ...['a', 'b', 'c', 'd', 'e'].map(
          (name, index, all) =>
            `${name}: &${name} {x: ${index === 0 ? 1 : `*${all[index - 1]}`}, y: ${index === 0 ? 1 : `*${all[index - 1]}`}}`,
        ),
      ].join('\n'),
    ],
    ['JSON that is too deep', 'config.json', '['.repeat(100_000)],
    ['no settings at all', 'args.json', '"text"'],
  ])('reads settings with %s', (_words, name, text) => {
    const root = tree({ 'a/metrics.jsonl': rows, [`a/${name}`]: text });
    const { parameters } = readFoundFacts(found(root).runs[0]!);
    expect(Object.keys(parameters).length).toBeLessThan(1000);
    if (name === 'hparams.yaml') expect(parameters).toMatchObject({ lr: 1 });
  });
});
