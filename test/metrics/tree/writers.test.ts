import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { foundLog } from '../../../src/logs/log-file.js';
import { recognised } from '../../../src/metrics/detection.js';
import { metricFormats } from '../../../src/metrics/formats/registry.js';
import { openMetrics, type RunMetrics, wallTime } from '../../../src/metrics/run-metrics.js';
import { declaredFacts, declaringIn } from '../../../src/metrics/tree/declared-facts.js';
import { readFoundFacts } from '../../../src/metrics/tree/found-facts.js';
import { found, treeMaker } from './trees.js';

const tree = treeMaker();

const points = (metrics: RunMetrics, key: string, x?: string) => {
  const line = metrics.series(key, x);
  return Array.from(line.x, (at, index) => [at, line.y[index]]);
};

const time = (second: number) => `2026-11-28T18:06:${String(second).padStart(2, '0')}.093213`;

/** The metrics of sacred 0.8.7 as its FileStorageObserver writes them: sorted, with indents, and Python's NaN. */
function metricsOfSacred(metrics: Readonly<Record<string, readonly (readonly [number, unknown])[]>>): string {
  const lists = Object.entries(metrics).map(([name, all]) => {
    const steps = all.map(([step]) => step);
    return [name, { steps, timestamps: steps.map(time), values: all.map(([, value]) => value) }];
  });
  return JSON.stringify(Object.fromEntries(lists), null, 2).replaceAll('"NaN"', 'NaN');
}

function recordOfSacred(record: Readonly<Record<string, unknown>> = {}): string {
  const meta = { command: 'main', config_updates: {}, options: { '--comment': null } };
  const experiment = { base_dir: '/home/a', mainfile: 'train.py', name: 'mnist', repositories: [], sources: [] };
  const all = { artifacts: [], command: 'main', experiment, heartbeat: time(10), host: { hostname: 'h' }, meta };
  const ended = { resources: [], result: 0.75, start_time: time(0), status: 'COMPLETED', stop_time: time(10) };
  return JSON.stringify({ ...all, ...ended, ...record }, null, 2);
}

const numpy = { 'py/object': 'numpy.float32', dtype: 'float32', value: 0.25 };
const sacredRun = (record?: Readonly<Record<string, unknown>>) => ({
  'run.json': recordOfSacred(record),
  'config.json': JSON.stringify({ lr: 0.1, model: { width: 64, sizes: { 'py/tuple': [1, 2] } }, seed: 7 }, null, 2),
  'cout.txt': 'step 0\n',
  'metrics.json': metricsOfSacred({
    'train/loss': [[0, 2], [1, 1], [2, numpy]], // prettier-ignore
    val_acc: [[0, 0.5], [2, 'NaN']], // prettier-ignore
  }),
});
const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

