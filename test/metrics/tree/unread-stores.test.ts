import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { noRuns, requiredPaths } from '../../../src/cli/viewed-paths.js';
import { openMetrics } from '../../../src/metrics/run-metrics.js';
import { FolderFleet } from '../../../src/view/folder-fleet.js';
import { hasProgram } from '../../has-program.js';
import { found, treeMaker } from './trees.js';

const tree = treeMaker();

const id = '54338792a0324a39bc4ce26ae148e97e';
/** As aim 3.29, neptune 1.14, clearml 2.1, comet_ml 3.58 and swanlab 0.10 keep runs. */
const aim = { 'run_metadata.sqlite': '', 'seqs/chunks/1/000003.log': '', 'meta/index/CURRENT': '' };
const point = (step: number) =>
  `{"obj": {"type": "LogFloats", "path": ["train", "loss"], "values": [{"value": ${1 / (step + 1)}, "step": ${step}, "ts": 1.5}]}, "version": ${step}}\n`;
const neptune = {
  'offline/run__1/data-1.log': `{"obj": {"type": "AssignString", "path": ["sys", "name"], "value": "x"}, "version": 1}\n${point(0)}${point(1)}`,
};
const event = (step: number) =>
  `{"timestamp": 1795890930514, "type": "training_stats_scalar", "iter": ${step}, "metric": "train", "variant": "loss", "value": ${1 / (step + 1)}}`;
const clearml = {
  [`offline-${id}/task.json`]: '{"name": "n"}',
  [`offline-${id}/metrics.jsonl`]: `[${event(0)}, {"type": "plot"}, ${event(1)}]\n`,
};
const comet = { [`${id}.zip`]: 'PK\u0003\u0004 experiment.json' };
const ray = { 'checkpoint_manager_snapshot.json': '{"ray_version":"2.60.0"}', 'checkpoint_1/x': '' };
const polyaxon = {
  'run.plx.json': '{}',
  'events/metric/loss.plx':
    'step|timestamp|metric\n0|2026-11-28 19:24:21.7+00:00|1.0\n1|2026-11-28 19:24:21.8+00:00|0.5\n',
};
const swanlab = { 'run-1-a/run-a.swanlab': '' };
const below = (folder: string, files: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${folder}/${name}`, text]));

describe('a store of a program whose runs are not read', () => {
  const stores: { writer: string; files: Record<string, string>; inside: string }[] = [
    { writer: 'Aim', files: below('.aim', aim), inside: '.aim' },
    { writer: 'neptune', files: below('.neptune', neptune), inside: '.neptune' },
    { writer: "ClearML's offline mode", files: below('cache', clearml), inside: 'cache' },
    { writer: "Comet's offline mode", files: below('.cometml-runs', comet), inside: '.cometml-runs' },
    { writer: "Comet's offline mode", files: below('x', comet), inside: 'x' },
    { writer: 'Ray Train', files: below('r', ray), inside: 'r' },
    { writer: "Polyaxon's offline mode", files: below('p', polyaxon), inside: 'p' },
    { writer: 'SwanLab', files: below('swanlog', swanlab), inside: 'swanlog' },
  ];

  it.each(stores)('is said to be of $writer ($inside), around it and in it, with what to type', async (store) => {
    const root = tree(store.files);
    for (const path of [root, join(root, store.inside)]) {
      const { runs, unread } = found(path);
      expect([runs, unread.map(({ writer, path: at }) => [writer, at])]).toEqual([[], [[store.writer, join(root, store.inside)]]]); // prettier-ignore
    }
    const [path] = requiredPaths([root]);
    const fleet = new FolderFleet([path!]);
    await fleet.find();
    const { message, fix } = noRuns([path!], fleet.unread);
    expect(message).toBe(`There are no runs in ${root} that can be read: runs of ${store.writer} in ${store.inside} are not read.`); // prettier-ignore
    expect(fix).toContain(store.inside === '.aim' ? root : join(root, store.inside));
    fleet.close();
  });

  it("is said to be a database of Optuna's, alone and in a folder", () => {
    const root = tree({ 'a/notes.txt': '' });
    const packed = readFileSync(join(import.meta.dirname, '../../fixtures/optuna-database/study.db.gz'));
    writeFileSync(join(root, 'study.db'), gunzipSync(packed));
    for (const path of [root, join(root, 'study.db')]) {
      const { runs, unread } = found(path);
      expect([runs, unread.map((store) => [store.writer, store.path])]).toEqual([[], [['Optuna', join(root, 'study.db')]]]); // prettier-ignore
      expect(unread[0]!.fix).toContain(`'sqlite:///'+str(pathlib.Path('${join(root, 'study.db')}'))`);
    }
  });

  it('is said beside the runs that are read', async () => {
    const root = tree({ ...below('.aim', aim), 'a/metrics.jsonl': '{"step":1,"loss":2}\n{"step":2,"loss":1}\n' });
    const fleet = new FolderFleet([{ path: root, label: 'x' }]);
    await fleet.find();
    expect([fleet.runs.size, fleet.status.problem]).toEqual([1, 'runs of Aim in .aim are not read']);
    fleet.close();
  });

  it('is none where other files have such names', () => {
    const rows = '{"step":1,"loss":2}\n{"step":2,"loss":1}\n';
    const root = tree({
      ...{ 'a/metrics.jsonl': rows, 'a/task.json': '{}', [`a/${id}.zip`]: 'PK\u0003\u0004 model.bin' },
      ...below('b', { ...ray, ...comet, 'metrics.jsonl': rows }),
    });
    expect(found(root)).toMatchObject({ runs: [{ place: 'a' }, { place: 'b' }], unread: [] });
  });

  it.runIf(hasProgram('python3', 'the lines that export runs of other programs')).each([
    { of: 'neptune', files: below("it's .neptune $1/.neptune", neptune), key: 'train/loss' },
    { of: 'ClearML', files: below('.clearml/cache/offline', clearml), key: 'train/loss' },
    { of: 'Polyaxon', files: below('p', polyaxon), key: 'loss' },
  ])('is read once the line has been typed: $of', ({ files, key }) => {
    const root = tree(files);
    const [store] = found(join(root, Object.keys(files)[0]!.split('/')[0]!)).unread;
    execFileSync('sh', ['-c', store!.fix.split('\n')[0]!]);
    const { runs, unread } = found(store!.path);
    const { x, y } = openMetrics(runs[0]!.directory).readNow().series(key);
    expect([runs.length, unread, [...x], [...y]]).toEqual([1, [], [0, 1], [1, 0.5]]);
  });
});