describe('sacred', () => {
  const trace = [
    'Traceback (most recent call last):\n',
    '  File "t.py", line 1, in main\n',
    'RuntimeError: boom\nat 7\n',
  ];

  it('gives each numbered folder as a run: its settings, how it ended, its log, and each metric with its own steps', () => {
    const root = tree({
      ...below('1', sacredRun()),
      ...below('2', sacredRun({ status: 'FAILED', fail_trace: trace, result: null })),
      ...below('3', sacredRun({ status: 'INTERRUPTED' })),
      '_sources/train_1.py': '',
    });
    const { runs } = found(root);
    const [first, ...others] = runs.map(readFoundFacts);
    expect(runs.map(({ place, kind }) => [place, kind])).toEqual(['1', '2', '3'].map((place) => [place, 'sacred']));
    expect(first).toMatchObject({
      parameters: { lr: 0.1, 'model.width': 64, 'model.sizes': [1, 2], seed: 7 },
      ...{ group: 'mnist', state: 'done', reason: null },
      ...{ startedAt: Date.UTC(2026, 10, 28, 18, 6, 0, 93), endedAt: Date.UTC(2026, 10, 28, 18, 6, 10, 93) },
    });
    expect(others).toMatchObject([{ state: 'failed', reason: 'RuntimeError: boom' }, { state: 'killed' }]);
    const metrics = openMetrics(runs[0]!.directory).readNow();
    expect(metrics.keys().filter((key) => key !== 'step')).toEqual(['train/loss', 'val_acc', 'result']);
    expect(points(metrics, 'train/loss')).toEqual([[0, 2], [1, 1], [2, 0.25]]); // prettier-ignore
    expect(points(metrics, 'val_acc')).toEqual([[0, 0.5], [2, NaN]]); // prettier-ignore
    expect(metrics.last()['result']).toBe(0.75);
    expect(points(metrics, 'train/loss', wallTime)[1]![0]).toBe(Date.UTC(2026, 10, 28, 18, 6, 1, 93) / 1000);
    expect(foundLog(runs[0]!.directory)).toBe(join(root, '1/cout.txt'));
  });

  it('takes a run whose heart has not beaten for minutes for a lost one', () => {
    const at = (ms: number) => new Date(ms).toISOString().slice(0, -1);
    const root = tree({
      ...below('1', sacredRun({ status: 'RUNNING', heartbeat: at(Date.now() - 5000) })),
      ...below('2', sacredRun({ status: 'RUNNING', heartbeat: at(Date.now() - 3_600_000) })),
    });
    expect(found(root).runs.map((run) => readFoundFacts(run).state)).toEqual(['running', 'lost']);
  });

  it('passes on what is new when the file is written again, and all of it when another run writes there', () => {
    const root = tree(below('1', sacredRun()));
    const told: unknown[] = [];
    const listener = { row: (row: unknown) => void told.push(row), restart: () => void told.push('restart') };
    const metrics = openMetrics(join(root, '1'), { listener }).readNow();
    const write = (lists: Parameters<typeof metricsOfSacred>[0]) => {
      writeFileSync(join(root, '1/metrics.json'), metricsOfSacred(lists));
      metrics.readNow();
    };
    const count = told.length;
    write({ a: [[5, 9]], 'train/loss': [[0, 2], [1, 1], [2, numpy], [3, 4]], val_acc: [[0, 0.5], [2, 'NaN'], [3, 1]] }); // prettier-ignore
    expect(told.slice(count)).toEqual([
      { step: 5, a: 9 },
      { step: 3, 'train/loss': 4 },
      { step: 3, val_acc: 1 },
    ]);
    write({ 'train/loss': [[0, 3], [1, 2]] }); // prettier-ignore
    expect(points(metrics, 'train/loss')).toEqual([[0, 3], [1, 2]]); // prettier-ignore
  });

  it('reads a file that is cut anywhere as far as it goes, and whole when the rest has come', () => {
    const root = tree(below('1', sacredRun()));
    const path = join(root, '1/metrics.json');
    const text = metricsOfSacred({ a: [[0, 1]], b: [[0, 2], [1, 'NaN']] }); // prettier-ignore
    for (let cut = 0; cut < text.length; cut += 7) {
      rmSync(path);
      writeFileSync(path, text.slice(0, cut));
      const metrics = openMetrics(join(root, '1')).readNow();
      writeFileSync(path, text);
      metrics.readNow();
      expect([points(metrics, 'a'), points(metrics, 'b')]).toEqual([[[0, 1]], [[0, 2], [1, NaN]]]); // prettier-ignore
    }
  });

  it('is a source of a run of ours, whose record has the same name; its folders are those of attempts', () => {
    const root = tree({
      ...{ 'run.json': '{}', 'output.log': '', 'cout.txt': '' },
      ...below('out/1', sacredRun()),
      ...below('out/2', { ...sacredRun(), 'metrics.json': metricsOfSacred({ 'train/loss': [[2, 7], [3, 6]] }) }), // prettier-ignore
    });
    expect(found(root).runs.map(({ kind }) => kind)).toEqual(['memrl-tui']);
    const metrics = openMetrics(root).readNow();
    expect(points(metrics, 'train/loss')).toEqual([[0, 2], [1, 1], [2, 7], [3, 6]]); // prettier-ignore
    expect(declaredFacts(root, declaringIn(metrics.all)).parameters).toMatchObject({ lr: 0.1, seed: 7 });
  });
});

/** A run as guild 0.9.0 keeps it. */
const guildRun = (attributes: Readonly<Record<string, string>>, files: Readonly<Record<string, string>> = {}) => ({
  '.guild/opref': "script:/home/a/my\\ work '' '' train.py",
  '.guild/output': 'step: 0\nloss: 1.5\n',
  '.guild/manifest': 's train.py 338e17112166e856781d6852031382c4cd463897 train.py\n',
  'train.py': '',
  ...below('.guild/attrs', {
    ...{
      flags: 'lr: 0.1\nnet: wide\n',
      exit_status: '0\n',
      started: '1795889231371176\n',
      stopped: '1795889231915272\n',
    },
    ...{ label: 'my run\n', tags: '- a\n- b\n', comments: '- body: a good one\n  host: vm\n  time: 1\n' },
    ...{ env: 'PATH: /bin\n', ...attributes },
  }),
  ...files,
});
const idOf = (index: number) => `${index}`.padStart(32, 'abcdef0123456789');
const without = (files: Readonly<Record<string, string>>, ...names: readonly string[]) =>
  Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name)));

describe('guild', () => {
  const status = '.guild/attrs/exit_status';
  const runs = [
    guildRun({}),
    guildRun({ exit_status: '1\n' }, { '.guild/opref': 'guildfile:/home/a/guild.yml 7d5f6de5 cnn train' }),
    guildRun({ exit_status: '-15\n' }),
    without(guildRun({}, { '.guild/LOCK': '77' }), status),
    without(guildRun({}, { '.guild/STAGED': '' }), status),
    without(guildRun({}), status),
  ];
  const home = () => {
    const all = runs.flatMap((run, index) => Object.entries(below(`.guild/runs/${idOf(index)}`, run)));
    return tree({ ...Object.fromEntries(all), ...below(`.guild/trash/runs/${idOf(99)}`, guildRun({})) });
  };

  it('gives each run with its flags, label, tags, comment, operation, and how it ended; deleted ones are none', () => {
    const facts = found(home()).runs.map(readFoundFacts);
    expect(facts[0]).toEqual({
      parameters: { lr: 0.1, net: 'wide' },
      ...{ name: 'my run', group: 'train.py', state: 'done', reason: null, tags: ['a', 'b'], note: 'a good one' },
      ...{ startedAt: 1795889231371.176, endedAt: 1795889231915.272 },
    });
    expect(facts.map(({ state }) => state)).toEqual(['done', 'failed', 'killed', 'running', 'queued', 'lost']);
    expect(facts[1]).toMatchObject({ group: 'cnn:train', reason: 'exit code 1' });
  });

  it.each(['', '.guild', '.guild/runs', `.guild/runs/${idOf(0)}`])('is opened by its folder "%s"', (folder) => {
    const kinds = found(join(home(), folder)).runs.map(({ kind }) => kind);
    expect(kinds).toEqual(Array.from({ length: folder.endsWith(idOf(0)) ? 1 : runs.length }, () => 'guild'));
  });

  it('has the curves of the run, and none of files that were copied as source code', () => {
    const rows = 'step,acc\n0,1\n1,2\n';
    const files = {
      'old/progress.csv': rows,
      'new/progress.csv': rows.replaceAll('acc', 'own'),
      '.guild/manifest': 's old/progress.csv 338e17112166e856781d6852031382c4cd463897 old/progress.csv\n',
    };
    const root = tree(below(idOf(0), guildRun({}, files)));
    const metrics = openMetrics(join(root, idOf(0))).readNow();
    expect(metrics.keys().filter((key) => key !== 'step')).toEqual(['own']);
    expect(foundLog(join(root, idOf(0)))).toBe(join(root, idOf(0), '.guild/output'));
  });
});

/** A folder of DVCLive 3.49.1. */
const dvclive = {
  'plots/metrics/train/loss.tsv': 'step\tloss\n0\t2.0\n1\t1.0\n',
  'plots/metrics/loss.tsv': 'timestamp\tstep\tloss\n1795889231000\t0\t4.0\n1795889232000\t2\tnan\n',
  'metrics.json': JSON.stringify({ train: { loss: 1 }, loss: 'nan', only: 3, step: 2, best: 0.5 }, null, 4),
  'params.yaml': 'lr: 0.1\nmodel:\n  width: 64\n',
};

describe('DVCLive', () => {
  it('is one run by its folder: a curve for each table, the values without one, and the settings there and around it', () => {
    const root = tree({
      ...below('dvclive', dvclive),
      'params.yaml': 'lr: 1\nsteps: 9\n',
      'dvc.yaml': 'metrics: []\n',
    });
    const { runs } = found(root);
    expect(runs.map(({ place, kind }) => [place, kind])).toEqual([['dvclive', 'DVCLive']]);
    expect(readFoundFacts(runs[0]!).parameters).toEqual({ lr: 0.1, steps: 9, 'model.width': 64 });
    const metrics = openMetrics(runs[0]!.directory).readNow();
    expect(
      metrics
        .keys()
        .filter((key) => key !== 'step')
        .sort(),
    ).toEqual(['best', 'loss', 'only', 'train/loss']);
    expect(points(metrics, 'train/loss')).toEqual([[0, 2], [1, 1]]); // prettier-ignore
    expect(points(metrics, 'loss')).toEqual([[0, 4], [2, NaN]]); // prettier-ignore
    expect(points(metrics, 'loss', wallTime)[0]![0]).toBe(1795889231);
    expect(metrics.last()).toMatchObject({ best: 0.5, only: 3, 'train/loss': 1 });
  });

  it('is a part of the run that it lies in, and of each of several', () => {
    const hydra = { '.hydra/config.yaml': 'lr: 0.2\n', ...below('dvclive', dvclive) };
    const root = tree({ ...below('a', hydra), ...below('b', hydra), ...below('c/live', dvclive) });
    const { runs } = found(root);
    expect(runs.map(({ place, kind }) => [place, kind])).toEqual([['a', 'Hydra'], ['b', 'Hydra'], ['c/live', 'DVCLive']]); // prettier-ignore
    const [x, y] = [openMetrics(join(root, 'a')).readNow(), openMetrics(join(root, 'c')).readNow()];
    expect(declaredFacts(join(root, 'c'), declaringIn(y.all)).parameters).toEqual({ lr: 0.1, 'model.width': 64 });
    expect([points(x, 'train/loss'), y.last()['best']]).toEqual([[[0, 2], [1, 1]], 0.5]); // prettier-ignore
  });

  it('says what comes later, the values too', () => {
    const root = tree(dvclive);
    const metrics = openMetrics(root).readNow();
    writeFileSync(join(root, 'plots/metrics/train/loss.tsv'), `${dvclive['plots/metrics/train/loss.tsv']}2\t0.5\n`);
    writeFileSync(join(root, 'metrics.json'), JSON.stringify({ best: 0.75 }));
    metrics.readNow();
    expect([points(metrics, 'train/loss').at(-1), metrics.last()['best']]).toEqual([[2, 0.5], 0.75]);
  });
});

describe("Hydra's log of a job", () => {
  const log = Array.from({ length: 3 }, (_, epoch) => `[2026-11-28 18:31:00,65${epoch}][__main__][INFO] - Epoch ${epoch}: loss=${epoch / 4}, acc: 0.${epoch}\n`); // prettier-ignore
  const settings = 'hydra:\n  run:\n    dir: .\n  job:\n    chdir: null\n    name: my job\n    num: 0\n  name: other\n';
  const job = { '.hydra/config.yaml': 'lr: 0.1\n', '.hydra/hydra.yaml': settings, 'my job.log': log.join('') };

  it("is the run's log, beside others, and its lines are curves", () => {
    const root = tree(below('0', { ...job, 'data.log': 'Epoch 7: loss=9\n', 'train.log': 'Epoch 8: loss=9\n' }));
    const [run] = found(root).runs;
    expect(foundLog(run!.directory)).toBe(join(root, '0/my job.log'));
    expect(points(openMetrics(run!.directory).readNow(), 'loss')).toEqual([[0, 0], [1, 0.25], [2, 0.5]]); // prettier-ignore
  });

  it('is not read where the run has what it printed itself', () => {
    const root = tree({ ...job, 'output.log': 'Epoch 0: loss=5\nEpoch 1: loss=6\n' });
    expect(points(openMetrics(root).readNow(), 'loss')).toEqual([[0, 5], [1, 6]]); // prettier-ignore
  });
});

describe('a table whose name says nothing', () => {
  it.each([
    ["Keras' CSVLogger", 'training.log', 'epoch,accuracy,loss,val_loss\n0,0.5,0.75,0.5\n1,0.7,0.5,NA\n'],
    ["Keras' CSVLogger with another separator", 'history.txt', 'epoch;accuracy;loss\n0;0.5;0.75\n1;0.7;5e-1\n'],
  ])('is recognised by looking: %s', (_words, name, text) => {
    const { runs } = found(tree(below('a', { [name]: text })));
    const metrics = openMetrics(runs[0]!.directory).readNow();
    expect([points(metrics, 'loss'), points(metrics, 'val_loss')]).toEqual([[[0, 0.75], [1, 0.5]], name === 'training.log' ? [[0, 0.5]] : []]); // prettier-ignore
  });

  it.each(['table.csv', 'training.log', 'rows.txt'])('is opened once, whatever formats look into it: %s', (name) => {
    let count = 0;
    const head = () => {
      count += 1;
      return ['step,loss', '1,2', '2,1'];
    };
    const { format } = recognised({ path: `/x/${name}`, place: name, name, head }, metricFormats());
    expect([format?.name, count]).toEqual(['CSV', 1]);
  });

  it.each([
    ['a sentence with a counter', 'Epoch, loss and accuracy follow\n'],
    ['a counter among texts', 'step,word\n1,one\n2,two\n'],
    ['numbers without a counter', 'x,y\n1,2\n3,4\n'],
    ['ragged rows', 'step,loss\n1,2\n3\n'],
  ])('is none: %s', (_words, text) => {
    expect(found(tree({ 'a/notes.log': text })).runs).toEqual([]);
  });
});
